"""Tensor descs: their fields, and the rules of DML_BUFFER_TENSOR_DESC for every tensor of any operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.fields import (
    EXPECTED,
    LONG_FORM,
    is_uint,
    long_form_strays,
    missing,
    mistyped,
    read_enum,
    read_numbers,
    unknown_fields,
)
from dmlcheck.descs.records import TensorDesc
from dmlcheck.descs.strides import elements_overlap, is_output_taken, packed_strides
from dmlcheck.diagnostics.record import (
    ABSENT,
    AT_LEAST,
    AT_MOST,
    ELEMENTS,
    EQUAL,
    LENGTH,
    ONE_OF,
    Checking,
    Claim,
    Finding,
)
from dmlcheck.diagnostics.wording import brackets, counted, dimensions_text, misspelt
from dmlcheck.files.document import Path
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES, MAX_ELEMENTS, UINT64_MAX, UINT_MAX
from dmlcheck.specs.records import Releases

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
