import pytest
from live_figures import EXPECTED

from .scraped import Found, number_in, scraper

READ = scraper("return readings();")
# A power from two numbers of nodes is known to one decimal.
ONE_DIGIT = {"softmax-power"}


def displayed(state: Found, readings: Found) -> None:
    expected = EXPECTED[state["figure"]](state)
    assert list(readings) == list(expected)
    for name, text in readings.items():
        rel, doubt = (0, 0.0501) if name in ONE_DIGIT else (0.006, 6e-4)
        assert number_in(text) == pytest.approx(
            expected[name], rel=0.051 if "·" in text else rel, abs=doubt
        )
