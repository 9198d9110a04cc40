"""Which tests share a worker."""

import re

from xdist.scheduler import LoadScopeScheduling

PAGE = re.compile(r"\w+/\w+\.html")


class FilesAndPages(LoadScopeScheduling):
    """A file stays on one worker, since its tests share fixtures; of tests of pages, one page does.

    Pages are many and slow: a file of them on one worker would let the others wait at the end.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        page = PAGE.search(test)
        return f"{file} {page[0]}" if page else file
