"""All possible inputs of element-wise operators: for one FLOAT16 or 8-bit tensor, or pairs for two 8-bit tensors.

Two FLOAT16 tensors have too many pairs: a seed chooses 256 numbers for each, and all pairs of these are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dmlcheck.cases.prepare import value_findings
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.descs import made_valid
from dmlcheck.drawing.draft import Raw, Sizes, draft
from dmlcheck.reference.bindings import row
from dmlcheck.reference.rows import ELEMENTS
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import INPUT, OperatorSpec
from dmlcheck.validation import validate
from dmlcheck.validation.support_tables import heading_at
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]

_ALL = 65_536  # elements of every tensor: the FLOAT16 numbers, or the pairs of 8-bit ones
_SIDE = 256
_SIZES = Sizes((_SIDE,), _ALL)
_TYPES = ("FLOAT16", "INT8", "UINT8")
_VARIANTS = 6  # of an operator that has attributes
_TRIES = 40  # drafts for one variant
_EDGES = (
    0x0000,
    0x8000,
    0x0001,
    0x8001,
    0x03FF,
    0x0400,
    0x3C00,
    0xBC00,
    0x3800,
    0x7BFF,
    0xFBFF,
    0x7C00,
    0xFC00,
    0x7E00,
)


def count(operator: str, level: str) -> int:
    """Return the number of descs for an operator: one for each type, and several if it has attributes."""
    spec = load_spec(operator)
    has_attributes = any(field.kind == "attribute" and not field.counts for field in spec.fields.values())
    return len(_kinds(operator, level)) * (_VARIANTS if has_attributes else 1)


@cache
def _kinds(operator: str, level: str) -> tuple[str, ...]:
    """Return the data types whose values are all run; none for an operator that is not element-wise."""
    spec = load_spec(operator)
    if row(operator).kernel.tiles is not ELEMENTS or not 1 <= len(_needed(spec)) <= len(_TYPES[1:]):
        return ()
    rows = [
        table.rows[heading_at(table, level) or ""] for table in spec.support if heading_at(table, level) is not None
    ]
    names = _needed(spec)
    return tuple(kind for kind in _TYPES if any(all(kind in one[name].types for name in names) for one in rows))


def _needed(spec: OperatorSpec) -> list[str]:
    return [field.name for field in spec.inputs if not field.optional]


def desc_of(operator: str, seed: int, number: int, level: str) -> OperatorDesc | None:
    """Return a desc whose tensors all have 65,536 elements, by its number below `count`; None if there is none."""
    kinds = _kinds(operator, level)
    if not kinds:
        return None
    kind, variant = kinds[number % len(kinds)], number // len(kinds)
    spec = load_spec(operator)
    for attempt in range(_TRIES):
        chance = seeded(f"all {seed} {operator} {level} {kind} {variant} {attempt}")
        fields = made_valid(spec, _drafted(spec, kind, chance, level), chance, _SIZES, level)
        desc = None if fields is None else validate(spec.operator, fields, level)[0]
        if desc is not None and _is_whole(desc, kind):
            return desc
    return None


def _drafted(spec: OperatorSpec, kind: str, chance: Chance, level: str) -> Raw:
    raw = draft(spec, chance, Sizes((1,), _ALL), level)
    same = [name for name, given in raw.items() if isinstance(given, dict) and "Sizes" in given]
    for name in same:
        if spec.fields[name].optional:
            del raw[name]
        else:
            raw[name]["Sizes"] = [1] * (len(raw[name]["Sizes"]) - 2) + [_SIDE, _SIDE][-len(raw[name]["Sizes"]) :]
            raw[name]["DataType"] = kind if spec.fields[name].kind == INPUT else raw[name]["DataType"]
    return raw


def _is_whole(desc: OperatorDesc, kind: str) -> bool:
    inputs = desc.tensors(INPUT)
    return all(part.tensor.data_type == kind for part in inputs) and all(
        part.tensor.element_count == _ALL for part in desc.tensors()
    )


def inputs_of(desc: OperatorDesc, seed: int, number: int, level: str) -> dict[str, Any] | None:
    """Return all values of the inputs of a desc, or all pairs; None if a constraint forbids them."""
    parts = desc.tensors(INPUT)
    axes: Sequence[Array]
    if len(parts) == 1:
        axes = [_numbers(parts[0].tensor.data_type)]
    else:
        chosen = [_chosen(part.tensor.data_type, seed, 2 * number + at) for at, part in enumerate(parts)]
        axes = [np.repeat(chosen[0], _SIDE), np.tile(chosen[1], _SIDE)]
    inputs: dict[str, Any] = {
        part.label: np.resize(values, part.tensor.sizes) for part, values in zip(parts, axes, strict=True)
    }
    return None if value_findings(desc, inputs, level) else inputs


def _numbers(data_type: str) -> Array:
    dtype = np.dtype(NUMPY_TYPES[data_type])
    return np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype)


def _chosen(data_type: str, seed: int, number: int) -> Array:
    """Return all numbers of a type, or 256 of many: edges, and others that a seed chooses."""
    numbers = _numbers(data_type)
    if numbers.size == _SIDE:
        return numbers
    chance = seeded(f"grid {seed} {number}")
    bits = [*_EDGES, *(chance.integer(0, _ALL - 1) for _ in range(_SIDE - len(_EDGES)))]
    grid: Array = numbers[np.array(bits)]
    return grid
