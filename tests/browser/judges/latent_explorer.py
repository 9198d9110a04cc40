"""LatentExplorer: compare its display with course_lib."""

import base64
import functools
import json
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator
from reading import STATE, agrees, decoded
from scipy.stats import chi2
from small_widgets import TYPEFACES, typefaces
from torch import Tensor

from course_lib.models.typefaces import SIZE, AlphabetDecoder, load_typefaces
from course_lib.widgets.latent_explorer import decoder_of
from course_lib.widgets.packed_weights import unpack

from .scraped import assert_said, scraper

SIDE, COLUMNS = 320, 9
MONO = "Mono Regular"

READ = scraper("""
  const text = (selector) => one(selector)?.textContent.replace(/[ \\n]+/g, " ").trim();
  const inks = (name) => {
    const canvas = one(`[data-letters=${name}]`);
    if (!canvas) return null;
    const bytes = opaque(canvas).map((depth) => String.fromCharCode(depth)).join("");
    return { width: canvas.width, ink: btoa(bytes) };
  };
  return {
    z: one("[data-z]").dataset.z.split(" ").map(Number),
    drawn: inks("drawn"),
    real: inks("real"),
    drawing: text(".cw-x-said p"),
    beside: text(".cw-x-beside"),
    tool: one("[data-trait=tool]:checked").value,
    norm: text(".cw-readout strong"),
    within: text(".cw-readout span"),
    point: one(".cw-x-point").getAttribute("stroke"),
    edge: numbersOf(one(".cw-x-edge"), "cx", "cy", "r"),
    ring: movedBy(one(".cw-handle")),
    told: one(".cw-x-sum") ? all(".cw-x-summed b") : [],
    axes: all(".cw-x-axes .cw-control"),
  };
""")


@functools.lru_cache(maxsize=8)
def decoder_that_travelled(facts: str, weights: str) -> AlphabetDecoder:
    return decoder_of(json.loads(facts), json.loads(weights)).double()


def in_rows(ink: Tensor) -> Tensor:
    """The letters as in the page: nine in a row, the last place empty."""
    padded = torch.cat([ink.reshape(-1, SIZE, SIZE), torch.zeros(1, SIZE, SIZE)])
    rows = padded.reshape(3, COLUMNS, SIZE, SIZE).transpose(1, 2)
    return rows.reshape(3 * SIZE, COLUMNS * SIZE)


def ink_of(canvas: dict[str, Any]) -> Tensor:
    """How opaque each pixel is, 0 to 255."""
    assert canvas["width"] == COLUMNS * SIZE
    opaque = np.frombuffer(base64.b64decode(canvas["ink"]), dtype=np.uint8)
    return torch.from_numpy(opaque.reshape(3 * SIZE, -1).astype(np.float64))


def codes_of(state: dict[str, Any]) -> Tensor:
    faces = state["faces"]
    [codes] = unpack(faces["codes"], [(len(faces["names"]), state["facts"]["d_z"])])
    return torch.from_numpy(codes).double()


def displayed(widget: Locator) -> None:
    # In one call, since a walk goes on between two calls.
    travelled, page = widget.evaluate(f"(el) => [({STATE})(el), ({READ})(el)]")
    state = {name: decoded(value) for name, value in travelled.items()}
    facts, faces, codes = state["facts"], state["faces"], codes_of(state)
    z = torch.tensor(page["z"], dtype=torch.float64)
    decoder = decoder_that_travelled(*(json.dumps(state[name]) for name in ("facts", "weights")))
    with torch.no_grad():
        drawn = in_rows(decoder(z))
    torch.testing.assert_close(ink_of(page["drawn"]), 255 * drawn.double(), rtol=0, atol=0.51)

    far = (codes - z).norm(dim=1)
    same = [i for i, one in enumerate(far.tolist()) if one < 1e-4]
    assert ("again" in page["drawing"]) == bool(same)
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
    assert_real(page["real"], faces["names"][shown])

    assert agrees(page["norm"], z.norm())
    if page["within"][0].isdigit():
        share = chi2.cdf(float(z.norm() ** 2), facts["d_z"])
        assert agrees(page["within"], 100 * share)
    assert_map(page, state | {"tool": tool}, codes, z)
    assert_tool(page, state | {"tool": tool}, codes, z)


def summed(parts: Tensor) -> Tensor:
    regular, bold, italic = parts
    return bold - regular + italic


def assert_real(page: dict[str, Any] | None, name: str) -> None:
    """Assert the grey levels of that typeface, which the browser inflates a little later."""
    assert page is not None, "the real letters have not come yet"
    real = load_typefaces()
    if name in real.name:
        picture = real.named(name)
    else:
        picture = typefaces().picture[TYPEFACES.index(name if name in TYPEFACES else MONO)]
    levels = in_rows(picture) * 255
    torch.testing.assert_close(ink_of(page), levels.double(), rtol=0, atol=0.51)


def assert_map(page: dict[str, Any], state: dict[str, Any], codes: Tensor, z: Tensor) -> None:
    """The ring at the point, orange outside the ball; the ball's outline; the ways of the tool."""
    plane, edge = state["facts"]["planes"][state["plane"]], state["facts"]["edge"]
    directions = decoded(plane["directions"])
    places, here = codes @ directions.T, directions @ z
    reach = max(1.12 * edge, 1.05 * float(places.abs().max()))

    def pixel(place: Tensor) -> list[float]:
        x, y = (place / reach).tolist()
        return [SIDE / 2 * (1 + x), SIDE / 2 * (1 - y)]

    assert page["ring"] == pytest.approx(pixel(here.clamp(-reach, reach)), abs=1e-3)
    assert page["edge"] == pytest.approx([SIDE / 2, SIDE / 2, edge / reach * SIDE / 2], abs=1e-3)
    assert page["point"] == f"var(--cw-{'warm' if z.norm() > edge else 'ink'})"


def assert_tool(page: dict[str, Any], state: dict[str, Any], codes: Tensor, z: Tensor) -> None:
    if state["tool"] == "arithmetic":
        family = state["families"][state["family"]]
        if family["both"] >= 0:
            _, bold, italic = parts = codes[family["places"]]
            far = (torch.stack([summed(parts), bold, italic]) - codes[family["both"]]).norm(dim=1)
            assert_said(page["told"], far)
    if state["tool"] == "axes":
        for text, (axis, nats) in zip(page["axes"], state["facts"]["axes"], strict=True):
            label, _, value = text.partition("nats")
            assert agrees(label.split()[1], nats)
            assert agrees(value, z[axis])
