"""The first draft of a desc: types and numbers of dimensions from the support tables, and arbitrary other values."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.chance import Chance
from dmlcheck.specs.names import DATA_TYPES, ENUMS
from dmlcheck.specs.records import Field, OperatorSpec, Row
from dmlcheck.validation.conditions import applies
from dmlcheck.validation.support_tables import heading_at

Raw = dict[str, Any]

_FLOATS = (0.25, 0.5, 0.75, 1.5, 2.0, -0.5, 0.3, -1.7)


class Sizes(NamedTuple):
    """The possible sizes, the most elements of a tensor, and the sizes of windows, steps and blocks.

    `room` is for the elements of a tensor in a draft, of which operators may make more; 0 is the same as `most`.
    """

    dimensions: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 9, 12)
    most: int = 4096
    steps: tuple[int, ...] = (1, 1, 1, 2, 3)
    room: int = 0


SMALL = Sizes()


def draft(spec: OperatorSpec, chance: Chance, sizes: Sizes, level: str) -> Raw:
    """Return a desc with data types and dimension counts from the support tables, and arbitrary sizes."""
    tables = [table for table in spec.support if heading_at(table, level) is not None]
    raw: Raw = {}
    row: Row = {}
    if tables:
        table = chance.of(tables)
        for name, values in (table.when or {}).items():
            raw[name.partition(".")[0]] = chance.of(values)
        row = table.rows[heading_at(table, level) or ""]
    rank = _rank(row, chance)
    for name, field in spec.fields.items():
        if name in raw or field.counts or (field.optional and chance.often(0.4)):
            continue
        value = attribute(field, chance, rank, sizes) if field.kind == "attribute" else None
        if value is not None:
            raw[name] = value
    types = _types(spec, row, raw, chance, level)
    kept = _dimensions(chance, rank, sizes)
    for field in (*spec.inputs, *spec.outputs):
        if field.optional and chance.often(0.35):
            continue
        count = _count(row, field.name, rank, chance)
        own = kept[-count:] if count <= len(kept) else [1] * (count - len(kept)) + kept
        own = own if chance.often(0.6) else _dimensions(chance, count, sizes)
        tensor = {"DataType": types.get(field.name, "FLOAT32"), "Sizes": list(own)}
        is_array = field.type == "TENSOR_DESC_ARRAY"
        raw[field.name] = [deepcopy(tensor) for _ in range(chance.integer(1, 4))] if is_array else tensor
    return raw


def attribute(field: Field, chance: Chance, rank: int, sizes: Sizes) -> Any:
    """Return a random value for a field that is not a tensor."""
    if field.enum == "DML_TENSOR_DATA_TYPE":
        return chance.of([name for name, kind in DATA_TYPES.items() if kind.kind != "none"])
    if field.enum is not None:
        return chance.of([value for value in ENUMS[field.enum] if not value.endswith("UNKNOWN")])
    if field.boolean:
        return chance.integer(0, 1)
    draw = _ATTRIBUTES.get(field.type)
    return None if draw is None else draw(field, chance, rank, sizes)


def _array(field: Field, chance: Chance, rank: int, sizes: Sizes) -> Any:
    if field.name == "Axes":
        return sorted(chance.some(range(rank), chance.integer(1, rank)))
    if "Padding" in field.name:
        return [chance.integer(0, 2) for _ in range(rank)]
    if "Offsets" in field.name:
        return [chance.integer(0, 3) for _ in range(rank)]
    if "Sizes" in field.name:
        return [chance.integer(1, max(sizes.dimensions) - 1) for _ in range(rank)]
    pool = (1, 2, 3) if field.name.startswith("Window") else sizes.steps
    return [chance.of(pool) for _ in range(rank)]


def _integers(field: Field, chance: Chance, rank: int, _: Sizes) -> Any:
    if field.name.startswith("InputWindowStrides"):
        return [chance.of((1, 2, -1, 3, -2)) for _ in range(rank)]
    return [chance.integer(-3, 3) for _ in range(rank)]


def _whole(field: Field, chance: Chance, rank: int, sizes: Sizes) -> Any:
    if field.name == "Axis":
        return chance.integer(0, rank - 1)
    if field.name == "K":
        return chance.of(sizes.dimensions)
    if field.name == "LocalSize":
        return chance.of((1, 3, 5))
    if field.name == "BlockSize":
        return chance.integer(1, 3)
    return chance.integer(1, 4)


def _signed(field: Field, chance: Chance, *_: Any) -> Any:
    if field.name.startswith("DiagonalFill"):
        return chance.of((-(2**31), *range(-6, 7), 2**31 - 1))
    return chance.integer(-6, 6) if field.name == "Offset" else chance.integer(-3, 3)


def _float(field: Field, chance: Chance, *_: Any) -> Any:
    if field.name in _FLOAT_FIELDS:
        return chance.of(_FLOAT_FIELDS[field.name])
    return chance.of(_FLOATS)


_FLOAT_FIELDS: dict[str, tuple[float, ...]] = {
    "Beta1": (0.9, 0.75),
    "Beta2": (0.999, 0.9),
    "Epsilon": (1e-5, 1e-3, 0.1),
    "LearningRate": (0.01, 0.5),
    "InputPixelOffset": (0.5, 0.5, 0.0, 0.25),
    "MaskFilterValue": (-10000.0, -3e4, -200.0),
    "Max": (1.5, 0.75, 3e38),
    "Min": (-1.25, -0.5, -3e38),
    "OutOfBoundsInputValue": (0.0, 0.0, 2.5, -0.5),
    "OutputPixelOffset": (-0.5, -0.5, 0.0, -0.75),
    "PaddingValue": (0.25, 0.5, 1.5, 2.0, 3.0, -0.5, 0.3, -1.7, 200.0, 40_000.0),
    "SpatialScale": (0.5, 1.0, 0.25),
    "SpatialScaleX": (0.5, 1.0, 0.25),
    "SpatialScaleY": (0.5, 1.0, 0.75),
    "Steepness": (1.0, 2.0, 0.5),
    "ClipThreshold": (0.5, 1.0),
    "Exponent": (2.0, 3.0, 0.5, -1.0, 2.5, 1.7),
}


def _floats(field: Field, chance: Chance, rank: int, _: Sizes) -> Any:
    pool = (0.5, -0.5, 0.0, 0.25) if "Offset" in field.name else (1.0, 2.0, 0.5, 1.5, 0.75, 3.0)
    if field.name == "Scales":
        pool = (*pool, 0.25, 0.7, 1.75, 2.5)
    return [chance.of(pool) for _ in range(rank)]


def _pair(field: Field, chance: Chance, _: int, sizes: Sizes) -> Any:
    """Return small factors; one of the sizes of pooled regions may be any."""
    found = {"Width": chance.integer(1, 3), "Height": chance.integer(1, 3)}
    if field.name == "PooledSize" and chance.often(0.6):
        found[chance.of(("Width", "Height"))] = chance.of(sizes.dimensions)
    return found


# The fields of the operators that another one may hold: each needs numbers of its own to be a valid desc.
FUSED = {
    "ACTIVATION_RELU": {},
    "ACTIVATION_SIGMOID": {},
    "ACTIVATION_TANH": {},
    "ACTIVATION_LEAKY_RELU": {"Alpha": 0.3},
    "ACTIVATION_LINEAR": {"Alpha": 0.5, "Beta": 1.5},
    "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5},
    "ACTIVATION_CELU": {"Alpha": 1.0},
    "ACTIVATION_ELU": {"Alpha": 0.7},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": {"Alpha": 1.0, "Beta": 1.0},
    "ACTIVATION_SCALED_ELU": {"Alpha": 1.7, "Gamma": 1.0},
    "ACTIVATION_SCALED_TANH": {"Alpha": 1.3, "Beta": 0.4},
    "ACTIVATION_SOFTPLUS": {"Steepness": 1.0},
    "ACTIVATION_SOFTSIGN": {},
    "ACTIVATION_THRESHOLDED_RELU": {"Alpha": 0.2},
}


def _operator(_: Field, chance: Chance, *more: Any) -> Any:  # noqa: ARG001 - as the others
    name = chance.of(list(FUSED))
    return {"Type": name, **FUSED[name]}


_ATTRIBUTES: dict[str, Callable[[Field, Chance, int, Sizes], Any]] = {
    "UINT": _whole,
    "INT": _signed,
    "FLOAT": _float,
    "SCALAR_UNION": lambda *given: given[1].integer(0, 4),
    "UINT_ARRAY": _array,
    "INT_ARRAY": _integers,
    "FLOAT_ARRAY": _floats,
    "SIZE_2D": _pair,
    "SCALE_BIAS": lambda *given: {"Scale": given[1].of((2.0, 0.5, -1.5)), "Bias": given[1].of((0.25, 1.0))},
    "OPERATOR_DESC": _operator,
    "OPERATOR_DESC_ARRAY": lambda *given: [_operator(*given) for _ in range(2)],
}


def _rank(row: Row, chance: Chance) -> int:
    """Return a number of dimensions that as many tensors as possible may have."""
    counts = [set(support.dims) for support in row.values() if len(support.dims) > 1]
    shared = set.intersection(*counts) if counts else set()
    return chance.of(sorted(shared)) if shared else 4


def _count(row: Row, name: str, rank: int, chance: Chance) -> int:
    """Return the number of dimensions of a tensor: that of others if it may have it, now and then another."""
    dims = row[name].dims if name in row else (rank,)
    if dims and chance.often(0.12):
        return chance.of(dims)
    return rank if rank in dims else min(dims, key=lambda count: abs(count - rank))


def _dimensions(chance: Chance, rank: int, sizes: Sizes) -> list[int]:
    """Return sizes whose product is not too large, one of them at least above 1."""
    room, found = sizes.room or sizes.most, [1] * rank
    for axis in chance.some(range(rank), rank):
        fitting = [size for size in sizes.dimensions if size <= room]
        found[axis] = chance.of(fitting)
        room //= found[axis]
    return found


def _types(spec: OperatorSpec, row: Row, raw: Raw, chance: Chance, level: str) -> dict[str, str]:
    """Return a data type for each tensor; tensors that must have the same type have it."""
    groups = {name: {name} for name in row}
    desc = OperatorDesc.of(spec, {name: raw.get(name) for name in raw})
    for constraint in spec.constraints:
        names = [name for name in constraint.args if name in groups] if constraint.word == "same_data_type" else []
        if len(names) > 1 and (constraint.is_unconditional or applies(constraint, desc, level)):
            merged = set().union(*(groups[name] for name in names))
            groups.update(dict.fromkeys(merged, merged))
    found: dict[str, str] = {}
    for name, group in groups.items():
        if name not in found:
            shared = set.intersection(*(set(row[each].types or DATA_TYPES) for each in group)) - {"UNKNOWN"}
            kind = chance.of(sorted(shared or row[name].types))
            found.update(dict.fromkeys(group, kind))
    return found
