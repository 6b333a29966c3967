"""The diagnostic, and the finding: a diagnostic before its file is known."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.wording import cut, pointer, visible

ERROR = "error"
WARNING = "warning"
NOTE = "note"
MAX_PROBLEMS = 1000  # problems reported for one file


class Diagnostic(NamedTuple):
    """One problem, its place in a file, and its remedy.

    `line` and `column` count from 1 (columns in characters) and are None without a file; `pointer` is the path within
    the case (`desc.InputTensor.Sizes[0]`); `constraint` the row of the spec that is broken (`ARGMAX/C3`); `note` the
    values allowed instead, printed next to the caret; `width` the number of characters that the caret covers.
    """

    rule: str
    message: str
    severity: str = ERROR
    file: str | None = None
    line: int | None = None
    column: int | None = None
    pointer: str | None = None
    help: str | None = None
    constraint: str | None = None
    note: str | None = None
    width: int = 1

    @property
    def where(self) -> str:
        """Where it stands, without the parts that are not known: `sum.yaml:3:7`."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)

    def place(self) -> tuple[int, int]:
        """Return the key that sorts diagnostics by their place in the file."""
        return self.line or 0, self.column or 0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that machine-readable reports carry."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "pointer": self.pointer,
            "help": self.help,
            "constraint": self.constraint,
        }


class Finding(NamedTuple):
    """A diagnostic before its file is known: the rule, the path to the problem, and the words of the message.

    `claim` is the requirement that is not met, if a machine can check it. `taken_by` has the releases of DirectML that
    take the desc despite this finding. `is_measured` says that they refuse what the documentation
    allows.
    """

    rule: str
    path: tuple[str | int, ...]
    params: dict[str, Any]
    help: str | None = None
    constraint: str | None = None
    note: str | None = None
    at_key: bool = False
    claim: Claim | None = None
    taken_by: tuple[str, ...] = ()
    is_measured: bool = False

    def under(self, path: tuple[str | int, ...]) -> Finding:
        """Return the finding about a part, with its path from the whole."""
        claim = None if self.claim is None else self.claim._replace(field=(*path, *self.claim.field))
        return self._replace(path=(*path, *self.path), claim=claim)

    @property
    def message(self) -> str:
        """The rule's message with this finding's words in it."""
        return RULES[self.rule].message.format(**{name: _shown(name, value) for name, value in self.params.items()})

    def diagnostic(self, prefix: tuple[str | int, ...] = ()) -> Diagnostic:
        """Return the diagnostic of a finding that stands in no file; `prefix` goes before its path."""
        return Diagnostic(
            rule=self.rule,
            message=self.message,
            pointer=pointer((*prefix, *self.path)) or None,
            help=self.help,
            constraint=self.constraint,
            note=self.note,
        )


def _shown(name: str, value: Any) -> Any:
    """Return a word of a message as it is shown; only the output of a program keeps its lines and its length."""
    return visible(cut(value, _MOST_SHOWN)) if isinstance(value, str) and name != "problem" else value


_MOST_SHOWN = 1000  # characters of a name, say; longer than any path or list of dmlcheck's own


T = TypeVar("T")
Checking = Generator[Finding, None, T]  # a reading under way: it yields findings, and returns its result


def collected(checking: Checking[T]) -> tuple[T, list[Finding]]:
    """Return the result of a reading, and its findings: all, or one more than the most that are reported."""
    findings: list[Finding] = []
    while True:
        try:
            finding = next(checking)
            if len(findings) <= MAX_PROBLEMS:
                findings.append(finding)
        except StopIteration as end:
            return end.value, findings


# ---- claims


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
