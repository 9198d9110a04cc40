"""The mathematics of TileStepper's JavaScript, run in Chromium, against course_lib."""

from functools import reduce
from typing import Any

import numpy as np
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.tile_stepper import moved, visible, visits_of

from course_lib.attention import attention
from course_lib.tiled_attention import (
    Partial,
    merge,
    naive_bytes,
    on_chip_bytes,
    partial_attention,
    tiled_attention,
    tiled_bytes,
)


def states(random: np.random.Generator, count: int = 60) -> list[dict[str, Any]]:
    """What the widget may be given: queries, keys, values, and a tiling."""
    drawn = []
    for _ in range(count):
        queries, d = random.integers(1, 8, size=2).tolist()
        causal = bool(random.integers(2))
        keys = queries * causal + int(random.integers(not causal, 8))
        query, key, value = (random.normal(size=(n, d)) for n in (queries, keys, keys))
        drawn.append(
            {
                "query": tensor(query * random.choice([0.1, 1.0, 100.0])),
                "key": tensor(key),
                "value": tensor(value),
                "scale": random.uniform(0.1, 2),
                "causal": causal,
                "query_tile": int(random.integers(1, queries + 1)),
                "key_tile": int(random.integers(1, keys + 1)),
                "bytes_each": int(random.choice([1, 2, 4])),
            }
        )
    return drawn


def tiling(state: dict[str, Any]) -> dict[str, Any]:
    return {name: state[name] for name in ("query_tile", "key_tile", "causal")}


def visits_in_the_page(javascript: Javascript, drawn: list[dict[str, Any]]) -> list[Any]:
    cases = [[len(s["query"]), len(s["key"]), *tiling(s).values()] for s in drawn]
    return javascript("js/maths/tiles.js", "tileVisits", cases)


def assert_reports(found: dict[str, Any], expected: Partial, row: int = 0) -> None:
    assert_close(found["maximum"], expected.maximum[row])
    assert_close(found["total"], expected.total[row])
    assert_close(found["output"], expected.output[row])


def random_report(random: np.random.Generator) -> Partial:
    """Of one query and up to three keys, or of none."""
    query, key, value = (tensor(random.normal(size=(n, 2))) for n in (1, 3, 3))
    keys = int(random.integers(0, 4))
    return partial_attention(10 * query, key[:keys], value[:keys])


def as_object(report: Partial) -> dict[str, Any]:
    return {name: part[0].tolist() for name, part in report._asdict().items()}


def test_the_visits_in_the_page_are_those_of_the_plan(
    javascript: Javascript, random: np.random.Generator
):
    drawn = states(random)
    for found, state in zip(visits_in_the_page(javascript, drawn), drawn, strict=True):
        plan = visits_of(state)
        assert [(slice(*v["rows"]), slice(*v["columns"])) for v in found] == plan
        following = [rows for rows, _ in plan[1:]] + [None]
        assert [v["last"] for v in found] == [
            rows != after for (rows, _), after in zip(plan, following, strict=True)
        ]


def test_merging_in_the_page_is_merging_in_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    pairs = [(random_report(random), random_report(random)) for _ in range(DRAWS)]
    cases = [[as_object(first), as_object(second)] for first, second in pairs]
    found = javascript("js/maths/tiles.js", "mergePartials", cases)
    for report, pair in zip(found, pairs, strict=True):
        assert_reports(report, merge(*pair))


def test_a_whole_row_in_the_page_is_softmax_attention(
    javascript: Javascript, random: np.random.Generator
):
    cases, expected = [], []
    for state in states(random):
        seen = int(random.integers(1, len(state["key"]) + 1))
        query, key, value = state["query"][:1], state["key"], state["value"]
        cases.append([query[0].tolist(), key.tolist(), value.tolist(), state["scale"], seen])
        expected.append(attention(query, key[:seen], value[:seen], scale=state["scale"])[0])
    found = javascript("js/maths/tiles.js", "wholeRow", cases)
    for row, wanted in zip(found, expected, strict=True):
        assert_close(row, wanted)


def run_in_the_page(
    javascript: Javascript, drawn: list[dict[str, Any]], steps: list[int]
) -> list[Any]:
    plans = visits_in_the_page(javascript, drawn)
    cases = []
    for state, plan, step in zip(drawn, plans, steps, strict=True):
        given = {name: state[name].tolist() for name in ("query", "key", "value")}
        given |= {name: state[name] for name in ("scale", "causal")}
        cases.append([given, plan, step])
    return javascript("js/maths/tiles.js", "tiledRun", cases)


def test_a_finished_run_in_the_page_is_tiled_attention(
    javascript: Javascript, random: np.random.Generator
):
    drawn = states(random)
    found = run_in_the_page(javascript, drawn, [len(visits_of(state)) for state in drawn])
    for run, state in zip(found, drawn, strict=True):
        arrays = [state[name] for name in ("query", "key", "value")]
        assert_close(run["output"], tiled_attention(*arrays, **tiling(state), scale=state["scale"]))


def test_a_run_in_the_page_knows_at_each_step_what_the_visited_tiles_say(
    javascript: Javascript, random: np.random.Generator
):
    drawn = states(random)
    steps = [int(random.integers(0, len(visits_of(state)) + 1)) for state in drawn]
    for run, state, step in zip(
        run_in_the_page(javascript, drawn, steps), drawn, steps, strict=True
    ):
        plan = visits_of(state)
        rows = plan[max(0, step - 1)][0]
        assert run["inHand"] == [rows.start, rows.stop]
        query, key, value = (state[name] for name in ("query", "key", "value"))
        said = [partial_attention(query[rows], key[:0], value[:0])] * 2
        for _, columns in [visit for visit in plan[:step] if visit[0] == rows]:
            mask, scale = visible(state)[rows, columns], state["scale"]
            said.append(
                partial_attention(query[rows], key[columns], value[columns], mask=mask, scale=scale)
            )
        assert len(run["reports"]) == rows.stop - rows.start
        for r, report in enumerate(run["reports"]):
            assert_reports(report["before"], reduce(merge, said[:-1]), r)
            assert_reports(report["tile"], said[-1], r)
            assert_reports(report["after"], reduce(merge, said), r)
        waiting = {row for later, _ in plan[step:] for row in range(later.start, later.stop)}
        assert {i for i, row in enumerate(run["output"]) if row is None} == waiting


def test_the_numbers_moved_in_the_page_are_those_of_the_arrays_that_move(
    javascript: Javascript, random: np.random.Generator
):
    drawn = states(random)
    cases, expected = [], []
    for state, plan in zip(drawn, visits_in_the_page(javascript, drawn), strict=True):
        lengths = len(state["query"]), len(state["key"]), state["query"].shape[1]
        visits, each = visits_of(state), {"bytes_each": state["bytes_each"]}
        for step in (int(random.integers(0, len(plan) + 1)), len(plan)):
            cases.append([plan, step, *lengths[1:]])
            expected.append((state["bytes_each"], *moved(state, visits[:step])))
        assert expected[-1][1:] == (
            tiled_bytes(*lengths, **tiling(state), **each),
            naive_bytes(*lengths, **each),
        )
    found = javascript("js/maths/tiles.js", "numbersMoved", cases)
    for (bytes_each, tiled, naive), numbers in zip(expected, found, strict=True):
        assert numbers["tiled"] * bytes_each == tiled
        assert numbers["naive"] * bytes_each == naive


def test_the_bytes_on_chip_in_the_page_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    sizes = random.integers(1, 30, size=(DRAWS, 4)).tolist()
    found = javascript("js/maths/tiles.js", "onChipBytes", sizes)
    assert found == [
        on_chip_bytes(d, query_tile=query_tile, key_tile=key_tile, bytes_each=each)
        for d, query_tile, key_tile, each in sizes
    ]
