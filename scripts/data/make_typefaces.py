"""Make course_lib/data/typefaces.npz, the alphabets that lecture 10 learns from.

    mkdir packages files && cd packages
    apt-get download $(python ../scripts/data/make_typefaces.py --packages)
    for package in *.deb; do dpkg -x $package ../files/${package%%_*}; done && cd ..
    python scripts/data/make_typefaces.py files

Needs Pillow. FreeType draws every letter large, which is then averaged to one size for the whole
typeface: the x is 11 of 28 pixels high, less if an ascender, a descender or an m would not fit. All
share a baseline and are centred horizontally. Left out are typefaces without their own lower case,
of symbols, too small to read, and those that differ from an earlier one in less than 2 % of their
ink.

    python scripts/data/make_typefaces.py --regroup

keeps the pictures of the bundled file and only finds families and sides anew. Typefaces of one
package are one family, as are those with the same first word in their names, and any two of which
one style differs in less than 10 % of its ink, transitively. Sides are assigned by size of family,
so that each has large and small ones.
"""

import argparse
import re
from pathlib import Path

import numpy as np
import torch

from course_lib.models.stored import DATA
from course_lib.models.typefaces import LETTERS, LEVELS, SIDES, SIZE, ink_distance, packed, unpacked

TARGET = DATA / "typefaces.npz"
BASELINE, X_HEIGHT = 20, 11
SMALLEST_X = 0.7 * X_HEIGHT
DRAWN, OVER = 100, 8  # points at which a font is measured; pixels at which it is drawn
LEAST_INK, MOST_INK = 6, 330  # pixels, of the lightest letter and of the mean letter
UPPER_CASE = 1.15  # if b is not this much higher than x, both are capitals
SAME_PICTURE, SAME_DESIGN = 0.02, 0.1
DEAL = ("train", "train", "validation", "train", "train", "test")
KINDS = {".ttf", ".otf", ".ttc", ".t1"}
PACKAGES = """
    adf-accanthis adf-baskervald adf-berenis adf-gillius adf-ikarius adf-irianis adf-libris
    adf-mekanus adf-oldania adf-romande adf-solothurn adf-switzera adf-tribun adf-universalis
    adf-verana allerta anonymous-pro arapey averia-gwf averia-sans-gwf averia-serif-gwf b612
    beteckna cabin cantarell cardo century-catalogue clear-sans cmu comfortaa comic-neue
    courier-prime croscore crosextra-caladea crosextra-carlito dancingscript dejavu-core
    dejavu-extra dosis dustin ebgaramond ebgaramond-extra elstob essays1743 eurofurence
    fantasque-sans fanwood firacode freefont-otf georgewilliams gnutypewriter go goudybookletter
    hack humor-sans inconsolata inter isabella jetbrains-mono junction junicode jura karla karmilla
    kaushanscript kristi lato league-mono league-spartan leckerli-one levien-typoscript liberation2
    lindenhill linex linuxlibertine lmodern lobster lobstertwo manrope monofur mononoki mplus
    national-park noto-core ocr-a ocr-b okolaks open-sans opendin opendyslexic osifont oxygen
    paratype play prociono quattrocento quicksand radisnoir roadgeek roboto-slab roboto-unhinted
    rufscript sil-andika sil-charis sil-doulos sil-gentium sil-gentium-basic sora stix summersby
    texgyre tiresias tomsontalks tuffy urw-base35 vollkorn yanone-kaffeesatz
"""
UNWANTED = re.compile(
    "symbol|dingbat|emoji|math|icons|music|braille|ornament|initials|keyboard|swash|caps|outline|"
    "dots|d050000l|z003|noto sans s|sc ",
    re.IGNORECASE,
)


def alphabet(path: Path) -> tuple[str, np.ndarray] | None:
    """The name and the letters of a font, or None if it is left out."""
    from PIL import ImageFont

    measure = ImageFont.truetype(str(path), DRAWN)
    name = " ".join(measure.getname()).strip()
    if UNWANTED.search(f"{name} "):
        return None
    left, top, right, bottom = np.array([measure.getbbox(c, anchor="ls") for c in LETTERS]).T
    height = -top
    x, b = height[LETTERS.index("x")], height[LETTERS.index("b")]
    if (right <= left).any() or (bottom <= top).any() or b <= UPPER_CASE * x:
        return None
    scale = min(
        X_HEIGHT / x,
        (BASELINE - 0.5) / height.max(),
        (SIZE - BASELINE - 0.5) / max(bottom.max(), 1),
        (SIZE - 1) / (right - left).max(),
    )
    if scale * x < SMALLEST_X:
        return None
    font = ImageFont.truetype(str(path), max(1, round(DRAWN * scale * OVER)))
    pictures = np.stack([letter(font, c) for c in LETTERS])
    ink = pictures.sum(axis=(1, 2))
    # A font draws the same box for every missing letter.
    if len(np.unique(pictures, axis=0)) < len(LETTERS) or ink.min() < LEAST_INK:
        return None
    return None if ink.mean() > MOST_INK else (name, pictures)


def letter(font: object, character: str) -> np.ndarray:
    """One letter, on the baseline and centred, 0 is paper and 1 is ink."""
    from PIL import Image, ImageDraw

    wide = SIZE * OVER
    canvas = Image.new("L", (wide, wide), 0)
    left, _, right, _ = font.getbbox(character, anchor="ls")
    place = ((wide - left - right) / 2, BASELINE * OVER)
    ImageDraw.Draw(canvas).text(place, character, 255, font, anchor="ls")
    fine = np.asarray(canvas, dtype=np.float32) / 255
    return fine.reshape(SIZE, OVER, SIZE, OVER).mean(axis=(1, 3))


def drawn(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grey levels, names and packages of all kept fonts below ``folder``."""
    kept: list[torch.Tensor] = []
    names, packages = [], []
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in KINDS):
        try:
            found = alphabet(path)
        except (OSError, ValueError):  # a bitmap font, or one that FreeType cannot read
            continue
        if found is None or found[0] in names:
            continue
        row = torch.from_numpy(found[1]).reshape(1, -1)
        if kept and ink_distance(row, torch.cat(kept)).min() < SAME_PICTURE:
            continue
        kept.append(row)
        names.append(found[0])
        packages.append(path.relative_to(folder).parts[0])
    level = torch.cat(kept).reshape(len(kept), len(LETTERS), SIZE, SIZE) * (LEVELS - 1)
    return level.round().byte().numpy(), np.array(names), np.array(packages)


def families(distance: np.ndarray, name: np.ndarray, package: np.ndarray) -> np.ndarray:
    """The family of each typeface, named after its alphabetically first package."""
    from scipy.sparse.csgraph import connected_components

    first = np.array([one.split()[0].lower() for one in name])
    alike = (package[:, None] == package) | (first[:, None] == first) | (distance < SAME_DESIGN)
    _, label = connected_components(alike)
    return np.array([min(package[label == own]).removeprefix("fonts-") for own in label])


def sides(family: np.ndarray) -> np.ndarray:
    """The side of each typeface: families, largest first, are assigned in turn."""
    names, size = np.unique(family, return_counts=True)
    order = names[np.lexsort([names, -size])]
    dealt = {name: DEAL[place % len(DEAL)] for place, name in enumerate(order)}
    return np.array([dealt[own] for own in family])


def main() -> None:
    """Write the file and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("folder", type=Path, nargs="?", help="unpacked packages, a folder each")
    choice.add_argument("--regroup", action="store_true", help="keep the bundled pictures")
    choice.add_argument("--packages", action="store_true", help="list the packages and stop")
    given = parser.parse_args()
    if given.packages:
        print(*(f"fonts-{name}" for name in PACKAGES.split()))
        return
    if given.regroup:
        with np.load(TARGET) as data:
            level, name, package = unpacked(data["picture"]), data["name"], data["package"]
    else:
        level, name, package = drawn(given.folder)
    rows = torch.from_numpy(level).flatten(1).float()
    distance = ink_distance(rows, rows).numpy()
    family = families(distance, name, package)
    side = sides(family)
    np.savez_compressed(
        TARGET, picture=packed(level), name=name, package=package, family=family, side=side
    )
    print(f"{len(name)} typefaces of {len(set(family))} families in {TARGET}")
    for own in SIDES:
        there = side == own
        line = f"{own}: {there.sum()} typefaces of {len(set(family[there]))} families"
        if own != "train":
            near = distance[np.ix_(there, side == "train")].min(axis=1)
            low, middle, high = np.quantile(near, [0, 0.5, 1])
            line += f"; nearest in train at {low:.3f} to {high:.3f} of the ink, median {middle:.3f}"
        print(line)


if __name__ == "__main__":
    main()
