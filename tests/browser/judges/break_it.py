import pytest
from broken_claims import error_of

from .scraped import Found, number_in, scraper

READ = scraper("""return {
  given: JSON.parse(one("[data-case]").dataset.case),
  found: one("output[aria-live]").innerText,
  ...readings(),
};""")


def displayed(state: Found, page: Found) -> None:
    exact = error_of(state["claim"], page["given"], state["bend"])
    tolerance = state["about"]["tolerance"]
    if page["found"] == "0 cases":
        assert "error" not in page
    elif "breaks it" in page["found"]:
        assert exact > tolerance
        rounded = 0.051 if "·" in page["error"] else 0.006
        assert number_in(page["error"]) == pytest.approx(exact, rel=rounded)
    else:
        assert exact == pytest.approx(0, abs=tolerance)
        assert page["error"] == "0" or "·10⁻" in page["error"]
