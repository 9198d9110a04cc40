"""Insert the current code of figures and the current source of listings into a page.

Outputs contain copies from when they were made. Replacing them when a page is written means that a
change of JavaScript, of a style or of a docstring runs no lecture.
"""

from collections.abc import Callable

from course_lib.support.listings import with_current_source
from course_lib.widgets.kit.page import with_current_code


def with_todays_code(body: str, complain: Callable[[str], object]) -> str:
    """The ``body`` of a page with current code; ``complain`` is called with each fault."""
    return with_current_source(with_current_code(body, complain), complain)
