"""Compare the display of a widget with course_lib."""

from judges import WIDGETS
from playwright.sync_api import Locator
from reading import eventually, found_by, state_of
from torch import Tensor

# What no figure shows: a number that could not be computed.
STRANGE = r"""(el) => el.querySelector(".cw").outerHTML
  .match(/.{0,60}(NaN|Infinity|undefined|\[object).{0,9}/)?.[0] ?? null"""


def agrees_with_course_lib(widget: Locator) -> None:
    """Assert that the widget displays what course_lib computes, once its frame is painted."""
    judge = WIDGETS[widget.get_attribute("data-widget")]

    def agrees() -> None:
        state, (page, strange) = found_by(widget, f"(el) => [({judge.READ})(el), ({STRANGE})(el)]")
        assert strange is None
        judge.displayed(state, page)

    eventually(widget, agrees)


def has(widget: Locator, **traits: object) -> None:
    """Wait until its traits have these values, and assert that it displays what follows."""

    def holds() -> None:
        state = state_of(widget)
        found = {name: state[name] for name in traits}
        plain = {n: v.tolist() if isinstance(v, Tensor) else v for n, v in found.items()}
        assert plain == traits

    eventually(widget, holds)
    agrees_with_course_lib(widget)
