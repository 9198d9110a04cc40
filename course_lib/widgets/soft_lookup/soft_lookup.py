"""SoftLookup: drag a query among keys in the plane, and watch the answer blend."""

from __future__ import annotations

from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import Array, Choice, Number, Several, Text

REACH = 1.5
MOST_KEYS = 24  # a row each in the table, and room for a finger each in a plane of 320 pixels


class SoftLookup(MovingWidget):
    r"""Soft lookup of a value among keys in the plane.

    The answer is $\sum_i w_i v_i$ with $w = \mathrm{softmax}(s / \tau)$. The score $s_i$ is minus
    the squared distance of query and key (Nadaraya–Watson), their dot product, or their cosine.
    Query and keys are dragged by hand; dotted lines join the queries that get the same answer.
    Beside the plane each weight lies on a beam at its value, and the beam balances at the answer.
    At first sight the query wanders once past the keys and comes back; then the lookup cools down,
    heats up and comes back too. A hand ends it; it does not begin if the reader has asked for less
    motion or you for none with ``moving``.

    ``names`` are the labels of up to 24 keys, ``keys`` their points ``(keys, 2)`` within ±1.5,
    ``values`` the number ``(keys,)`` that each returns, ``unit`` what the numbers count, ``asker``
    what the query is called in the plane.

    Traits, synced both ways: ``query`` (2,), ``key_points``, ``temperature``, ``similarity``.
    Raises ``TypeError`` and ``ValueError`` for data that cannot be drawn.
    Sources: Nadaraya (1964), eq. 1; Watson (1964), eq. 1.4; Vaswani et al. (2017), eq. 1.
    """

    names = Several(Text(), "keys", read_only=True)
    key_points = Array("keys", "xy=2", within=REACH, most={"keys": MOST_KEYS}, called="keys")
    values = Array("keys", read_only=True)
    query = Array("xy=2", within=REACH, default=(0.0, 0.0))
    temperature = Number(0.02, 10.0, default=0.3)
    similarity = Choice("distance", "dot", "cosine", default="distance")
    unit = Text(default="", read_only=True)
    asker = Text(default="query", read_only=True)

    def describe(self) -> str:
        """The keys with their values, in words."""
        pairs = ", ".join(
            f"{name} returns {value:g}" for name, value in zip(self.names, self.values, strict=True)
        )
        return (
            "Soft lookup: a query is dragged among keys in the plane and gets a blend of their "
            f"values. {pairs} {self.unit}.".replace(" .", ".")
        )
