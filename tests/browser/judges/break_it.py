import pytest
from broken_claims import residual

from .scraped import Found, number_in, scraper

READ = scraper("""return {
  given: JSON.parse(one("[data-case]").dataset.case),
  told: one(".cw-break-words").innerText,
  error: one("[data-reading=error]").innerText,
};""")


def displayed(state: Found, page: Found) -> None:
    exact = residual(state["claim"], page["given"], state["bend"])
    tolerance, error = state["about"]["tolerance"], page["error"]
    if "breaks it" in page["told"]:
        assert exact > tolerance
        assert number_in(error) == pytest.approx(exact, rel=0.051 if "·" in error else 0.006)
    elif page["told"].startswith("0 cases"):
        assert error == "0"
    else:
        assert exact == pytest.approx(0, abs=tolerance)
        assert error == "0" or "·10⁻" in error
