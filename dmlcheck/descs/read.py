"""Reading a desc: names, types and counts at any feature level, and the rules for every tensor of any operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.fields import (
    EXPECTED,
    LARGEST,
    LONG_FORM,
    is_finite_as,
    is_uint,
    long_form_strays,
    missing,
    mistyped,
    read_enum,
    read_number,
    read_numbers,
    read_struct,
    unknown,
    unknown_fields,
)
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.strides import elements_overlap, is_output_taken, packed_strides
from dmlcheck.diagnostics.record import (
    ABSENT,
    AT_LEAST,
    AT_MOST,
    BETWEEN,
    ELEMENTS,
    EQUAL,
    LENGTH,
    ONE_OF,
    Checking,
    Claim,
    Finding,
    collected,
)
from dmlcheck.diagnostics.wording import brackets, counted, describe, dimensions_text, misspelt
from dmlcheck.files.document import Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES, ENUMS, MAX_ELEMENTS, UINT64_MAX, UINT_MAX, integer_range
from dmlcheck.specs.records import OUTPUT, Field, OperatorSpec, Releases


class Reading(NamedTuple):
    """A desc read against its operator's spec: its fields, and the findings that are the same at every level."""

    desc: OperatorDesc | None
    findings: tuple[Finding, ...]


def read_desc(operator: str, raw: Any) -> Reading:
    """Read the fields of a desc; the findings are the same at every feature level."""
    name = full_name(operator) if isinstance(operator, str) else None
    if name is None:
        operator = operator if isinstance(operator, str) else describe(operator)
        return Reading(None, (_unknown_operator(operator, ("operator",)),))
    if not isinstance(raw, Mapping):
        return Reading(None, (mistyped("desc", raw, ("desc",), f"a mapping with the fields of {name}"),))
    desc, findings = collected(_read_fields(load_spec(name), raw, ("desc",)))
    return Reading(desc, tuple(findings))


def _unknown_operator(operator: str, path: Path) -> Finding:
    from dmlcheck.specs.search import meant_operator

    return Finding("unknown-operator", path, {"found": operator or "''"}, help=meant_operator(operator, most=1))


def _read_fields(
    spec: OperatorSpec, raw: Mapping[str, Any], path: Path, *, is_nested: bool = False
) -> Checking[OperatorDesc]:
    values: dict[str, Any] = {}
    is_known = raw.keys() <= spec.fields.keys()
    broken = set() if is_known else set(misspelt(raw, spec.fields).values())
    if "<<" in raw:  # no key of YAML 1.2, but fields that are not here were meant to come with it
        broken.update(name for name in spec.fields if raw.get(name) is None)
    for name, field in spec.fields.items():
        given = raw.get(name)
        if is_nested and field.is_tensor:
            if given is not None:
                yield _tensor_inside(name, (*path, name))
        elif given is not None:
            value = yield from _READERS[field.type](field, given, (*path, name))
            if value is None:
                broken.add(name)
            else:
                values[name] = value
        elif not field.optional and not field.counts and name not in broken:
            yield missing(spec.operator, name, (*path, name), f"{name} is {_expected(spec, field)}")
    if not is_known:
        yield from _unknown(spec, raw, path, is_nested=is_nested)
    known = yield from _completed(spec, values, path)
    derived = frozenset(field.name for field in spec.fields.values() if field.counts and raw.get(field.name) is None)
    return OperatorDesc.of(spec, known, frozenset(broken))._replace(derived=derived)


def _unknown(spec: OperatorSpec, raw: Mapping[str, Any], path: Path, *, is_nested: bool) -> Iterator[Finding]:
    """Yield a finding for each unknown field; the desc of a nested operator has no tensors."""
    fields = [name for name, field in spec.fields.items() if not (is_nested and field.is_tensor)]
    given = {name: value for name, value in raw.items() if name in fields or name not in spec.fields}
    return unknown_fields(spec.operator, given, fields, path)


def _completed(spec: OperatorSpec, values: Mapping[str, Any], path: Path) -> Checking[dict[str, Any]]:
    """Return the values with the counts filled in, and without scalars that their data type cannot hold."""
    completed = dict(values)
    for name, field in spec.fields.items():
        value = values.get(name)
        if field.counts:
            value = yield from _count(field, values, (*path, name))
        elif field.data_type is not None:
            value = yield from _scalar(field, value, values.get(field.data_type), (*path, name))
        else:
            continue
        if value is None:
            completed.pop(name, None)
        else:
            completed[name] = value
    return completed


def _tensor_inside(name: str, path: Path) -> Finding:
    """Return the finding about a tensor in the desc of a nested operator."""
    params = {"field": name, "why": "inside another operator, whose tensors it takes"}
    return Finding("excluded-field", path, params, help=f"leave {name} out", claim=Claim(path, ABSENT))


def _count(field: Field, values: Mapping[str, Any], path: Path) -> Checking[int | None]:
    """Return a count: the given one, or else the length of its first array; yield a finding for each other length."""
    lengths = {array: len(values[array]) for array in field.counts if array in values}
    given = values.get(field.name)
    count = next(iter(lengths.values()), None) if given is None else given
    for array, length in lengths.items():
        if count is not None and count != length:
            params = {"count": field.name, "found": count, "array": array, "length": counted(length, "element")}
            if given is None:
                first = next(iter(lengths))
                help = f"{field.name} is left out: it is the length of {first}, {counted(count, 'element')}"
                place = (*path[:-1], array)
                yield Finding("count-mismatch", place, params, help, claim=Claim((*place, LENGTH), EQUAL, count))
            else:
                help = f"write {length}, or leave {field.name} out"
                if 0 < count <= _MOST_ADVISED:
                    help += f"; or give {array} {counted(count, 'element')}"
                yield Finding("count-mismatch", path, params, help, claim=Claim(path, EQUAL, length))
            return None  # either may be the wrong one, so no row judges the count
    return count


_MOST_ADVISED = 16  # elements of an array


def _scalar(field: Field, value: Any, data_type: str | None, path: Path) -> Checking[Any]:
    """Return a scalar, or None if the data type that another field gives it cannot hold it."""
    kind = DATA_TYPES[data_type or "UNKNOWN"].kind
    if value is None or data_type is None or kind == "none":
        return value
    if kind == "float":
        is_held, help = is_finite_as(data_type, value), "write inf, or a smaller value"
        own = Claim(path, AT_MOST, LARGEST[data_type])
    else:
        low, high = integer_range(data_type)
        is_held = low <= value <= high and value == int(value)
        help = f"{data_type} can hold whole numbers from {low} to {high}"
        own = Claim(path, BETWEEN, (low, high))
    if is_held:
        return value
    params = {"element": field.name, "found": describe(value), "type": data_type}
    yield Finding("value-not-representable", path, params, help, claim=own)
    return None


# ---- field types


def _read_plain(field: Field, given: Any, path: Path) -> Checking[Any]:
    if field.enum is not None:
        return read_enum(field.enum, field.name, given, path)
    return read_number("BOOL" if field.boolean else field.type, field.name, given, path)


def _read_array(field: Field, given: Any, path: Path) -> Checking[tuple[Any, ...] | None]:
    return read_numbers(field.type.removesuffix("_ARRAY"), field.name, given, path)


def _read_struct(field: Field, given: Any, path: Path) -> Checking[Any]:
    return read_struct(field.type, field.name, given, path)


def _read_tensors(field: Field, given: Any, path: Path) -> Checking[tuple[TensorDesc | None, ...] | None]:
    def read(label: str, part: Any, place: Path) -> Checking[TensorDesc | None]:
        return read_tensor(label, part, place, is_output=field.kind == OUTPUT)

    return _read_each(field, given, path, read)


def _read_operators(field: Field, given: Any, path: Path) -> Checking[tuple[OperatorDesc | None, ...] | None]:
    return _read_each(field, given, path, lambda _, part, place: _read_operator(field, part, place))


def _read_each(
    field: Field, given: Any, path: Path, read: Callable[[str, Any, Path], Checking[Any]]
) -> Checking[tuple[Any, ...] | None]:
    """Read the parts of a list of tensors or of operators, each as its name, its value and its path."""
    if not isinstance(given, (list, tuple)):
        yield mistyped(field.name, given, path, EXPECTED[field.type])
        return None
    parts = []
    for index, part in enumerate(given):
        parts.append((yield from read(f"{field.name}[{index}]", part, (*path, index))))
    return tuple(parts)


def _read_operator(field: Field, given: Any, path: Path) -> Checking[OperatorDesc | None]:
    """Read an operator inside an operator: {Type, ...fields} or {Type, Desc}."""
    if not isinstance(given, Mapping):
        yield mistyped(field.name, given, path, EXPECTED[field.type])
        return None
    name = yield from _operator_name(field, given, (*path, "Type"))
    if name is None:
        return None
    if "Desc" in misspelt(given, (*load_spec(name).fields, *LONG_FORM)).values():
        yield from long_form_strays(field.name, given, path)
        return None
    if "Desc" not in given:
        inner: Any = {key: given[key] for key in given if key != "Type"}
        return (yield from _read_fields(load_spec(name), inner, path, is_nested=True))
    yield from long_form_strays(field.name, given, path)
    inner, path = given["Desc"], (*path, "Desc")
    if not isinstance(inner, Mapping):
        yield mistyped(f"{field.name}.Desc", inner, path, f"the fields of {name}")
        return None
    return (yield from _read_fields(load_spec(name), inner, path, is_nested=True))._replace(steps=("Desc",))


def _operator_name(field: Field, given: Mapping[str, Any], path: Path) -> Checking[str | None]:
    """Return the full name of the operator of a nested desc."""
    operator = given.get("Type")
    slip = next(iter(misspelt(given, ("Type",))), None)
    if operator is None and slip is not None:
        yield unknown(field.name, slip, path[:-1], "did you mean Type?")
    elif operator is None:
        yield missing(field.name, "Type", path, "Type names the operator")
    elif not isinstance(operator, str):
        yield mistyped(f"{field.name}.Type", operator, path, "an operator's name")
    else:
        name = full_name(operator)
        if name is None:
            yield _unknown_operator(operator, path)
        return name
    return None


def _expected(spec: OperatorSpec, field: Field) -> str:
    """Return the help for a missing field; for a tensor, an example that the support tables allow."""
    if field.enum:
        return f"one of {' '.join(name for name in ENUMS[field.enum] if name != 'UNKNOWN')}"
    if field.type == "TENSOR_DESC":
        return f"a mapping such as {_example(spec, field.name)}"
    return EXPECTED["BOOL" if field.boolean else field.type]


def _example(spec: OperatorSpec, name: str) -> str:
    rows = [row[name] for row in spec.support[0].rows.values() if name in row] if spec.support else []
    types = [name for name in rows[0].types if all(name in row.types for row in rows)] if rows else []
    data_type = "FLOAT32" if not types or "FLOAT32" in types else types[0]
    rank = 2 if not rows or 2 in rows[0].dims else min(rows[0].dims)
    return f"{{DataType: {data_type}, Sizes: {[1] * (rank - 2) + [2, 3][-rank:]}}}"


_READERS: dict[str, Callable[[Field, Any, Path], Checking[Any]]] = {
    "UINT": _read_plain,
    "INT": _read_plain,
    "FLOAT": _read_plain,
    "BOOL": _read_plain,
    "SCALAR_UNION": _read_plain,
    "UINT_ARRAY": _read_array,
    "INT_ARRAY": _read_array,
    "FLOAT_ARRAY": _read_array,
    "SIZE_2D": _read_struct,
    "SCALE_BIAS": _read_struct,
    "TENSOR_DESC": lambda field, given, path: read_tensor(field.name, given, path, is_output=field.kind == OUTPUT),
    "TENSOR_DESC_ARRAY": _read_tensors,
    "OPERATOR_DESC": _read_operator,
    "OPERATOR_DESC_ARRAY": _read_operators,
}


TENSOR_FIELDS = (
    "DataType",
    "Sizes",
    "Flags",
    "DimensionCount",
    "Strides",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
)
_FIELDS = frozenset(TENSOR_FIELDS)
_DATA_TYPE_OF = {f"{prefix}{name}": name for name in DATA_TYPES for prefix in ("", DATA_TYPE_PREFIX)}


def read_tensor(label: str, given: Any, path: Path, *, is_output: bool) -> Checking[TensorDesc | None]:
    """Return a tensor desc whose fields have the right types, or None; the rules for every tensor are checked too."""
    if not isinstance(given, Mapping):
        yield mistyped(label, given, path, EXPECTED["TENSOR_DESC"])
        return None
    if given.keys() <= _FIELDS:
        return (yield from _Tensor(label, given, path, is_output).read())
    if "Desc" in misspelt(given, (*TENSOR_FIELDS, *LONG_FORM)).values():
        yield from long_form_strays(label, given, path)
        return None
    if "Desc" in given or "Type" in given:
        given, path = yield from _long_form(label, given, path)
        if given is None:
            return None
    yield from unknown_fields(label, given, TENSOR_FIELDS, path, "a tensor's fields are")
    return (yield from _Tensor(label, given, path, is_output).read())


def _long_form(label: str, given: Mapping[str, Any], path: Path) -> Checking[tuple[Mapping[str, Any] | None, Path]]:
    """Unwrap {Type: BUFFER, Desc: {...}}."""
    if given.get("Type") is not None:
        kind = yield from read_enum("DML_TENSOR_TYPE", f"{label}.Type", given["Type"], (*path, "Type"))
        if kind == "INVALID":
            params = {"field": f"{label}.Type", "found": "INVALID", "expected": "BUFFER"}
            yield Finding("field-type", (*path, "Type"), params)
    if "Desc" not in given:
        return {key: value for key, value in given.items() if key != "Type"}, path
    yield from long_form_strays(label, given, path)
    path = (*path, "Desc")
    if not isinstance(given["Desc"], Mapping):
        yield mistyped(f"{label}.Desc", given["Desc"], path, EXPECTED["TENSOR_DESC"])
        return None, path
    return given["Desc"], path


class _Tensor(NamedTuple):
    """One tensor desc being read."""

    label: str
    given: Mapping[str, Any]
    path: Path
    is_output: bool

    def wrong(self, rule: str, steps: Path, asked: tuple[str, Any], help: str | None = None, **params: Any) -> Finding:
        """Return a finding at a place in the tensor, with its claim if a relation to a limit is required."""
        path = (*self.path, *steps)
        return Finding(rule, path, {"tensor": self.label, **params}, help, claim=Claim(path, *asked))

    def read(self) -> Checking[TensorDesc | None]:
        data_type = yield from self.data_type()
        sizes = yield from self.uints("Sizes")
        if len(self.given) > 2 or data_type is None or sizes is None:
            return (yield from self.with_layout(data_type, sizes))
        wrong = list(self.size_findings(sizes))
        yield from wrong
        return None if wrong else TensorDesc(data_type, sizes)

    def data_type(self) -> Checking[str | None]:
        found = yield from self.required("DataType")
        known = _DATA_TYPE_OF.get(found) if isinstance(found, str) else None
        if known is None and found is not None:
            path = (*self.path, "DataType")
            return (yield from read_enum("DML_TENSOR_DATA_TYPE", f"{self.label}.DataType", found, path))
        return known

    def required(self, key: str) -> Checking[Any]:
        found = self.given.get(key)
        if found is None and key not in misspelt(self.given, TENSOR_FIELDS).values():
            yield missing(self.label, key, (*self.path, key))
        return found

    def uints(self, key: str) -> Checking[tuple[int, ...] | None]:
        found = (yield from self.required(key)) if key == "Sizes" else self.given.get(key)
        if found is None:
            return None
        return (yield from read_numbers("UINT", f"{self.label}.{key}", found, (*self.path, key)))

    def number(self, key: str, most: int) -> Checking[int | None]:
        found = self.given.get(key)
        if found is None or is_uint(found, most):
            return found
        yield mistyped(f"{self.label}.{key}", found, (*self.path, key), f"a whole number from 0 to {most}")
        return None

    # ---- sizes

    def size_findings(self, sizes: tuple[int, ...]) -> Iterator[Finding]:
        """Yield the reasons why nothing can be checked that depends on the sizes."""
        zeros = [axis for axis, size in enumerate(sizes) if size == 0]
        for axis in zeros[:_MOST_ZEROS]:
            problem = f"has a 0 at dimension {axis}; every size must be at least 1"
            yield self.wrong("invalid-sizes", ("Sizes", axis), (AT_LEAST, 1), problem=problem)
        count = 0 if zeros else _least_count(sizes)
        if count > MAX_ELEMENTS:
            made = f"{count:,}" if len(sizes) <= _MOST_SIZES else "far too many"
            problem = f"make {made} elements; a tensor has at most {MAX_ELEMENTS:,}"
            found = self.wrong("invalid-sizes", ("Sizes",), (AT_MOST, MAX_ELEMENTS), problem=problem)
            yield found._replace(claim=Claim((*self.path, ELEMENTS), AT_MOST, MAX_ELEMENTS))

    # ---- fields other than DataType and Sizes, each checked if the others allow it

    def with_layout(self, data_type: str | None, sizes: tuple[int, ...] | None) -> Checking[TensorDesc | None]:
        flags = yield from self.flags()
        yield from self.count_findings(sizes)
        total = yield from self.number("TotalTensorSizeInBytes", UINT64_MAX)
        alignment = yield from self.alignment(data_type)
        strides = yield from self.strides(sizes)
        if sizes is None:
            return None
        wrong = list(self.size_findings(sizes))
        yield from wrong
        if wrong:
            return None
        tensor = TensorDesc(data_type or "UNKNOWN", sizes, strides, total, alignment, flags)
        yield from self.memory_findings(tensor)
        return None if data_type is None else tensor

    def flags(self) -> Checking[str]:
        """Return NONE or OWNED_BY_DML from a flag or a list of flags."""
        given = self.given.get("Flags")
        if given is None:
            return "NONE"
        flags = set()
        for name in given if isinstance(given, (list, tuple)) else [given]:
            flags.add((yield from read_enum("DML_TENSOR_FLAGS", f"{self.label}.Flags", name, (*self.path, "Flags"))))
        if "OWNED_BY_DML" not in flags:
            return "NONE"
        if self.is_output:
            problem = "only an input can be owned by DirectML"
            asked, found = (ABSENT, None), "OWNED_BY_DML"
            yield self.wrong("invalid-flags", ("Flags",), asked, "leave Flags out", found=found, problem=problem)
        return "OWNED_BY_DML"

    def count_findings(self, sizes: tuple[int, ...] | None) -> Checking[None]:
        count = yield from self.number("DimensionCount", UINT_MAX)
        if count is not None and sizes is not None and count != len(sizes):
            names = {"count": f"{self.label}.DimensionCount", "array": f"{self.label}.Sizes"}
            help = f"write {len(sizes)}, or leave DimensionCount out"
            length = counted(len(sizes), "element")
            asked = (EQUAL, len(sizes))
            yield self.wrong("count-mismatch", ("DimensionCount",), asked, help, found=count, length=length, **names)

    def alignment(self, data_type: str | None) -> Checking[int]:
        found = (yield from self.number("GuaranteedBaseOffsetAlignment", UINT_MAX)) or 0
        of_element = max(1, DATA_TYPES[data_type].bits // 8) if data_type else 1
        if found not in (0, *_ALIGNMENTS):
            asked, place = (ONE_OF, (0, *_ALIGNMENTS)), ("GuaranteedBaseOffsetAlignment",)
            is_documented = not found & (found - 1) and found >= of_element
            wrong = self.wrong("invalid-alignment", place, asked, found=found, least=_ALIGNMENTS[0])
            yield wrong._replace(is_measured=is_documented)
        return found

    def strides(self, sizes: tuple[int, ...] | None) -> Checking[tuple[int, ...] | None]:
        strides = yield from self.uints("Strides")
        if strides is None or sizes is None or len(strides) == len(sizes):
            return strides
        problem = f"has {counted(len(strides), 'element')} for {dimensions_text(len(sizes))}"
        asked = (EQUAL, len(sizes))
        found = self.wrong("invalid-strides", ("Strides",), asked, _packed_help(sizes), problem=problem)
        yield found._replace(claim=Claim((*self.path, "Strides", LENGTH), EQUAL, len(sizes)))
        return None

    def memory_findings(self, tensor: TensorDesc) -> Iterator[Finding]:
        if self.is_output and tensor.strides is not None:
            yield from self.overlap_findings(tensor.sizes, tensor.strides)
        total, needed = tensor.total_size, tensor.implied_bytes
        if total is not None and total < needed:
            help = f"write {needed} or more, or leave TotalTensorSizeInBytes out"
            asked = (AT_LEAST, needed)
            yield self.wrong("tensor-too-small", ("TotalTensorSizeInBytes",), asked, help, found=total, needed=needed)

    def overlap_findings(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Iterator[Finding]:
        for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
            if size > 1 and stride == 0:
                problem = f"has a 0 at dimension {axis} of size {size}; an output's elements may not share memory"
                yield self.wrong(
                    "invalid-strides", ("Strides", axis), (AT_LEAST, 1), _packed_help(sizes), problem=problem
                )
                return
        if elements_overlap(sizes, strides):
            problem = "make elements overlap; each element of an output needs a place of its own"
            asked = (EQUAL, packed_strides(sizes))
            taken = Releases() if is_output_taken(sizes, strides) else None
            help = "; ".join(filter(None, (_packed_help(sizes), taken and taken.told)))
            found = self.wrong("invalid-strides", ("Strides",), asked, help, problem=problem)
            yield found if taken is None else found._replace(taken_by=taken.all)


_MOST_ZEROS = 10  # reported of one tensor
_MOST_SIZES = 32  # multiplied and shown; no feature level takes more than 8
_ALIGNMENTS = tuple(1 << bit for bit in range(4, 32))  # from DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT on, as measured


def _least_count(sizes: tuple[int, ...]) -> int:
    """Return the number of elements that sizes make; of a great many sizes only as much as is too many already."""
    count = 1
    for size in sizes:
        count *= size
        if count > MAX_ELEMENTS and len(sizes) > _MOST_SIZES:
            break
    return count


def _packed_help(sizes: tuple[int, ...]) -> str:
    if len(sizes) > _MOST_SIZES:
        return "leave Strides out"
    return f"packed strides are {brackets(packed_strides(sizes))}, as if Strides were left out"
