import base64

import numpy as np
import torch
from in_the_page import tensor
from reading import agrees, decoded
from scipy.stats import chi2
from small_widgets import MONO, TYPEFACES, typefaces
from torch import Tensor

from course_lib.models.typefaces import SIZE, load_typefaces
from course_lib.widgets.kit.packed_weights import unpack
from course_lib.widgets.latent_explorer.latent_explorer import decoder_of

from .scraped import Found, assert_said, near, scraper

SIDE, COLUMNS = 320, 9

READ = scraper("""
  const inks = (name) => {
    const canvas = one(`[data-letters=${name}]`);
    return canvas && btoa(String.fromCharCode(...opaque(canvas)));
  };
  return {
    z: one("[data-z]").dataset.z.split(" ").map(Number),
    drawn: inks("drawn"),
    real: inks("real"),
    drawing: textOf(one(".cw-x-said p")),
    beside: one(".cw-x-beside")?.textContent.replace(/[ \\n]+/g, " ").trim(),
    tool: one("[data-trait=tool]:checked").value,
    norm: textOf(one(".cw-readout strong")),
    within: textOf(one(".cw-readout span")),
    point: one(".cw-x-point").getAttribute("stroke"),
    edge: numberOf(one(".cw-x-edge"), "r"),
    ring: movedBy(one(".cw-handle")),
    told: one(".cw-x-sum") ? all(".cw-x-summed b") : [],
    axes: all(".cw-x-axes .cw-control"),
  };
""")


def assert_letters(ink: str | None, picture: Tensor) -> None:
    """Assert the ink of each pixel: nine letters in a row, the last place empty."""
    assert ink is not None, "the letters have not come yet"
    padded = torch.cat([picture.reshape(-1, SIZE, SIZE), torch.zeros(1, SIZE, SIZE)])
    rows = padded.reshape(3, COLUMNS, SIZE, SIZE).transpose(1, 2)
    found = np.frombuffer(base64.b64decode(ink), dtype=np.uint8)
    near(found, 255 * rows.flatten().double(), atol=0.51)


def codes_of(state: Found) -> Tensor:
    faces = state["faces"]
    [codes] = unpack(faces["codes"], [(len(faces["names"]), state["facts"]["d_z"])])
    return torch.from_numpy(codes).double()


def directions_of(state: Found) -> Tensor:
    return decoded(state["facts"]["planes"][state["plane"]]["directions"])


def reach_of(state: Found) -> float:
    furthest = float((codes_of(state) @ directions_of(state).T).abs().max())
    return max(1.12 * state["facts"]["edge"], 1.05 * furthest)


def place_of(state: Found, z: Tensor) -> list[float]:
    reach = reach_of(state)
    x, y = ((directions_of(state) @ z).clamp(-reach, reach) / reach).tolist()
    return [SIDE / 2 * (1 + x), SIDE / 2 * (1 - y)]


def displayed(state: Found, page: Found) -> None:
    facts, faces, codes, z = state["facts"], state["faces"], codes_of(state), tensor(page["z"])
    with torch.no_grad():
        drawn = decoder_of(facts, state["weights"]).double()(z)
    assert_letters(page["drawn"], drawn)

    far = (codes - z).norm(dim=1)
    assert ("again" in page["drawing"]) == bool((far < 1e-4).any())
    family = state["families"][state["family"]] if state["families"] else None
    ways = {
        "walk": torch.lerp(*codes[[state["start"], state["end"]]], state["share"]),
        "arithmetic": summed(codes[family["places"]]) if family else None,
    }
    led = ways.get(state["tool"], z)
    tool = state["tool"] if (led - z).norm() < 1e-4 else "hand"
    assert page["tool"] == tool
    both = family["both"] if family and tool == "arithmetic" else -1
    shown = both if both >= 0 else int(far[: facts["real"]].argmin())
    if tool == "hand":
        assert agrees(page["beside"].removesuffix(" away").rpartition(" ")[2], far[shown])
    assert_letters(page["real"], picture_of(faces["names"][shown]))
    assert agrees(page["norm"], z.norm())
    if page["within"][0].isdigit():
        assert agrees(page["within"], 100 * chi2.cdf(float(z.norm() ** 2), facts["d_z"]))

    # The ring is at the point, orange outside the ball, whose outline is drawn.
    near(page["ring"], place_of(state, z), atol=1e-3)
    near(page["edge"], facts["edge"] / reach_of(state) * SIDE / 2, atol=1e-3)
    assert page["point"] == f"var(--cw-{'warm' if z.norm() > facts['edge'] else 'ink'})"
    if both >= 0:
        _, bold, italic = parts = codes[family["places"]]
        ends = torch.stack([summed(parts), bold, italic])
        assert_said(page["told"], (ends - codes[both]).norm(dim=1))
    if tool == "axes":
        for text, (axis, nats) in zip(page["axes"], facts["axes"], strict=True):
            label, _, value = text.partition("nats")
            assert_said([label.split()[1], value], [nats, z[axis]])


def summed(parts: Tensor) -> Tensor:
    regular, bold, italic = parts
    return bold - regular + italic


def picture_of(name: str) -> Tensor:
    """The letters of a typeface of the course, or of the small ones of tests."""
    real = load_typefaces()
    if name in real.name:
        return real.named(name)
    return typefaces().picture[TYPEFACES.index(name if name in TYPEFACES else MONO)]
