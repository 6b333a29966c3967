"""What is known of an operator: its fields, support tables, constraints, tolerances and errata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.specs.names import LEVEL_ORDER, short_operator

INPUT = "input_tensor"
OUTPUT = "output_tensor"
ATTRIBUTE = "attribute"
DATA_TYPE = "DataType"  # in a row's `when`: the data type of the first output


class Field(NamedTuple):
    """One member of an operator's struct: its kind, its type, and for an enumeration or a count, of what.

    `boolean` marks a BOOL, which the header makes an integer; `data_type` the field that says
    what a scalar union holds.
    """

    name: str
    kind: str
    type: str
    optional: bool = False
    enum: str | None = None
    counts: tuple[str, ...] = ()
    boolean: bool = False
    data_type: str | None = None
    about: str = ""

    @property
    def is_tensor(self) -> bool:
        """Whether the field is a tensor or an array of tensors."""
        return self.kind != ATTRIBUTE


class TensorSupport(NamedTuple):
    """What one row of a support table says of one tensor; no types where the page lists none, and takes any."""

    dims: tuple[int, ...]
    types: tuple[str, ...]


Row = Mapping[str, TensorSupport]


class SupportTable(NamedTuple):
    """The rows of a support table by feature level, newest first; `when` limits it to values of some fields."""

    when: Mapping[str, tuple[str, ...]] | None
    rows: Mapping[str, Row]

    def heading_at(self, level: str) -> str | None:
        """Return the level that heads the row which holds at a target level, or None below the first."""
        order = LEVEL_ORDER[level]
        return next((heading for heading in self.rows if LEVEL_ORDER[heading] <= order), None)


class Constraint(NamedTuple):
    """One labelled row: a word of `constraint_words.WORDS`, its arguments, and when it applies.

    `when`, `unless`, `present`, `absent`, `since` and `until` limit it to values of fields, to fields that are there or
    not, and to feature levels; `given` names the rows that must hold for this one to mean anything.
    """

    id: str
    text: str
    word: str
    args: Any
    when: Mapping[str, tuple[str, ...]] | None = None
    unless: Mapping[str, tuple[str, ...]] | None = None
    since: str | None = None
    until: str | None = None
    given: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    help: str | None = None
    is_unconditional: bool = False


ERRATUM_KINDS = ("error", "silence", "contradiction")
ERRATUM_BASES = ("documentation", "header", "history", "vendor", "callers", "tests", "our decision")


class Erratum(NamedTuple):
    """What a page says, what is correct instead, and what that rests on.

    `kind`: the page is wrong, is silent, or contradicts itself or another source. `basis`: the rest of the
    documentation; DirectML.h; the history of the feature levels or of the page; DirectML's engineers, release notes and
    DirectMLX.h; what programs pass to DirectML; tests that run on DirectML; or nothing but a decision made for these
    specs. Where parts of an erratum rest on different things, the weakest is named: a basis later in the list.
    `measured`: whether somebody ran this very operator on DirectML and published the result. `source` says where to
    look it up.
    """

    id: str
    kind: str
    page: str
    correct: str
    basis: str
    measured: bool
    source: str = ""


class Deviation(NamedTuple):
    """A result that some versions of DirectML are known to get wrong; `versions` says in words which, and on what.

    `when`, `strided` and `where` limit it to descs with these values of fields (a tensor's value is its data type,
    `DataType` that of the first output), with strides of one of these tensors, and of which an expression is true.
    `since` is the first version that has it, `until` the first that has it no longer, `device` a part of the device's
    name. `is_of_graphs` says that only compiled graphs come out wrong.
    """

    text: str
    versions: str
    source: str
    when: Mapping[str, tuple[str, ...]] | None = None
    strided: tuple[str, ...] = ()
    where: str | None = None
    since: str | None = None
    until: str | None = None
    device: str | None = None
    is_of_graphs: bool = False


class Difference(NamedTuple):
    """What an operator of ONNX means, and an operator of DirectML does otherwise, or what a caller makes of it."""

    name: str
    text: str
    source: str


class Tolerance(NamedTuple):
    """How far an element may be from what is expected.

    A case's own limits (`ulp`, `absolute`, `relative`) each accept an element alone. Those in a row of an operator's
    spec add up; `ulp` counts units in the last place of the expected value, and `ulp_per_exponent` those for each unit
    of |ln r| of a result r that is computed as a power. A row is there where a source gives a limit for the operator
    itself. `when` and `present` say which descs a row is for; DataType in `when` is the data type of the first output.
    `source` says where a row comes from, `reason` why a case has its own.
    """

    exact: bool = False
    ulp: float | None = None
    absolute: float | None = None
    relative: float | None = None
    when: Mapping[str, tuple[str, ...]] | None = None
    source: str = ""
    reason: str = ""
    ulp_per_exponent: float | None = None
    present: tuple[str, ...] = ()


class OperatorSpec(NamedTuple):
    """Everything that is known of one operator.

    `names` are those of ONNX and WebNN that it computes, `functions` those of NumPy in its formula that have a rounding
    of their own.
    """

    operator: str
    introduced: str
    in_place: bool
    supersedes: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    page: Mapping[str, str]
    kernel: str
    functions: tuple[str, ...]
    fields: Mapping[str, Field]
    support: tuple[SupportTable, ...]
    let: Mapping[str, str]
    constraints: tuple[Constraint, ...]
    tolerance: tuple[Tolerance, ...]
    alternatives: tuple[str, ...]
    unspecified: tuple[str, ...]
    errata: tuple[Erratum, ...]
    known_deviations: tuple[Deviation, ...]
    differences: tuple[Difference, ...]
    examples: tuple[str, ...]
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    operators: tuple[Field, ...]

    @property
    def short(self) -> str:
        """The operator's name without its prefix."""
        return short_operator(self.operator)
