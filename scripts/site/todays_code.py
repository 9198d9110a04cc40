"""What is bound when a page is written: the code of its figures and the source in its listings.

An output keeps a copy of either from when it was made. A page of the book and of the slides shows
those of today, so a change of JavaScript, of a style or of a docstring runs no lecture.
"""

from collections.abc import Callable

from course_lib.support.listings import with_current_source
from course_lib.widgets.page import with_current_code


def with_todays_code(body: str, complain: Callable[[str], object]) -> str:
    """The ``body`` of a page with the code of today; ``complain`` hears what cannot be shown."""
    return with_current_source(with_current_code(body, complain), complain)
