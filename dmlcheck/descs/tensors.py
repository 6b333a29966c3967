"""Tensor descs: their fields, and the rules of DML_BUFFER_TENSOR_DESC that hold for every operator."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from dmlcheck.descs.fields import EXPECTED, is_uint, read_enum, read_uints
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe, elements_text, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.specs.names import DATA_TYPES, MAX_ELEMENTS, UINT64_MAX, UINT_MAX, enum_prefix

_Findings = list[Finding]

TENSOR_FIELDS = (
    "DataType",
    "Sizes",
    "Flags",
    "DimensionCount",
    "Strides",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
)
_DATA_TYPE_OF = {f"{prefix}{name}": name for name in DATA_TYPES for prefix in ("", enum_prefix("DML_TENSOR_DATA_TYPE"))}


def read_tensor(label: str, given: Any, path: Path, findings: _Findings, *, is_output: bool) -> TensorDesc | None:
    """Return a tensor desc whose fields have the right types, or None; its rules are checked as far as they can be."""
    if not isinstance(given, Mapping):
        params = {"field": label, "found": describe(given), "expected": EXPECTED["TENSOR_DESC"]}
        findings.append(Finding("field-type", path, params))
        return None
    if "Desc" in given or "Type" in given:
        given, path = _long_form(label, given, path, findings)
        if given is None:
            return None
    return _Tensor(label, given, path, findings, is_output=is_output).read()


def _long_form(label: str, given: Mapping[str, Any], path: Path, findings: _Findings) -> tuple[Any, Path]:
    """Unwrap {Type: BUFFER, Desc: {...}}."""
    if given.get("Type") is not None:
        kind = read_enum("DML_TENSOR_TYPE", f"{label}.Type", given["Type"], (*path, "Type"), findings)
        if kind == "INVALID":
            params = {"field": f"{label}.Type", "found": "INVALID", "expected": "BUFFER"}
            findings.append(Finding("field-type", (*path, "Type"), params))
    if "Desc" not in given:
        return {key: value for key, value in given.items() if key != "Type"}, path
    for key in given:
        if key not in ("Type", "Desc"):
            help = "with Desc, all fields but Type belong inside it"
            params = {"operator": label, "field": key}
            findings.append(Finding("unknown-field", (*path, key), params, help=help, at_key=True))
    inner = given["Desc"]
    if not isinstance(inner, Mapping):
        params = {"field": f"{label}.Desc", "found": describe(inner), "expected": EXPECTED["TENSOR_DESC"]}
        findings.append(Finding("field-type", (*path, "Desc"), params))
        return None, path
    return inner, (*path, "Desc")


class _Tensor:
    """One tensor desc being read."""

    def __init__(
        self, label: str, given: Mapping[str, Any], path: Path, findings: _Findings, *, is_output: bool
    ) -> None:
        self.label = label
        self.given = given
        self.path = path
        self.findings = findings
        self.is_output = is_output

    def wrong(self, rule: str, steps: Path, help: str | None = None, **params: Any) -> None:
        self.findings.append(Finding(rule, (*self.path, *steps), {"tensor": self.label, **params}, help=help))

    def read(self) -> TensorDesc | None:
        given = self.given
        for key, help in unknown_names(given, TENSOR_FIELDS, "a tensor's fields are"):
            params = {"operator": self.label, "field": key}
            self.findings.append(Finding("unknown-field", (*self.path, key), params, help=help, at_key=True))
        data_type = self.data_type()
        sizes = self.uints("Sizes")
        if len(given) > 2 or data_type is None or sizes is None:
            return self.layout(data_type, sizes)
        tensor = TensorDesc(data_type, sizes)
        return tensor if self.sizes_are_legal(tensor) else None

    def data_type(self) -> str | None:
        found = self.required("DataType")
        known = _DATA_TYPE_OF.get(found) if isinstance(found, str) else None
        if known is None and found is not None:
            place = (*self.path, "DataType")
            read_enum("DML_TENSOR_DATA_TYPE", f"{self.label}.DataType", found, place, self.findings)
        return known

    def required(self, key: str) -> Any:
        found = self.given.get(key)
        if found is None:
            params = {"operator": self.label, "field": key}
            self.findings.append(Finding("missing-field", (*self.path, key), params))
        return found

    def uints(self, key: str) -> tuple[int, ...] | None:
        found = self.required(key) if key == "Sizes" else self.given.get(key)
        if found is None:
            return None
        return read_uints(f"{self.label}.{key}", found, (*self.path, key), self.findings)

    def number(self, key: str, most: int) -> int | None:
        found = self.given.get(key)
        if found is None or is_uint(found, most):
            return found
        params = {"field": f"{self.label}.{key}", "found": describe(found), "expected": f"a number from 0 to {most}"}
        self.findings.append(Finding("field-type", (*self.path, key), params))
        return None

    # ---- rules

    def sizes_are_legal(self, tensor: TensorDesc) -> bool:
        """Whether what depends on the sizes can be checked; if not, the reason is among the findings."""
        if 0 in tensor.sizes:
            for axis in islice((axis for axis, size in enumerate(tensor.sizes) if size == 0), _MOST_ZEROS):
                problem = f"has a 0 at dimension {axis}; every size must be at least 1"
                self.wrong("invalid-sizes", ("Sizes", axis), problem=problem)
            return False
        count = tensor.element_count if len(tensor.sizes) <= _MOST_SIZES else _at_least(tensor.sizes)
        if count > MAX_ELEMENTS:
            made = f"{count:,}" if len(tensor.sizes) <= _MOST_SIZES else "far too many"
            problem = f"make {made} elements; a tensor has at most {MAX_ELEMENTS:,}"
            self.wrong("invalid-sizes", ("Sizes",), problem=problem)
        return count <= MAX_ELEMENTS

    def layout(self, data_type: str | None, sizes: tuple[int, ...] | None) -> TensorDesc | None:
        """Read the fields beside DataType and Sizes, each as far as the others allow."""
        flags = self.flags()
        self.check_count(sizes)
        total = self.number("TotalTensorSizeInBytes", UINT64_MAX)
        alignment = self.alignment(data_type)
        strides = self.strides(sizes)
        if sizes is None:
            return None
        tensor = TensorDesc(data_type or "UNKNOWN", sizes, strides, total, alignment, flags)
        if not self.sizes_are_legal(tensor):
            return None
        if self.is_output and strides is not None:
            self.check_overlap(sizes, strides)
        if data_type is None:
            return None
        if total is not None and total < tensor.implied_bytes:
            needed = tensor.implied_bytes
            help = f"write {needed} or more, or leave TotalTensorSizeInBytes out"
            self.wrong("tensor-too-small", ("TotalTensorSizeInBytes",), help, found=total, needed=needed)
        return tensor

    def flags(self) -> str:
        """Return NONE or OWNED_BY_DML from a flag or a list of flags."""
        given = self.given.get("Flags")
        if given is None:
            return "NONE"
        place = (*self.path, "Flags")
        names = given if isinstance(given, (list, tuple)) else [given]
        flags = {read_enum("DML_TENSOR_FLAGS", f"{self.label}.Flags", name, place, self.findings) for name in names}
        if "OWNED_BY_DML" not in flags:
            return "NONE"
        if self.is_output:
            problem = "only an input can be owned by DirectML"
            self.wrong("invalid-flags", ("Flags",), "leave Flags out", found="OWNED_BY_DML", problem=problem)
        return "OWNED_BY_DML"

    def check_count(self, sizes: tuple[int, ...] | None) -> None:
        count = self.number("DimensionCount", UINT_MAX)
        if count is not None and sizes is not None and count != len(sizes):
            names = {"count": f"{self.label}.DimensionCount", "array": f"{self.label}.Sizes"}
            help = f"write {len(sizes)}, or leave DimensionCount out"
            self.wrong(
                "count-mismatch", ("DimensionCount",), help, found=count, length=elements_text(len(sizes)), **names
            )

    def alignment(self, data_type: str | None) -> int:
        found = self.number("GuaranteedBaseOffsetAlignment", UINT_MAX) or 0
        least = max(1, DATA_TYPES[data_type].bits // 8) if data_type else 1
        if found and (found & (found - 1) or found < least):
            self.wrong("invalid-alignment", ("GuaranteedBaseOffsetAlignment",), found=found, least=least)
        return found

    def strides(self, sizes: tuple[int, ...] | None) -> tuple[int, ...] | None:
        strides = self.uints("Strides")
        if strides is None or sizes is None or len(strides) == len(sizes):
            return strides
        dimensions = "1 dimension" if len(sizes) == 1 else f"{len(sizes)} dimensions"
        problem = f"has {elements_text(len(strides))} for {dimensions}"
        self.wrong("invalid-strides", ("Strides",), _packed_help(sizes), problem=problem)
        return None

    def check_overlap(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
        for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
            if size > 1 and stride == 0:
                problem = f"has a 0 at dimension {axis} of size {size}; an output's elements may not share memory"
                self.wrong("invalid-strides", ("Strides", axis), _packed_help(sizes), problem=problem)
                return
        if elements_overlap(sizes, strides):
            problem = "make elements overlap; each element of an output needs a place of its own"
            self.wrong("invalid-strides", ("Strides",), _packed_help(sizes), problem=problem)


_MOST_ZEROS = 10  # reported of one tensor
_MOST_SIZES = 32  # multiplied and shown; no feature level takes more than 8


def _at_least(sizes: tuple[int, ...]) -> int:
    """Return the product of sizes, or of as many of them as are too many elements already."""
    count = 1
    for size in sizes:
        count *= size
        if count > MAX_ELEMENTS:
            break
    return count


def _packed_help(sizes: tuple[int, ...]) -> str:
    if len(sizes) > _MOST_SIZES:
        return "leave Strides out"
    return f"packed strides are [{', '.join(map(str, packed_strides(sizes)))}], as if Strides were left out"


# ---- strides


def packed_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a tensor laid out without gaps in row-major order."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


_OVERLAP_STEPS = 100_000


def elements_overlap(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two elements of a tensor lie at the same place.

    Exact but for layouts so tangled that the search is given up after 100,000 steps; those count as not overlapping.
    """
    dims = sorted(((stride, size - 1) for size, stride in zip(sizes, strides, strict=True) if size > 1), reverse=True)
    reach = [0]  # of the dimensions from each on: how far their elements spread
    for stride, last in reversed(dims):
        reach.append(reach[-1] + stride * last)
    reach.reverse()
    if all(stride > below for (stride, _), below in zip(dims, reach[1:], strict=True)):
        return False
    count = 1
    for _, last in dims:
        count *= last + 1
    return count > reach[0] + 1 or _has_null_step(dims, reach)


def _has_null_step(dims: list[tuple[int, int]], reach: list[int]) -> bool:
    """Whether some step between two elements, not 0 in every dimension, leads nowhere."""
    steps = 0
    todo = [(0, 0, False)]
    while todo:
        depth, offset, moved = todo.pop()
        if depth == len(dims):
            if moved:
                return True
            continue
        stride, last = dims[depth]
        if stride == 0:
            return True
        # Only steps that the dimensions below can still undo; the first that is not 0 may be taken as positive.
        below = reach[depth + 1]
        least = max(-last if moved else 0, -((offset + below) // stride))
        most = min(last, (below - offset) // stride)
        for step in range(least, most + 1):
            steps += 1
            if steps > _OVERLAP_STEPS:
                return False
            todo.append((depth + 1, offset + step * stride, moved or step != 0))
    return False
