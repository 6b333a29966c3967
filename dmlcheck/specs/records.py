"""The records of a spec: fields, support tables, constraints, tolerances and errata of an operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.specs.names import RELEASES, releases_do

INPUT = "input_tensor"
OUTPUT = "output_tensor"
ATTRIBUTE = "attribute"
DOCUMENTATION, MEASURED = "documentation", "measured"  # bases of a constraint or an erratum
BASES = (MEASURED, DOCUMENTATION, "header", "history", "vendor", "callers", "tests", "our decision")
DATA_TYPE = "DataType"  # in a row's `when`: the data type of the first output


class Field(NamedTuple):
    """One member of an operator's struct: its kind and its type; for an enumeration its name, for a count its arrays.

    `boolean` marks a BOOL, which the header makes an integer; `data_type` is the field that gives the type of a scalar
    union.
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
    """One row of a support table for one tensor; no types where the page lists none, which means any."""

    dims: tuple[int, ...]
    types: tuple[str, ...]


class Releases(NamedTuple):
    """Releases of DirectML: from the first one, before the first one without, and all if neither is given."""

    since: str | None = None
    until: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """The releases that were asked, by their versions."""
        versions = list(RELEASES)
        first = 0 if self.since is None else versions.index(self.since)
        return tuple(versions[first : None if self.until is None else versions.index(self.until)])

    @property
    def told(self) -> str:
        """The end of a help about a desc that these releases take, though the documentation forbids it."""
        return f"{self.accept} it, so it is not the reason for an E_INVALIDARG there"

    @property
    def accept(self) -> str:
        """The beginning of a sentence: `DirectML 1.4.0 and 1.5.1 accept`."""
        return releases_do(self.all, "accept")


Row = Mapping[str, TensorSupport]


class SupportTable(NamedTuple):
    """The rows of a support table by feature level, newest first; `when` limits it to values of some fields."""

    when: Mapping[str, tuple[str, ...]] | None
    rows: Mapping[str, Row]


class Constraint(NamedTuple):
    """One labelled row: a word of `constraint_words.WORDS`, its arguments, and when it applies.

    `when`, `unless`, `present`, `absent`, `since` and `until` limit the row to values of fields, to fields that are
    given or missing, and to feature levels; `given` names the rows that must be met for this one to mean anything.
    `basis` is the documentation or, as in an erratum, what the row stands on where that is silent or wrong; `measured`:
    releases refuse what the documentation allows. `taken` has the releases that take a desc that breaks the row: for
    them it is no reason to refuse. `taken_inside` has those that do where the operator stands inside another one. A
    desc that breaks an `is_unasked` row is never sent to an implementation, nor drawn.
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
    basis: str = DOCUMENTATION
    taken: Releases | None = None
    taken_inside: Releases | None = None
    is_unasked: bool = False


class TakenValues(NamedTuple):
    """Values that are not documented, but that some releases take.

    They are data types or dimension counts of some tensors, or `operators` by the fields that may hold them.
    """

    tensors: tuple[str, ...]
    types: tuple[str, ...]
    dims: tuple[int, ...]
    operators: Mapping[str, tuple[str, ...]]
    releases: Releases


class MeasuredOn(NamedTuple):
    """An execution of DirectML: the releases, the Direct3D 12 device, and the date."""

    library: str
    device: str
    date: str

    @property
    def text(self) -> str:
        """The execution in words."""
        return f"{self.library} on {self.device}, {self.date}"


class Measured(NamedTuple):
    """A result that DirectML was seen to give, in sentences, and the execution that gave it."""

    text: str
    run: MeasuredOn


ERRATUM_KINDS = ("error", "silence", "contradiction")


class Erratum(NamedTuple):
    """An erratum: the statement of the page, the correct one, and its basis.

    `kind`: the page is wrong, is silent, or contradicts itself or another source. `basis`: DirectML's own answer or
    result, of releases that the source names; the rest of the documentation; DirectML.h; the history of the feature
    levels or of the page; DirectML's engineers, release notes and DirectMLX.h; descs that programs pass to DirectML;
    tests that run on DirectML; or a decision made for these specs. If the parts of an erratum have different bases, the
    weakest is named: the later one in this list. `measured`: whether somebody ran this very operator on DirectML and
    published the result. `source` is where to look it up, `run` the execution whose results the statement tells.
    """

    id: str
    kind: str
    page: str
    correct: str
    basis: str
    measured: bool
    source: str = ""
    run: MeasuredOn | None = None

    @property
    def sources(self) -> str:
        """The execution of DirectML, and the other sources."""
        return "; ".join(filter(None, ("" if self.run is None else self.run.text, self.source)))


class Deviation(NamedTuple):
    """A result that some versions of DirectML are known to get wrong; `versions` names them and the devices in words.

    `when`, `absent`, `strided` and `where` limit it to descs with these values of fields (a tensor's value is its
    data type, `DataType` is that of the first output), without these fields, with strides of one of these tensors,
    and with a true expression. `since` is the first version with the deviation, `until` the first without it, `as_of`
    the month or year in which it was last seen, `device` a part of the device's name, None for any. `is_of_graphs`
    says that only compiled graphs give the wrong result. `values` is an expression that marks the elements of an
    output that are wrong, by the values of inputs and of the right output, and `gives` one for what DirectML gives in
    their place; `as_if` has such expressions for inputs and attributes with which the right output would be what
    DirectML gives. `refusal` is the code with which the operator is refused after its creation, or a part of the
    message. `of` is the implementation that has the deviation, "" for DirectML; `errors` has how far its functions on
    the way may be from the right results.
    """

    text: str
    versions: str
    source: str
    when: Mapping[str, tuple[str, ...]] | None = None
    absent: tuple[str, ...] = ()
    strided: tuple[str, ...] = ()
    where: str | None = None
    since: str | None = None
    until: str | None = None
    device: str | None = None
    is_of_graphs: bool = False
    as_of: str | None = None
    values: str | None = None
    gives: str | None = None
    as_if: Mapping[str, str] | None = None
    refusal: str | None = None
    of: str = ""
    errors: Mapping[str, float] = {}

    @property
    def is_narrow(self) -> bool:
        """Whether more than the desc says which results are wrong: their values, or the code of a refusal."""
        return self.values is not None or self.refusal is not None or bool(self.errors)

    @property
    def is_given(self) -> bool:
        """Whether it says what DirectML gives instead of the right values."""
        return self.gives is not None or self.as_if is not None

    @property
    def words(self) -> dict[str, str]:
        """Its text, the versions with the deviation, and the source."""
        return {"text": self.text, "versions": self.versions, "source": self.source}


class Peer(NamedTuple):
    """An implementation other than DirectML whose deviations are known, and its version."""

    name: str
    version: str


PARTS, TERMS, NAMED = "parts", "terms", "named"


class Half(NamedTuple):
    """The values on the way to a FLOAT16 result that DirectML keeps in FLOAT16, in words, and the source of that.

    Sums are still added in FLOAT32. `stored` says that they are `stored` in FLOAT16 as such, or in `parts`, and
    "" that only what is computed from them is, like a mean. With NAMED nothing is in FLOAT16 but what the formula
    names, by `kept_in_half`. `has_narrow_functions` says that functions are made of FLOAT16 operations, `has_one_cause`
    that their errors add up: conversions cut off toward 0, and each value is made of many before it. With fields in
    `given` it is so for descs that give one of them: other ones have no further step. A sum of more than `parts_beyond`
    products, which the spec's `let` counts, is stored in parts in any case: which `terms` stand in one part is not
    known.
    """

    values: tuple[str, ...]
    source: str
    given: tuple[str, ...] = ()
    stored: str = ""
    parts_beyond: int | None = None
    has_narrow_functions: bool = False
    has_one_cause: bool = False


UNDEFINED = "undefined"
ALTERNATIVES = "alternatives"


class Undefined(NamedTuple):
    """A result for which the documentation has no single answer; all texts are in sentences.

    `kind`: nothing gives a number (`undefined`), or each of several readings gives one (`alternatives`). `condition`
    names the result, `reason` is why the documentation does not settle it. `outcomes` are results that an
    implementation may give: of alternatives each is right. `reference` is the choice of the reference engine.
    `measured` is the one result that DirectML gives, and with it the reference: only DirectML is judged by it.
    """

    kind: str
    condition: str
    reason: str = ""
    outcomes: tuple[str, ...] = ()
    reference: str = ""
    measured: Measured | None = None

    @property
    def text(self) -> str:
        """The result in one text."""
        return " ".join(filter(None, (self.condition, self.reason, *self.outcomes, self.reference, self.told)))

    @property
    def told(self) -> str:
        """The measured result with its evidence, in sentences; "" if none was measured."""
        return "" if self.measured is None else f"{self.measured.text} Measured: {self.measured.run.text}."


class Difference(NamedTuple):
    """A difference between an operator of ONNX and its operator of DirectML, and how a caller makes up for it."""

    name: str
    text: str
    source: str


class Tolerance(NamedTuple):
    """How far an element may be from the expected value.

    A case's own limits (`ulp`, `absolute`, `relative`) are independent: each can accept an element. The limits of a row
    of an operator's spec add up; `ulp` counts units in the last place of the expected value, and `ulp_per_exponent`
    such units for each unit of |ln r| of a result r that is computed as a power. A spec has a row if a source gives a
    limit for the operator itself. `when` and `present` limit the row to some descs; DataType in `when` is the data type
    of the first output. `source` names the source of a row, `reason` why a case has limits of its own.
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

    @property
    def notation(self) -> Any:
        """A case's own tolerance as a case file has it."""
        if self.exact:
            return "exact"
        own = {"ulp": self.ulp, "absolute": self.absolute, "relative": self.relative, "reason": self.reason or None}
        return {key: value for key, value in own.items() if value is not None}


class OperatorSpec(NamedTuple):
    """The spec of one operator.

    `short` is its name without the prefix, `number` its value of DML_OPERATOR_TYPE in DirectML.h. `names` are the
    operators of ONNX and WebNN that it computes, `functions` the functions of NumPy in its formula that have a rounding
    of their own. `range` has the least and the largest result. `domain` is an interval of float operands in which the
    formula is defined, and its results are far from overflow: from there operands are drawn; None for any.
    `deviations_of` has the deviations of other implementations than DirectML, by their names.
    """

    operator: str
    short: str
    number: int
    introduced: str
    in_place: bool
    supersedes: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    page: Mapping[str, str]
    kernel: str
    functions: tuple[str, ...]
    range: tuple[float, float]
    domain: tuple[float, float] | None
    fields: Mapping[str, Field]
    support: tuple[SupportTable, ...]
    taken: tuple[TakenValues, ...]
    let: Mapping[str, str]
    constraints: tuple[Constraint, ...]
    tolerance: tuple[Tolerance, ...]
    half: Half | None
    undefined: tuple[Undefined, ...]
    errata: tuple[Erratum, ...]
    known_deviations: tuple[Deviation, ...]
    deviations_of: Mapping[str, tuple[Deviation, ...]]
    differences: tuple[Difference, ...]
    examples: tuple[str, ...]
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    operators: tuple[Field, ...]

    @property
    def has_undefined(self) -> bool:
        """Whether nothing gives a number for some results."""
        return any(row.kind == UNDEFINED for row in self.undefined)

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The results that were measured: results that the page leaves undefined, and results in errata."""
        undefined = [row.measured for row in self.undefined if row.measured is not None]
        return (*undefined, *(Measured(row.correct, row.run) for row in self.errata if row.run is not None))


# ---- the types of DirectML.h


_TYPES = {
    "TENSOR_DESC": "const DML_TENSOR_DESC*",
    "TENSOR_DESC_ARRAY": "const DML_TENSOR_DESC*",
    "OPERATOR_DESC": "const DML_OPERATOR_DESC*",
    "OPERATOR_DESC_ARRAY": "const DML_OPERATOR_DESC*",
    "SCALE_BIAS": "const DML_SCALE_BIAS*",
    "SCALAR_UNION": "DML_SCALAR_UNION",
    "SIZE_2D": "DML_SIZE_2D",
    "UINT_ARRAY": "const UINT*",
    "INT_ARRAY": "const INT*",
    "FLOAT_ARRAY": "const FLOAT*",
}


def c_type(field: Field) -> str:
    """Return the type of a field in DirectML.h: `const UINT*`, `DML_AXIS_DIRECTION`, `BOOL`."""
    if field.enum is not None:
        return field.enum
    return "BOOL" if field.boolean else _TYPES.get(field.type, field.type)
