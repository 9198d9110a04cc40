"""The typefaces of lecture 10 are what the page beside their file says."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from seeded import assert_close, randn

from course_lib.typefaces import (
    DATA,
    LETTERS,
    SIDES,
    Typefaces,
    ink_distance,
    load_typefaces,
    packed,
    unpacked,
)

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location(
    "make_typefaces", ROOT / "scripts" / "make_typefaces.py"
)
make_typefaces = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_typefaces)


@pytest.fixture(scope="module")
def typefaces() -> Typefaces:
    return load_typefaces()


def test_there_are_26_letters_of_984_typefaces_in_grey_from_paper_to_ink(typefaces):
    assert typefaces.picture.shape == (984, 26, 28, 28)
    assert typefaces.picture.dtype == torch.float32
    assert set((15 * typefaces.picture).unique().tolist()) == set(map(float, range(16)))
    assert len(set(typefaces.name)) == len(typefaces) == 984


def test_every_letter_stands_on_the_baseline_in_the_middle(typefaces):
    ink = typefaces.picture
    x = ink[:, LETTERS.index("x")]
    above = x[:, : make_typefaces.BASELINE + 1].sum(dim=(1, 2)) > 0.9 * x.sum(dim=(1, 2))
    assert above.float().mean() > 0.95  # an x of handwriting may dip below
    across = ink.amax(dim=2) > 0.5
    left = across.float().argmax(dim=-1)
    right = 27 - across.flip(-1).float().argmax(dim=-1)
    off = (left + right - 27).abs()
    assert (off <= 2).float().mean() > 0.95  # what is fainter than half may stick out on one side
    assert off.float().mean() < 1


def test_a_bold_style_has_more_ink_than_the_regular_one(typefaces):
    pairs = [
        (name, name.replace("Regular", "Bold"))
        for name in typefaces.name
        if name.endswith("Regular") and name.replace("Regular", "Bold") in typefaces.name
    ]
    assert len(pairs) > 40
    assert all(typefaces.named(bold).sum() > typefaces.named(book).sum() for book, bold in pairs)


def test_no_family_stands_on_two_sides(typefaces):
    sides = {}
    for family, side in zip(typefaces.family, typefaces.side, strict=True):
        sides.setdefault(family, set()).add(side)
    assert len(sides) == 95
    assert all(len(there) == 1 for there in sides.values())
    counts = {side: len(typefaces.where(side)) for side in SIDES}
    assert counts == {"train": 695, "validation": 157, "test": 132}


@pytest.mark.parametrize(
    "names",
    [
        ("Lato Bold", "Lato Light", "Carlito Regular"),
        ("DejaVu Sans Mono Book", "Hack Regular", "Verana Sans Regular"),
        ("TeX Gyre Bonum Bold Italic", "URW Bookman Demi Italic", "FreeSans Bold"),
        ("Arimo Regular", "Liberation Sans Regular", "Tinos Bold"),
        ("Noto Sans Regular", "Open Sans Light"),
        ("CMU Typewriter Text Italic", "Latin Modern Mono 10 Italic"),
        ("Karla Italic", "Karmilla Italic"),
        ("Averia GWF Bold", "Averia Sans GWF Light"),
    ],
    ids=lambda names: names[0],
)
def test_copies_of_a_design_are_one_family(typefaces, names):
    assert len({typefaces.family[typefaces.name.index(name)] for name in names}) == 1


def test_no_held_out_typeface_is_nearly_one_of_those_trained_on(typefaces):
    train = typefaces.where("train").picture.flatten(1)
    for side in ("validation", "test"):
        held = typefaces.where(side).picture.flatten(1)
        # Squares of numbers in [0, 1] are below them, and one product gives all: a screen.
        lighter = torch.minimum(held.sum(dim=1)[:, None], train.sum(dim=1))
        screen = torch.cdist(held, train).square() / lighter
        for row, near in zip(held, screen < make_typefaces.SAME_DESIGN, strict=True):
            if near.any():
                distance = ink_distance(row[None], train[near])
                assert distance.min() > make_typefaces.SAME_DESIGN


def test_one_side_keeps_what_belongs_together(typefaces):
    held = typefaces.where("test")
    assert set(held.side) == {"test"}
    for row in (0, 50, len(held) - 1):
        there = typefaces.name.index(held.name[row])
        assert torch.equal(held.picture[row], typefaces.picture[there])
        assert held.family[row] == typefaces.family[there]
        assert held.package[row] == typefaces.package[there]
    assert torch.equal(held.named(held.name[3]), held.picture[3])


def test_a_wrong_side_or_name_is_told_and_right_ones_are_named(typefaces):
    with pytest.raises(ValueError, match=r"side is 'dev'; expected one of 'train', 'validation'"):
        typefaces.where("dev")
    with pytest.raises(ValueError, match=r"name is 'Lato Fat'; expected one of 984.*'Lato Black'"):
        typefaces.named("Lato Fat")
    with pytest.raises(
        ValueError, match=r"name is 'Frutiger'; expected one of 984 typefaces, such"
    ):
        typefaces.named("Frutiger")


# How far two pictures are apart ---------------------------------------------------------------


def test_the_distance_is_the_ink_to_move_over_the_ink_there():
    x, y = randn(3, 7).abs(), randn(4, 7, seed=1).abs()
    expected = [[(a - b).abs().sum() / min(a.sum(), b.sum()) for b in y] for a in x]
    assert_close(ink_distance(x, y), torch.tensor(expected, dtype=torch.float64))
    assert_close(ink_distance(x, y), ink_distance(y, x).T)
    assert_close(ink_distance(x, x).diag(), torch.zeros(3).double())


@pytest.mark.usefixtures("plain_calls")
def test_pictures_of_two_sizes_have_no_distance():
    with pytest.raises(ValueError, match=re.escape("y has shape (4, 6); expected (m, d_x)")):
        ink_distance(torch.ones(3, 7), torch.ones(4, 6))


# The maker ------------------------------------------------------------------------------------


def test_two_pixels_travel_in_a_byte():
    level = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) % 16
    assert packed(level).shape == (2, 3, 2)
    assert np.array_equal(unpacked(packed(level)), level)


def test_the_page_beside_the_file_says_what_is_in_it(typefaces):
    text = DATA.with_suffix(".md").read_text(encoding="utf-8")
    with np.load(DATA) as data:
        assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(data)
    packages = make_typefaces.PACKAGES.split()
    assert f"{len(packages)} packages" in text
    assert f"{len(set(typefaces.family))} in all" in text
    assert {package.removeprefix("fonts-") for package in typefaces.package} <= set(packages)
    assert "copyright" in text


def test_a_family_is_a_package_a_first_word_or_a_near_copy_and_what_these_join():
    name = np.array(["Ada Bold", "Ada Light", "Bell", "Bell Two", "Copy", "Dot"])
    package = np.array(["fonts-a", "fonts-a", "fonts-b", "fonts-c", "fonts-d", "fonts-e"])
    distance = np.ones((6, 6))
    distance[3, 4] = distance[4, 3] = 0.09
    found = make_typefaces.families(distance, name, package)
    assert found.tolist() == ["a", "a", "b", "b", "b", "e"]


def test_sides_are_dealt_to_whole_families_from_the_largest():
    sizes = (9, 8, 7, 6, 5, 4, 3)
    family = np.repeat(list("gfedcba"), sizes)
    side = make_typefaces.sides(family)
    assert [set(side[family == own]) for own in "gfedcba"] == [
        {own} for own in (*make_typefaces.DEAL, "train")
    ]


def test_the_bundled_families_and_sides_are_those_of_the_maker(typefaces):
    assert make_typefaces.sides(np.array(typefaces.family)).tolist() == list(typefaces.side)


def test_the_maker_draws_a_font_as_it_was_drawn(typefaces):
    # Matplotlib brings this font along, in the version that Debian packages too.
    folder = Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"
    name, pictures = make_typefaces.alphabet(folder / "DejaVuSansMono.ttf")
    assert name == "DejaVu Sans Mono Book"
    levels = 15 * (torch.from_numpy(pictures) - typefaces.named(name)).abs()
    assert (levels > 0.51).float().mean() < 0.01
    assert levels.max() < 3


def test_the_maker_leaves_out_what_shows_no_lower_case():
    folder = Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"
    assert make_typefaces.alphabet(folder / "STIXSizOneSymReg.ttf") is None
    assert make_typefaces.alphabet(folder / "DejaVuSansDisplay.ttf") is None


def test_the_maker_keeps_one_of_two_fonts_that_are_alike(tmp_path):
    folder = Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"
    for package in ("fonts-a", "fonts-b"):
        (tmp_path / package).mkdir()
    font = (folder / "DejaVuSansMono.ttf").read_bytes()
    (tmp_path / "fonts-a" / "one.ttf").write_bytes(font)
    (tmp_path / "fonts-b" / "same.ttf").write_bytes(font)
    bold = (folder / "DejaVuSans-Bold.ttf").read_bytes()
    (tmp_path / "fonts-b" / "bold.ttf").write_bytes(bold)
    (tmp_path / "fonts-b" / "broken.ttf").write_bytes(b"no font")
    level, name, package = make_typefaces.drawn(tmp_path)
    assert level.shape == (2, 26, 28, 28)
    assert name.tolist() == ["DejaVu Sans Mono Book", "DejaVu Sans Bold"]
    assert package.tolist() == ["fonts-a", "fonts-b"]
