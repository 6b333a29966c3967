"""Case files that were made, not written by hand: YAML that reads well, and reads back as the same descs and values."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.descs.write import without_counts
from dmlcheck.files.npy import npy_bytes
from dmlcheck.files.yaml_text import flow, text
from dmlcheck.folders.export_folder import free_name, safe_name, tensor_file
from dmlcheck.values.layouts import Array, laid_out
from dmlcheck.values.number_formats import spell

FORM = "cases"  # the format of an import's files

_INLINE = 128  # elements; a larger tensor is in a file next to the case file
_WIDTH = 110  # characters


class Place(Protocol):
    """Where files are written: a folder, or next to a file."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file by its name, with / between its parts; OSError where it cannot be written."""


class Written(NamedTuple):
    """A case to write: its name, valid desc and values; `more` are its other keys, without those that are None.

    Values are arrays, or in the notation of case files (`{random: ...}`). Elements of outputs that a mask of NumPy
    hides are undefined. A case of only a desc has None as inputs.
    """

    name: str
    desc: OperatorDesc
    inputs: Mapping[str, Any] | None
    outputs: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = {}


def apart(cases: Iterable[Written]) -> list[Written]:
    """Return cases with names of their own."""
    taken: set[str] = set()
    return [case._replace(name=free_name(case.name, taken)) for case in cases]


def write_cases(place: Place, stem: str, cases: Sequence[Written], comment: str, **defaults: Any) -> str:
    """Write a case file and the files of its larger values; return its name in the folder.

    A single case is the file itself where its name is the file's; `defaults` are keys that all cases have.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [f"{key}: {flow(value)}" for key, value in defaults.items()]
    files = _Files(place, stem)
    if len(cases) == 1 and cases[0].name == os.path.basename(stem):
        lines += _case_lines(files, cases[0])
    else:
        lines.append("cases:")
        for case in cases:
            lines.append(f"  - name: {text(case.name)}")
            lines += (f"    {line}" for line in _case_lines(files, case))
    place.write(f"{stem}.yaml", ("\n".join(lines) + "\n").encode())
    return f"{stem}.yaml"


class _Files:
    """The files of values next to a case file, in a folder of its name."""

    def __init__(self, place: Place, stem: str) -> None:
        self.place = place
        self.stem = stem
        self.taken: set[str] = set()

    def write(self, case: str, label: str, values: Array) -> str:
        """Write values and return the path that the case file, which is next to their folder, has for them."""
        stem = free_name(f"{safe_name(case)}.{tensor_file(label).removesuffix('.npy')}", self.taken)
        self.place.write(f"{self.stem}/{stem}.npy", npy_bytes(values))
        return f"{os.path.basename(self.stem)}/{stem}.npy"


def _case_lines(files: _Files, case: Written) -> Iterator[str]:
    """Yield the lines of a case without its name, not indented."""
    desc = case.desc
    yield f"operator: {desc.spec.operator}"
    yield from (f"{key}: {flow(value)}" for key, value in case.more.items() if value is not None)
    yield from desc_lines(desc)
    for section, values in (("inputs", case.inputs), ("outputs", case.outputs)):
        if values is None:
            continue
        yield f"{section}:" if values else f"{section}: {{}}"
        for field, given in values.items():
            yield from _field_lines(files, case.name, field, given, desc.parts[field])


def desc_lines(desc: OperatorDesc) -> Iterator[str]:
    """Yield the lines of a valid desc, without the counts that follow from its arrays."""
    yield "desc:"
    yield from (f"  {name}: {flow(value)}" for name, value in without_counts(desc).items())


def _field_lines(files: _Files, case: str, field: str, given: Any, parts: Sequence[TensorPart]) -> Iterator[str]:
    if not isinstance(given, list):
        yield from _value_lines(files, case, f"{field}: ", given, parts[0])
        return
    yield f"  {field}:"
    for part, values in zip(parts, given, strict=True):
        yield from (f"  {line}" for line in _value_lines(files, case, "- ", values, part))


def _value_lines(
    files: _Files, case: str, before: str, values: Array | dict[str, Any], part: TensorPart
) -> Iterator[str]:
    """Yield the values of a tensor after its name; many, and NaN with bits of its own, are written to a file."""
    if isinstance(values, dict):
        yield f"  {before}{flow(values)}"
        return
    tensor = part.tensor
    elements = laid_out(tensor, values) if _only_repeats(tensor) else None
    shown = values if elements is None else elements
    if not np.ma.is_masked(shown) and (shown.size > _INLINE or not _reads_back(shown)):
        yield f"  {before}{{file: {text(files.write(case, part.label, values))}}}"
        return
    opening, closing = ("", "") if elements is None else ("{buffer: ", "}")
    lines = list(_nested(shown, tensor.data_type))
    lines = [opening + lines[0], *(" " * len(opening) + line for line in lines[1:])]
    lines[-1] += closing
    if len(lines) == 1:
        yield f"  {before}{lines[0]}"
    else:
        yield f"  {before.rstrip()}"
        yield from (f"    {line}" for line in lines)


def _nested(values: Array, data_type: str) -> Iterator[str]:
    """Yield an array as a nested YAML flow list: on one line where it fits, else a line for each part."""
    one = _on_one_line(values, data_type)
    if len(one) <= _WIDTH:
        yield one
    elif values.ndim == 1:
        yield from textwrap.wrap(one, _WIDTH, break_long_words=False, break_on_hyphens=False)
    else:
        last = len(values) - 1
        for index, part in enumerate(values):
            lines = list(_nested(part, data_type))
            lines[0] = ("[" if index == 0 else " ") + lines[0]
            lines[1:] = [f" {line}" for line in lines[1:]]
            lines[-1] += "]" if index == last else ","
            yield from lines


def _on_one_line(values: Array, data_type: str) -> str:
    if values.ndim <= 1:
        elements = values.reshape(-1).tolist()
        return "[" + ", ".join("any" if one is None else spell(one, data_type) for one in elements) + "]"
    return "[" + ", ".join(_on_one_line(part, data_type) for part in values) + "]"


def _only_repeats(tensor: TensorDesc) -> bool:
    """Whether strides of 0 repeat the elements of a buffer that has nothing else in it."""
    if tensor.strides is None or 0 not in tensor.strides:
        return False
    own = [size for size, stride in zip(tensor.sizes, tensor.strides, strict=True) if stride]
    return tensor.extent == int(np.prod(own, dtype=object)) < tensor.element_count and not tensor.shares_places


def _reads_back(values: Array) -> bool:
    """Whether text says it all: NaN is written without the bits that tell one from another."""
    if values.dtype.kind != "f":
        return True
    bits = np.dtype(f"u{values.dtype.itemsize}")
    plain = np.array(np.nan, dtype=values.dtype).view(bits)
    return bool((np.ascontiguousarray(values).view(bits)[np.isnan(values)] == plain).all())
