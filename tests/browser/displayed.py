"""What a widget displays, and what course_lib says it should.

Each widget class has one check here, named in ``CHECKS``. A check reads the widget's state from the
page, computes with course_lib what follows from it, and compares that with the numbers that stand
in the page. A widget without a check fails the tests: add one when you add a widget.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from torch import Tensor
from torch.nn import functional as F

from course_lib import mechanics, symplectic
from course_lib.attention import (
    attention,
    attention_weights,
    causal_mask,
    composite_memory,
    gated_memory,
    pooled_memory,
)
from course_lib.widgets.base import Array

NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?")


def state_of(widget: Locator) -> dict[str, Any]:
    """The widget's traits, as its model in the page has them now; arrays as float64 tensors."""
    state = widget.evaluate(
        """(el) => {
          const { state } = JSON.parse(el.nextElementSibling.textContent);
          const now = (name) => [name, el.courseModel.get(name)];
          return Object.fromEntries(Object.keys(state).map(now));
        }"""
    )
    return {name: decoded(value) for name, value in state.items()}


def decoded(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"shape", "base64"}:
        return torch.from_numpy(Array._decode(value, None)).double()
    return value


def shown(number: str) -> float:
    return float(number.replace("−", "-"))


def agrees(text: str, expected: float | Tensor) -> bool:
    """Whether ``text`` begins with ``expected``, rounded to as many digits as the text has."""
    number = NUMBER.match(text.strip())
    assert number is not None, f"{text!r} begins with no number"
    digits = len(number[0].partition(".")[2])
    # Half a unit of the last digit, and room for float32 against float64 at a tie.
    return shown(number[0]) == pytest.approx(float(expected), abs=0.5 * 10**-digits + 2e-6)


def assert_column(widget: Locator, selector: str, expected: Tensor) -> None:
    texts = widget.locator(selector).all_inner_texts()
    assert len(texts) == len(expected)
    wrong = [
        (text, float(number))
        for text, number in zip(texts, expected, strict=True)
        if not agrees(text, number)
    ]
    assert wrong == [], f"{selector} displays numbers that course_lib does not compute"


def soft_lookup(widget: Locator) -> None:
    state = state_of(widget)
    query, key, value = state["query"][None], state["key_points"], state["values"]
    temperature = state["temperature"]
    # Softmax takes no notice of what is the same for all keys, so |q|² may be left out.
    bias = None
    if state["similarity"] == "distance":
        score = -(torch.cdist(query, key, compute_mode="donot_use_mm_for_euclid_dist") ** 2)
        factor, bias = 2, -(key**2).sum(-1)[None] / temperature
    elif state["similarity"] == "cosine":
        query, key = F.normalize(query, dim=-1, eps=1e-8), F.normalize(key, dim=-1, eps=1e-8)
        score, factor = query @ key.mT, 1
    else:
        score, factor = query @ key.mT, 1
    scale = factor / temperature
    weights = attention_weights(query, key, bias=bias, scale=scale)[0]
    answer = attention(query, key, value[:, None], bias=bias, scale=scale)[0, 0]

    names = widget.locator(".cw-weights tbody th").all_text_contents()
    assert names == state["names"]
    assert_column(widget, ".cw-weights tbody td:nth-child(2)", value)
    assert_column(widget, ".cw-weights tbody td:nth-child(3)", score[0])
    assert_column(widget, ".cw-weights tbody td:nth-child(4)", weights)
    assert_column(widget, ".cw-readout strong", answer[None])
    bars = widget.locator(".cw-bar").evaluate_all(
        "bars => bars.map((bar) => Number(bar.style.getPropertyValue('--cw-length')))"
    )
    assert bars == pytest.approx(weights.tolist(), abs=1e-6)


def party_memory(widget: Locator) -> None:
    state = state_of(widget)
    arrived, temperature = state["arrived"], state["temperature"]
    images = state["images"].flatten(1)[:arrived]
    score, gate, key = (state[name][:arrived] for name in ("score", "gate", "guest_keys"))

    def asked(x: Tensor) -> Tensor:
        query = state["queries"][state["questions"].index(state["question"])]
        return attention(query[None], key, x, scale=1 / temperature)[0]

    remember = {
        "composite": lambda x: composite_memory(x, 1),
        "forgetting": lambda x: composite_memory(x, state["decay"]),
        "gate": lambda x: gated_memory(x, gate + state["door"]),
        "softmax": lambda x: pooled_memory(x, score / temperature),
        "query": asked,
    }[state["mode"]]
    # What each guest adds to the memory is the memory of the unit vectors.
    weights, picture = remember(torch.eye(arrived, dtype=torch.float64)), remember(images)
    total = weights.sum()

    assert widget.locator(".cw-guest-name").all_text_contents() == state["names"]
    texts = widget.locator(".cw-guest-weight").all_text_contents()
    assert texts[arrived:] == ["not yet here"] * (len(texts) - arrived)
    assert [t for t, w in zip(texts, weights, strict=False) if not agrees(t, w)] == []
    assert_column(widget, ".cw-readout strong", total[None])
    threads = widget.locator(".cw-threads path").evaluate_all(
        "paths => paths.map((path) => Number(path.getAttribute('stroke-width')))"
    )
    absent = [0.0] * (len(texts) - arrived)
    assert [t / 22 for t in threads] == pytest.approx([*weights.tolist(), *absent], abs=3e-4)
    ink = widget.locator(".cw-memory .cw-picture rect").evaluate_all(
        "pixels => pixels.map((pixel) => Number(pixel.getAttribute('fill-opacity')))"
    )
    assert ink == pytest.approx((picture / total.clamp(min=1)).tolist(), abs=6e-5)

    said = widget.locator(".cw-guest-evidence").all_text_contents()[:arrived]
    evidence = {"gate": gate, "softmax": score}.get(state["mode"])
    if state["mode"] == "query":
        evidence = key @ state["queries"][state["questions"].index(state["question"])]
    if state["mode"] == "forgetting":
        assert said == [f"{age} ago" for age in range(arrived - 1, -1, -1)]
    elif evidence is not None:
        assert all(agrees(s.partition("= ")[2], e) for s, e in zip(said, evidence, strict=True))


def retempered_rows(state: dict[str, Any]) -> Tensor:
    """Queries by keys, as AttentionExplorer should show them; NaN for a query with no mass left."""
    snapshots = state["weights"] if state["weights"].dim() == 5 else state["weights"][None]
    score = snapshots[state["step"], state["layer"], state["head"]].log()
    mask = causal_mask(len(score)) if state["causal"] else torch.ones_like(score, dtype=torch.bool)
    alive = (mask & (score > -torch.inf)).any(-1)
    nothing = torch.zeros(len(score), 1, dtype=torch.float64)
    rows = torch.full_like(score, torch.nan)
    rows[alive] = attention_weights(
        nothing[alive], nothing, bias=score[alive] / state["temperature"], mask=mask[alive]
    )
    return rows


def attention_explorer(widget: Locator) -> None:
    state = state_of(widget)
    rows, tokens = retempered_rows(state), state["tokens"]
    page = widget.evaluate(
        """(el) => {
          const slider = el.querySelector("[role=slider]");
          const canvas = el.querySelector(".cw-heat canvas");
          const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const table = el.querySelector(".cw-top-keys");
          const lines = [...table.querySelectorAll("tbody tr")].filter((line) => !line.hidden);
          return {
            place: Number(slider.getAttribute("aria-valuenow")),
            said: slider.getAttribute("aria-valuetext"),
            links: [...slider.querySelectorAll("path")]
              .map((path) => path.getAttribute("stroke-width")),
            alpha: [...pixels.data].filter((_, i) => i % 4 === 3),
            lines: lines.map((line) => [...line.querySelectorAll("th, .cw-number")]
              .map((cell) => cell.textContent)),
            title: table.caption.textContent,
          };
        }"""
    )
    # The query shown is the one that was chosen, or the one at which the mouse points.
    query = page["place"] - 1
    row = rows[query]
    shown_weights = row.nan_to_num(0)
    assert [float(width) for width in page["links"]] == pytest.approx(
        (13 * shown_weights).tolist(), abs=1e-4
    )
    depth = (255 * rows.nan_to_num(0).sqrt()).flatten()
    assert page["alpha"] == pytest.approx(depth.tolist(), abs=0.51)
    head = f"Layer {state['layer'] + 1}, head {state['head'] + 1}:"
    assert page["title"].startswith(head)
    assert f"(place {query + 1})" in page["title"]

    if row.isnan().any():
        assert page["lines"] == []
        assert page["said"].endswith("nothing to look at")
        return
    places = [int(place) - 1 for _, place, _ in page["lines"]]
    assert len(set(places)) == min(5, len(tokens))
    listed = row[places]
    assert all(agrees(text, w) for (_, _, text), w in zip(page["lines"], listed, strict=True))
    assert (listed.diff() <= 2e-6).all()
    others = [w for key, w in enumerate(row.tolist()) if key not in places]
    assert max(others, default=0) <= listed.min() + 2e-6
    assert f"place {places[0] + 1}, weight " in page["said"]
    assert agrees(page["said"].rpartition("weight ")[2], row.max())


SCIENTIFIC = re.compile(r"(\d\.\d)·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def scientific_number(text: str) -> float:
    """The number that a text such as 2.5·10⁻² stands for."""
    digits, exponent = SCIENTIFIC.fullmatch(text).groups()
    return float(digits) * 10.0 ** int(exponent.translate(SUPERSCRIPTS))


def assert_scientific(text: str, expected: float, *, doubt: float = 0.0) -> None:
    """Assert that ``text`` is ``expected`` to two digits, or within ``doubt`` of it."""
    if text == "0":
        assert expected <= doubt + 1e-300
        return
    assert scientific_number(text) == pytest.approx(expected, rel=0.051, abs=doubt)


def energy_errors(system: Any, state: dict[str, Any], method: str, nudge: float) -> Tensor:
    """Relative energy errors of a run that begins ``nudge`` away from where the reader put it."""
    q, p = state["q"] * (1 + nudge), state["p"] * (1 + nudge)
    arguments = {"dt": state["dt"], "steps": state["steps"], "method": getattr(mechanics, method)}
    try:
        run = mechanics.integrate(system, q, p, **arguments)
    except mechanics.IntegrationError as error:
        run = error.trajectory
    energy = run.energy[run.energy.isfinite()]
    return (energy - energy[0]).abs() / (energy[0].abs() or 1)


def energy_drift(widget: Locator) -> None:
    state = state_of(widget)
    spec = next(spec for spec in state["systems"] if spec["name"] == state["system"])
    system = getattr(mechanics, state["system"])(**spec["parameters"])
    names = dict(state["method_names"])
    rows = widget.locator(".cw-weights tbody tr")
    shown_rows = [[cell.strip() for cell in row.split("\t")] for row in rows.all_inner_texts()]
    assert [row[0] for row in shown_rows][: len(state["methods"])] == [
        names[method] for method in state["methods"]
    ]
    for method, (_, largest, last) in zip(state["methods"], shown_rows, strict=False):
        errors = energy_errors(system, state, method, 0.0)
        # In a chaotic orbit rounding decides; a start moved by as much says which digits are real.
        others = energy_errors(system, state, method, 1e-13)
        if len(errors) < state["steps"] + 1 or last.startswith("lost"):
            assert last.startswith("lost at step")
            lost = int(last.removeprefix("lost at step "))
            assert abs(lost - min(len(errors), len(others))) <= 2 + abs(len(errors) - len(others))
            continue
        if len(others) < len(errors):
            continue
        rounding = 1e-12
        for text, exact, other in (
            (largest, errors.max(), others.max()),
            (last, errors[-1], others[-1]),
        ):
            doubt = rounding + 100 * abs(float(exact - other))
            assert_scientific(text, float(exact), doubt=doubt)


def shortcut_force(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """2 S Z A, which the notes take for the gradient; course_lib has no use for it."""
    C = z @ A @ z.mT
    one = torch.zeros_like(C[:1])
    if softmax == "matrix":
        partition = torch.logsumexp(torch.cat([one[0, :1], C.flatten()]), 0)
    else:
        partition = torch.logsumexp(torch.cat([one, C]), 0)
    return 2 * (C - partition).exp() @ z @ A


def symplecticity_meter(widget: Locator) -> None:
    state = state_of(widget)
    z, A, softmax, dt = state["z"], state["A"], state["softmax"], state["dt"]
    if state["matrix"] == "symmetric":
        A = (A + A.mT) / 2

    def force(z: Tensor) -> Tensor:
        if state["formula"] == "full":
            return symplectic.symplectic_attention(z, A, softmax=softmax)
        return shortcut_force(z, A, softmax)

    M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
    asymmetry = float((M - M.mT).norm() / M.norm())
    kick = mechanics.symplecticity_error(
        lambda q, p: (q, p - dt * force(q)), z, torch.zeros_like(z)
    )
    q, p, energies = z, torch.zeros_like(z), []
    with torch.no_grad():
        for _ in range(state["steps"] + 1):
            potential = symplectic.attention_potential(q, A, softmax=softmax)
            energies.append((p.square().sum() + q.square().sum()) / 2 + potential)
            p = p - dt / 2 * (q + force(q))
            q = q + dt * p
            p = p - dt / 2 * (q + force(q))
    energy = torch.stack(energies)
    largest = float((energy - energy[0]).abs().max() / energy[0].abs())

    reading = {
        name: widget.locator(f"[data-reading={name}]").inner_text()
        for name in ("asymmetry", "kick", "energy")
    }
    assert_scientific(reading["asymmetry"], asymmetry, doubt=1e-13)
    assert_scientific(reading["kick"], kick, doubt=1e-13)
    # Twelve coupled coordinates may be chaotic: the largest error is compared in size.
    if math.isfinite(largest):
        assert abs(math.log10(scientific_number(reading["energy"]) / largest)) < 0.5
    else:
        assert reading["energy"].startswith("lost at step")
    verdict = widget.locator(".cw-readout").inner_text()
    assert ("is not symmetric" in verdict) == (asymmetry > 1e-10)


CHECKS: dict[str, Callable[[Locator], None]] = {
    "AttentionExplorer": attention_explorer,
    "EnergyDrift": energy_drift,
    "PartyMemory": party_memory,
    "SoftLookup": soft_lookup,
    "SymplecticityMeter": symplecticity_meter,
}


def agrees_with_course_lib(widget: Locator) -> None:
    """Assert that the widget displays what course_lib computes, once its frame is painted."""
    kind = widget.get_attribute("data-widget")
    assert kind in CHECKS, f"{kind} has no check in tests/browser/displayed.py; write one"
    eventually(widget, lambda: CHECKS[kind](widget))


def eventually(widget: Locator, assertion: Callable[[], None], *, frames: int = 300) -> None:
    """Assert, after each of the coming frames until it holds."""
    for _ in range(frames):
        try:
            assertion()
        except AssertionError:
            widget.evaluate("() => new Promise(requestAnimationFrame)")
        else:
            return
    assertion()
