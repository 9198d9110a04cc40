import pytest
from broken_claims import error_of

from .scraped import Found, number_in, scraper

READ = scraper("""return {
  found: one("output[aria-live]").innerText,
  cases: all("[data-case]", (e) => [JSON.parse(e.dataset.case),
    e.querySelector("[data-reading]")?.innerText ?? ""]),
};""")


def displayed(state: Found, page: Found) -> None:
    tolerance, bend = state["about"]["tolerance"], state["bend"]
    for given, told in page["cases"]:
        # As it stands, a claim is a theorem.
        exact = error_of(state["claim"], given, bend) if bend else 0.0
        if page["found"] == "0 cases":
            assert told == ""
        elif "breaks it" in page["found"]:
            assert exact > tolerance
            rounded = 0.051 if "·" in told else 0.006
            assert number_in(told) == pytest.approx(exact, rel=rounded)
        else:
            assert exact <= tolerance
            assert told == "0" or "·10⁻" in told
