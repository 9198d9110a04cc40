"""Assign tests to workers, the slowest first."""

import math
import re
from typing import Any

from xdist.scheduler import LoadScopeScheduling

PAGE = re.compile(r"\w+/\w+\.html")
SECONDS = "scheduler/seconds"  # by file or page, in pytest's own cache


class FilesAndPages(LoadScopeScheduling):
    """A file stays on one worker, since its tests share fixtures; for tests of pages, a page does.

    Pages are many and slow: with a file of them on one worker the others would wait at the end. For
    the same reason, the units that took longest in their last run start first, after new ones in
    the order of collection.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.cache = getattr(self.config, "cache", None)  # pytest may run without one
        self.expected = self.cache.get(SECONDS, {}) if self.cache else {}
        self.taken: dict[str, float] = {}

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Record the duration for the next run."""
        scope = self._split_scope(self.registered_collections[node][item_index])
        self.taken[scope] = self.taken.get(scope, 0) + duration
        super().mark_test_complete(node, item_index, duration)

    def remove_node(self, node: Any) -> str | None:
        """Store the durations when a worker is done."""
        if self.cache:
            self.cache.set(SECONDS, self.expected | self.taken)
        return super().remove_node(node)

    def _assign_work_unit(self, node: Any) -> None:
        longest = max(self.workqueue, key=lambda scope: self.expected.get(scope, math.inf))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        page = PAGE.search(test)
        return f"{file} {page[0]}" if page else file
