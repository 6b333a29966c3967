"""Claims of findings about a desc, which a machine can fulfil: a place, a relation, and its limit."""

from __future__ import annotations

from typing import Any, NamedTuple

EQUAL = "equal"  # to a value
NOT_EQUAL = "not_equal"  # to a value
AT_LEAST = "at_least"  # a number
AT_MOST = "at_most"  # a number
BETWEEN = "between"  # two numbers, both included
ONE_OF = "one_of"  # several values
DIVIDES = "divides"  # a whole number
DISTINCT = "distinct"  # from the value at another path
PRESENT = "present"  # there at all; no limit
ABSENT = "absent"  # left out; no limit
TYPE = "type"  # a value of a type of the spec: UINT, FLOAT_ARRAY, TENSOR_DESC

RANK, ELEMENTS, LENGTH = "DimensionCount", "element_count", "length"  # the last steps of paths that are not fields


class Claim(NamedTuple):
    """A requirement that a place of a desc does not meet.

    `field` is the path to the place (`("desc", "InputTensor", "Sizes", 0)`). After a tensor it may end in
    `DimensionCount`, the number of its dimensions, or `element_count`; after a list in `length`.
    """

    field: tuple[str | int, ...]
    relation: str
    limit: Any = None

    @property
    def text(self) -> str:
        """The claim in a message, after "it must be"."""
        if self.relation == BETWEEN:
            return f"from {self.limit[0]} to {self.limit[1]}"
        if self.relation == ONE_OF:
            return ("one of " if len(self.limit) > 1 else "") + " ".join(map(str, self.limit))
        return _WORDS[self.relation].format(self.limit)


_WORDS = {
    EQUAL: "{}",
    NOT_EQUAL: "other than {}",
    AT_LEAST: "at least {}",
    AT_MOST: "at most {}",
    DIVIDES: "a divisor of {}",
}
