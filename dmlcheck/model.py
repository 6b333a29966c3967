"""The records that travel through dmlcheck, all frozen: specs, descs, cases and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.diagnostics import Diagnostic
from dmlcheck.header import DATA_TYPES, short_operator

if TYPE_CHECKING:
    from dmlcheck.document import Position

INPUT = "input_tensor"
OUTPUT = "output_tensor"
ATTRIBUTE = "attribute"


# ---- specs


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


class Constraint(NamedTuple):
    """One labelled row: a word of `rules.RULES`, its arguments, and when it applies.

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


class Erratum(NamedTuple):
    """What a page says and what holds instead, or what it leaves open and how that was decided."""

    id: str
    page: str
    holds: str
    source: str


class Deviation(NamedTuple):
    """A result that some versions of DirectML are known to get wrong."""

    text: str
    versions: str
    source: str


class Tolerance(NamedTuple):
    """How far an element may be from what is expected.

    A case's own limits (`ulp`, `absolute`, `relative`) each accept an element alone. An operator's limits are the parts
    of one error analysis and add up; `accumulate` stands for n * u * sum|terms|, with u the unit roundoff of the type
    that the implementation may accumulate in. `ulp` counts units in the last place of the expected value, and
    `ulp_per_exponent` those for each unit of |ln r| of a result r that is computed as a power; `times` is an expression
    over the desc's fields that `absolute` is multiplied by. `when` and `present` say which descs a row is for; DataType
    in `when` is the data type of the first output. `source` says where an operator's limits come from, `reason` why a
    case has its own.
    """

    exact: bool = False
    ulp: float | None = None
    absolute: float | None = None
    relative: float | None = None
    accumulate: bool = False
    when: Mapping[str, tuple[str, ...]] | None = None
    source: str = ""
    reason: str = ""
    ulp_per_exponent: float | None = None
    times: str | None = None
    present: tuple[str, ...] = ()


class OperatorSpec(NamedTuple):
    """Everything that is known of one operator."""

    operator: str
    introduced: str
    in_place: bool
    supersedes: tuple[str, ...]
    page: Mapping[str, str]
    kernel: str | None
    fields: Mapping[str, Field]
    support: tuple[SupportTable, ...]
    let: Mapping[str, str]
    constraints: tuple[Constraint, ...]
    tolerance: tuple[Tolerance, ...]
    unspecified: tuple[str, ...]
    errata: tuple[Erratum, ...]
    known_deviations: tuple[Deviation, ...]
    examples: tuple[str, ...]
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    operators: tuple[Field, ...]

    @property
    def short(self) -> str:
        """The operator's name without its prefix."""
        return short_operator(self.operator)


# ---- descs


class TensorDesc(NamedTuple):
    """A DML_BUFFER_TENSOR_DESC whose fields are known to be of the right types; strides None means packed."""

    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    total_size: int | None = None
    alignment: int = 0
    flags: str = "NONE"

    @property
    def Sizes(self) -> tuple[int, ...]:  # noqa: N802 - DirectML's name, for constraint expressions
        """The sizes."""
        return self.sizes

    @property
    def DimensionCount(self) -> int:  # noqa: N802 - DirectML's name, for constraint expressions
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def DataType(self) -> str:  # noqa: N802 - DirectML's name, for constraint expressions
        """The data type, without its prefix."""
        return self.data_type

    @property
    def element_count(self) -> int:
        """The number of logical elements."""
        count = 1
        for size in self.sizes:
            count *= size
        return count

    @property
    def extent(self) -> int:
        """The number of elements of the buffer from the first to the last that the tensor touches."""
        if self.strides is None:
            return self.element_count
        return 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=False))

    @property
    def shares_places(self) -> bool:
        """Whether strides that are not 0 may put two elements in one place; False is certain, True is not."""
        reach = 0
        steps = sorted((stride, size) for size, stride in zip(self.sizes, self.strides or (), strict=False) if size > 1)
        for stride, size in steps:
            if 0 < stride <= reach:
                return True
            reach += stride * (size - 1)
        return False

    @property
    def implied_bytes(self) -> int:
        """The minimum implied size in bytes: the extent, in whole bytes and rounded up to 4."""
        size = (self.extent * DATA_TYPES[self.data_type].bits + 7) // 8
        return (size + 3) // 4 * 4


class Part(NamedTuple):
    """One tensor of a desc: the name that reports give it (`OutputTensors[0]`) and its path in the desc."""

    label: str
    path: tuple[str | int, ...]
    tensor: TensorDesc


class OperatorDesc(NamedTuple):
    """A desc whose fields have the right types: tensors are TensorDesc, enumerations suffixes, counts filled in.

    Fields that were left out, or that are wrong, are not in `values`, and the latter in `broken`; `parts` has the
    tensors of each tensor field. `derived` are the counts that follow from their arrays; `steps` lead from an operator
    inside another to its fields (`Desc`, in the long form).
    """

    spec: OperatorSpec
    values: Mapping[str, Any]
    parts: Mapping[str, tuple[Part, ...]]
    broken: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()
    steps: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: OperatorSpec, values: Mapping[str, Any], broken: frozenset[str] = frozenset()) -> OperatorDesc:
        """Return the desc with these values."""
        parts: dict[str, tuple[Part, ...]] = {}
        for field in (*spec.inputs, *spec.outputs):
            name = field.name
            value = values.get(name)
            if isinstance(value, TensorDesc):
                parts[name] = (Part(name, (name,), value),)
            else:
                parts[name] = tuple(
                    Part(f"{name}[{index}]", (name, index), tensor)
                    for index, tensor in enumerate(value or ())
                    if tensor is not None
                )
        return cls(spec, values, parts, broken)

    def tensor(self, name: str) -> TensorDesc | None:
        """Return a single tensor by its field's name, or None where the desc has none."""
        value = self.values.get(name)
        return value if isinstance(value, TensorDesc) else None

    def nested(self) -> Iterator[tuple[tuple[str | int, ...], OperatorDesc]]:
        """Yield the operators inside this one, each with its path."""
        for field in self.spec.operators:
            value = self.values.get(field.name)
            if isinstance(value, OperatorDesc):
                yield (field.name,), value
            else:
                for index, part in enumerate(value or ()):
                    if part is not None:
                        yield (field.name, index), part

    def tensors(self, kind: str | None = None) -> list[Part]:
        """Return the tensors of the desc, or those of one kind; inputs first."""
        fields = self.spec.fields
        return [part for name, parts in self.parts.items() if kind in (None, fields[name].kind) for part in parts]


# ---- cases and results


class Case(NamedTuple):
    """One case as its file has it, defaults merged in and matrix values put in."""

    id: str
    name: str
    file: str
    operator: str
    feature_level: str | None
    desc: Mapping[str, Any]
    inputs: Mapping[str, Any] | None
    outputs: Mapping[str, Any] | None
    invalid: tuple[str, ...] | None
    tolerance: Tolerance | None
    source: str | None
    tags: tuple[str, ...]
    note: str | None
    origin: Any

    @property
    def position(self) -> Position:
        """Where the case starts in its file."""
        return self.origin.position()  # type: ignore[no-any-return]

    @property
    def is_plain_desc(self) -> bool:
        """Whether there is nothing to run: no inputs, outputs or invalid."""
        return self.inputs is None and self.outputs is None and self.invalid is None


PASSED = "passed"
FAILED = "failed"
ERRORED = "error"
SKIPPED = "skipped"
OUTCOMES = (PASSED, FAILED, ERRORED, SKIPPED, "xfailed", "xpassed")


class Element(NamedTuple):
    """An element of an output that differs: its index, the values, the error in ULP and as a share of the bound."""

    place: tuple[int, ...]
    expected: int | float
    actual: int | float
    ulp: float
    share: float | None


class OutputResult(NamedTuple):
    """How one output compares with what is expected.

    `first` and `worst` are outside the tolerance; `most_off` is the element of the largest error, which may be inside,
    and `closest` that of the largest share of its bound. `max_ulp` is in units for integers; `max_share` is None where
    nothing but equal elements is allowed. `bound` says in words which tolerance was applied and `decided_by` whose it
    is and why it is so, `shape` what was wrong with the shape or type instead of values.
    `profile` is the largest error in each of up to 64 equal stretches of the output, where any element is wrong: in
    units in the last place, or in units for integers.
    """

    elements: int
    mismatches: int = 0
    max_ulp: float = 0.0
    max_share: float | None = None
    unspecified: int = 0
    first: tuple[Element, ...] = ()
    worst: Element | None = None
    most_off: Element | None = None
    closest: Element | None = None
    data_type: str = ""
    sizes: tuple[int, ...] = ()
    bound: str = ""
    decided_by: str = ""
    shape: str | None = None
    profile: tuple[float, ...] = ()


class Drift(NamedTuple):
    """An output that is less accurate than in an earlier report: its largest error then and now, as `max_ulp` has it.

    `is_failure` where that is more than the run allows.
    """

    output: str
    old_ulp: float
    new_ulp: float
    is_failure: bool


class Placed(NamedTuple):
    """What reports need of the file that a case is from: where the case starts, and some of the file's lines.

    It takes the place of a case's origin where the file itself is not at hand: in another process, or later.
    """

    start: Position
    lines: Mapping[int, str] = {}

    def position(self) -> Position:
        """Return where the case starts."""
        return self.start

    @property
    def document(self) -> Placed:
        """The lines, which reports ask the file for."""
        return self

    def line(self, number: int) -> str:
        """Return the text of a line, "" where it is not known."""
        return self.lines.get(number, "")


class CaseResult(NamedTuple):
    """What became of one case; `is_malformed` where it is the file that is wrong, and nothing was run.

    `ordinal` counts the cases of the whole set before it, where the run is one shard of several. `warned` names the
    outputs of a passed case that come close to their bound, where the run asks for it; `drift` has those that became
    less accurate.
    """

    case: Case
    outcome: str
    reason: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    outputs: Mapping[str, OutputResult] = {}
    seconds: float = 0.0
    level: str | None = None
    is_malformed: bool = False
    ordinal: int | None = None
    warned: tuple[str, ...] = ()
    drift: tuple[Drift, ...] = ()
