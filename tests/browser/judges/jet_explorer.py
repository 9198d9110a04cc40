import torch
from in_the_page import assert_close, tensor
from reading import agrees
from torch import Tensor

from course_lib.jets import (
    Jets,
    ParticleTransformer,
    delta_phi,
    delta_r,
    invariant_mass,
    measured,
    pairwise_features,
    particle_features,
)
from course_lib.widgets.jet_explorer.jet_explorer import jet_of, network_of

from .scraped import Found, assert_said, near, number_in, scraper

MOST_MASS, ENDS = 220, 10
ROWS = 4

READ = scraper("""return {
  there: all("[data-particle]", (e) => e.dataset.there === "true"),
  at: all("[data-particle]", movedBy),
  radius: all("[data-particle]", (e) => Number(e.dataset.radius)),
  links: Object.fromEntries(all("[data-to]", (e) =>
    [e.dataset.to, [Number(e.dataset.weight), numberOf(e, "stroke-width")]])),
  table: all(".cw-j-links tbody tr", cellsOf).filter((cells) => cells.some(Boolean)),
  classes: all(".cw-j-classes .cw-number"),
  best: all(".cw-j-best th"),
  mass: one(".cw-j-mass strong")?.textContent ?? "",
  marker: Number(/M([0-9.]+)/.exec(one(".cw-j-marker").getAttribute("d"))[1]),
  wide: one("[data-mass]").viewBox.baseVal.width,
  open: one(".cw-j-result button").ariaDisabled === "true",
  pointed: Number(one("[role=listbox]").dataset.pointed),
  verdict: one(".cw-j-verdict")?.textContent.trim() ?? "",
};""")


def attention_weights_of(model: ParticleTransformer, features: Tensor, pairs: Tensor) -> Tensor:
    """The attention weights: layers, jets, heads, queries, keys."""
    weights = []
    hooks = [
        block.attention.register_forward_pre_hook(
            lambda attention, inputs, given: weights.append(attention.weights(*inputs, **given)),
            with_kwargs=True,
        )
        for block in model.blocks
    ]
    model(features, pairs)
    for hook in hooks:
        hook.remove()
    return torch.stack(weights)


def displayed(state: Found, page: Found) -> None:
    entry = state["jets"][state["jet"]]
    count = len(entry["kind"])
    there = [i for i in range(state["kept"]) if i not in state["gone"]]
    assert [i for i, is_there in enumerate(page["there"]) if is_there] == there
    assert_places(page, jet_of(entry, list(range(count))))
    if not (there and page["open"]):
        assert page["classes"] == ["–" if page["open"] else "?"] * 5
        assert page["best"] == []
    if not there:
        assert page["links"] == {}
        return
    jet = jet_of(entry, there)
    model = network_of(state["facts"], state["weights"]).double()
    features, pairs = particle_features(jet).double(), pairwise_features(jet.momenta)
    with torch.no_grad():
        said = model(features, pairs).softmax(dim=-1)[0]
        attention = attention_weights_of(model, features, pairs)[state["layer"], 0]
    if page["open"]:
        assert_said(page["classes"], 100 * said)
        best = state["facts"]["classes"][int(said.argmax())]
        assert page["best"] == [best]
        if len(there) == count:
            sign = "✓" if int(said.argmax()) == entry["label"] else "✗"
            assert page["verdict"].startswith(f"The network says {best} {sign}.")
    mass = float(invariant_mass(jet.total)[0])
    assert agrees(page["mass"], mass)
    share = min(mass, MOST_MASS) / MOST_MASS
    near(page["marker"], ENDS + share * (page["wide"] - 2 * ENDS), atol=0.01)
    assert_links(
        page, jet, there, attention.mean(dim=0) if state["head"] < 0 else attention[state["head"]]
    )


def assert_places(page: Found, jet: Jets) -> None:
    axis = measured(jet.total)
    away = torch.stack([jet.eta.double() - axis.eta, delta_phi(jet.phi.double(), axis.phi)], -1)[0]
    drawn = tensor(page["at"]) * tensor([1, -1])
    away, drawn = (x - x.mean(0) for x in (away, drawn))
    near(drawn, drawn.norm() / away.norm() * away, atol=0.01)
    assert page["radius"] == sorted(page["radius"], reverse=True)


def assert_links(page: Found, jet: Jets, there: list[int], look: Tensor) -> None:
    """Assert lines as thick as weights, and the strongest with the features of its pair."""
    at, found = page["pointed"], {int(to): link for to, link in page["links"].items()}
    if at not in there:
        assert found == {}
        return
    row = there.index(at)
    assert sorted(found) == there
    weights, widths = tensor([found[i] for i in there]).T
    assert_close(weights, look[row], rtol=1e-4)
    near(widths, (24 * weights).clamp(min=0.5), 1e-9)
    order = sorted(there, key=lambda i: -found[i][0])[:ROWS]
    for (name, percent, distance, *_), to in zip(page["table"], order, strict=True):
        assert name == ("itself" if to == at else str(to + 1))
        near(number_in(percent), 100 * found[to][0], atol=0.51)
        assert agrees(distance, delta_r(jet.momenta[0, row], jet.momenta[0, there.index(to)]))
