"""The example of an operator: its tensors as grids, and code in C++, YAML, Python and for ONNX."""

from __future__ import annotations

import math
import pprint
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.reports.site.code import onnx_code, program
from dmlcheck.specs.recipes import Recipe
from dmlcheck.specs.records import INPUT, OperatorSpec
from dmlcheck.validation import validate
from dmlcheck.values.literals import ANY

_SHADES = 5


class Cell(NamedTuple):
    """An element as it is printed, and how dark it is: the larger of its tensor, the darker."""

    text: str
    shade: int


class Grid(NamedTuple):
    """A tensor: its role, its data type and sizes, and its elements in matrices of rows."""

    name: str
    role: str
    data_type: str
    sizes: tuple[int, ...]
    matrices: tuple[tuple[tuple[Cell, ...], ...], ...]


class Example(NamedTuple):
    """A case as a page shows it.

    `onnx` is empty where ONNX has no such operator, and where it cannot express this case: `not_in_onnx` says why.
    """

    source: str
    grids: tuple[Grid, ...]
    attributes: tuple[tuple[str, str], ...]
    yaml: str
    python: str
    cpp: str
    onnx: str
    not_in_onnx: str

    @property
    def has_undefined(self) -> bool:
        """Whether a result of it is undefined."""
        rows = (row for grid in self.grids for matrix in grid.matrices for row in matrix)
        return any(cell.text == ANY for row in rows for cell in row)


def example_of(spec: OperatorSpec, case: Case) -> Example:
    """Return the example that a case is, whose values are all written out."""
    values = {**(case.inputs or {}), **(case.outputs or {})}
    grids = tuple(grid for name, value in values.items() for grid in _grids(spec, name, case.desc[name], value))
    attributes = tuple((name, _short(value)) for name, value in case.desc.items() if not spec.fields[name].is_tensor)
    desc = _desc(spec, case)
    lines = [f"operator: {spec.operator}", "desc:", *_entries(case.desc)]
    lines += ["inputs:", *_entries(case.inputs)] if case.inputs else ["inputs: {}"]
    texts = ("\n".join(lines) + "\n", _python(spec, case), program(desc), *_onnx(desc))
    return Example(case.source or "", grids, attributes, *texts)


def _grids(spec: OperatorSpec, name: str, tensor: Any, value: Any) -> Iterator[Grid]:
    """Yield the grid of a tensor, or the grids of an array of tensors."""
    role = "input" if spec.fields[name].kind == INPUT else "output"
    if isinstance(tensor, list):
        for index, (one, part) in enumerate(zip(tensor, value, strict=True)):
            yield _grid(f"{name}[{index}]", role, one, part)
    else:
        yield _grid(name, role, tensor, value)


def _grid(name: str, role: str, tensor: Mapping[str, Any], value: Any) -> Grid:
    sizes = tuple(tensor["Sizes"])
    numbers = [math.nan if number == ANY else float(number) for number in _flat(value)]
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    texts = [ANY if raw == ANY else _number(number) for raw, number in zip(_flat(value), numbers, strict=True)]
    cells = [Cell(text, _shade(number, low, high)) for text, number in zip(texts, numbers, strict=True)]
    columns = sizes[-1]
    rows = [tuple(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    height = sizes[-2] if len(sizes) > 1 else 1
    matrices = tuple(tuple(rows[start : start + height]) for start in range(0, len(rows), height))
    return Grid(name, role, tensor["DataType"], sizes, matrices)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _number(number: float) -> str:
    """Return a whole number with all its digits, another with five, and a minus sign that is one."""
    is_whole = math.isfinite(number) and number == int(number)
    return with_minus_signs(f"{number:.10g}" if is_whole else f"{number:.5g}")


def with_minus_signs(text: str) -> str:
    """Return numbers as they are printed: with minus signs in place of hyphens."""
    return text.replace("-", "\N{MINUS SIGN}")


def _shade(number: float, low: float, high: float) -> int:
    if not math.isfinite(number) or high == low:
        return 0
    return min(_SHADES - 1, int((number - low) / (high - low) * _SHADES))


def _short(value: Any) -> str:
    """Return the value of an attribute as YAML has it, on one line."""
    text: str = yaml.safe_dump(_plain(value), default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix("...\n").strip()


def _plain(value: Any) -> Any:
    """Return a value of mappings, lists and numbers as YAML's writer takes it."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def recipe_yaml(spec: OperatorSpec, recipe: Recipe) -> str:
    """Return the case of a recipe with its results, as a file that `dmlcheck run` checks."""
    parts = (("desc", recipe.desc), ("inputs", recipe.inputs), ("outputs", recipe.outputs))
    lines = [line for name, values in parts if values for line in (f"{name}:", *_entries(values))]
    return "\n".join([f"operator: {spec.operator}", *lines]) + "\n"


def _entries(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entries of a mapping, each on a line."""
    return (f"  {name}: {_short(value)}" for name, value in values.items())


def _python(spec: OperatorSpec, case: Case) -> str:
    """Return a program that computes the example."""
    desc, inputs = (
        _assigned(name, _plain(value or {})) for name, value in (("desc", case.desc), ("inputs", case.inputs))
    )
    call = f'outputs = dmlcheck.evaluate("{spec.short}", desc, inputs)'
    prints = "for name, output in outputs.items():\n    print(name, output)"
    return f"import dmlcheck\n\n{desc}\n{inputs}\n{call}\n{prints}\n"


def _desc(spec: OperatorSpec, case: Case) -> OperatorDesc:
    """Return the desc of the example, which is valid."""
    desc, findings = validate(spec.operator, case.desc, case.level)
    if desc is None or findings:
        raise ValueError(f"the example of {spec.operator} is not valid")
    return desc


def _onnx(desc: OperatorDesc) -> tuple[str, str]:
    """Return the program that makes the example in ONNX, or why ONNX cannot express it; neither without counterpart."""
    if "ONNX" not in desc.spec.names:
        return "", ""
    try:
        return onnx_code(build(desc)), ""
    except Inexpressible as reason:
        return "", str(reason)


def _assigned(name: str, value: Any) -> str:
    text = pprint.pformat(value, sort_dicts=False, width=88, compact=True).replace("'", '"')
    first, *others = re.sub(r"(?<![\w\"])(-?)(nan|inf)\b", r'float("\1\2")', text).split("\n")
    return "\n".join([f"{name} = {first}", *(" " * (len(name) + 3) + line for line in others)])
