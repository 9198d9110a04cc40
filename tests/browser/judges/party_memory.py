import torch
from reading import agrees

from course_lib.attention import attention, composite_memory, gated_memory, pooled_memory

from .scraped import Found, assert_said, near, scraper

# From here on numbers are written with a power of ten.
HUGE = 1e9
READ = scraper("""return {
  names: all(".cw-guest-name"),
  weights: all(".cw-guest-weight"),
  evidence: all(".cw-guest-evidence"),
  total: all(".cw-readout strong"),
  threads: all(".cw-threads path", (path) => numberOf(path, "stroke-width") / 22),
  ink: all("canvas.cw-picture", opaque),
  own: all(".cw-party-drawing rect[data-ink]", (pixel) => numberOf(pixel, "data-ink")),
};""")


def displayed(state: Found, page: Found) -> None:
    arrived, temperature, mode = (state[name] for name in ("arrived", "temperature", "mode"))
    every, keys, names = state["images"].flatten(1), state["guest_keys"], list(state["names"])
    if page["own"]:  # the reader's guest in the place of the last
        names[-1], own = "yours", torch.tensor(page["own"]).to(every)
        every = torch.cat([every[:-1], own[None]])
        if keys.shape[1:] == own.shape:
            keys = torch.cat([keys[:-1], own[None].to(keys)])
    score, gate, key = (x[:arrived] for x in (state["score"], state["gate"], keys))
    query = state["queries"][state["questions"].index(state["question"])][None]
    remember = {
        "composite": lambda x: composite_memory(x, 1),
        "forgetting": lambda x: composite_memory(x, state["decay"]),
        "gate": lambda x: gated_memory(x, gate + state["door"]),
        "softmax": lambda x: pooled_memory(x, score / temperature),
        "query": lambda x: attention(query, key, x, scale=1 / temperature)[0],
    }[mode]
    # What each guest adds to the memory is the memory of the unit vectors.
    unit = torch.eye(arrived, dtype=torch.float64)
    # There is no distribution over no guests; the memory of an empty room is empty.
    weights, picture = (remember(x) if arrived else x.sum(0) for x in (unit, every[:arrived]))
    total = weights.sum()

    assert page["names"] == names
    assert_said(page["weights"][:arrived], weights)
    assert {*page["weights"][arrived:]} <= {"not yet here"}
    assert_said(page["total"], [total])
    absent = torch.zeros(len(every) - arrived)
    near(page["threads"], torch.cat([weights, absent]), atol=3e-4)
    # A canvas keeps eight bits of the ink; the memory is the last picture.
    ink = torch.cat([every, picture[None] / total.clamp(min=1)])
    near(page["ink"], 255 * ink, atol=0.6)

    said = page["evidence"][:arrived]
    if mode == "forgetting":
        assert said == [f"{age} ago" for age in range(arrived - 1, -1, -1)]
    evidence = {"gate": gate, "softmax": score, "query": (key @ query.mT)[:, 0]}.get(mode, [])
    for text, number in zip(said, evidence, strict=False):
        told = text.partition("= ")[2]
        assert "·10" in told if abs(number) >= HUGE else agrees(told, number)
