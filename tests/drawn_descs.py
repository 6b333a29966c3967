"""Random valid descs of any operator, from its spec: drawn, validated, and mended by what is found to be wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import random_attention

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import DATA_TYPES, ENUMS, NEWEST_LEVEL
from dmlcheck.specs.records import Field, OperatorSpec, Row
from dmlcheck.specs.shapes import pooled
from dmlcheck.validation.conditions import applies

Generator = np.random.Generator
Raw = dict[str, Any]

ROUNDS = 40  # of mending
TRIES = 60  # descs that are begun for one that is valid
FLOATS = (0.25, 0.5, 0.75, 1.5, 2.0, -0.5, 0.3, -1.7)
LEVELS = ("FLOAT32", "FLOAT16")


class Sizes(NamedTuple):
    """What sizes are drawn from, how many elements a tensor may have, and the sizes of windows, steps and blocks."""

    dimensions: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 9, 12)
    most: int = 4096
    steps: tuple[int, ...] = (1, 1, 1, 2, 3)


SMALL = Sizes()
LARGE = Sizes((1, 2, 3, 5, 33, 65, 129, 257, 300, 1031), 40_000)
LONG = Sizes((1, 1, 1, 2, 3, 5, 1031, 1100), 12_000)


def drawn_with(
    operator: str, generator: Generator, sizes: Sizes = SMALL
) -> tuple[OperatorDesc, dict[str, Any] | None] | None:
    """Return a random valid desc, with its inputs where those are drawn together."""
    if operator in ATTENTION_OPERATORS:
        form, mask = _chosen(generator, random_attention.FORMS), _chosen(generator, random_attention.MASKS)
        short, dtype = load_spec(operator).short, _chosen(generator, (np.float32, np.float16))
        most = 5 if sizes is SMALL else 18 if sizes is LARGE else 5
        made = random_attention.drawn(generator, short, form, mask, dtype, most)
        return random_attention.built(short, made, present=bool(generator.integers(2)))
    desc = drawn(operator, generator, sizes)
    return None if desc is None else (desc, None)


ATTENTION_OPERATORS = tuple(f"DML_OPERATOR_{name}" for name in random_attention.ATTENTION)


def drawn(operator: str, generator: Generator, sizes: Sizes = SMALL, level: str = NEWEST_LEVEL) -> OperatorDesc | None:
    """Return a random valid desc of an operator, or None where none of the tries came to one."""
    raw = drawn_raw(operator, generator, sizes, level)
    return None if raw is None else validation.validate(load_spec(operator).operator, raw, level)[0]


def drawn_raw(operator: str, generator: Generator, sizes: Sizes = SMALL, level: str = NEWEST_LEVEL) -> Raw | None:
    """Return a random valid desc in the notation of files."""
    for _ in range(TRIES):
        raw = mended(operator, begun(load_spec(operator), generator, sizes, level), generator, sizes, level)
        if raw is not None:
            return raw
    return None


# ---- a first draft


def begun(spec: OperatorSpec, generator: Generator, sizes: Sizes, level: str) -> Raw:
    """Return a desc whose types and numbers of dimensions are from the tables, and whose sizes are any."""
    tables = [table for table in spec.support if table.heading_at(level) is not None]
    raw: Raw = {}
    row: Row = {}
    if tables:
        table = _chosen(generator, tables)
        for name, values in (table.when or {}).items():
            raw[name.partition(".")[0]] = _chosen(generator, values)
        row = table.rows[table.heading_at(level) or ""]
    rank = _rank(row, generator)
    for name, field in spec.fields.items():
        if name in raw or field.counts or (field.optional and generator.random() < 0.4):
            continue
        value = attribute(field, generator, rank, sizes) if field.kind == "attribute" else None
        if value is not None:
            raw[name] = value
    types = _types(spec, row, raw, generator)
    kept = _dimensions(generator, rank, sizes)
    for field in (*spec.inputs, *spec.outputs):
        if field.optional and generator.random() < 0.35:
            continue
        count = _count(row, field.name, rank)
        own = kept[-count:] if count <= len(kept) else [1] * (count - len(kept)) + kept
        own = own if generator.random() < 0.6 else _dimensions(generator, count, sizes)
        tensor = {"DataType": types.get(field.name, "FLOAT32"), "Sizes": list(own)}
        is_array = field.type == "TENSOR_DESC_ARRAY"
        raw[field.name] = [deepcopy(tensor) for _ in range(int(generator.integers(1, 4)))] if is_array else tensor
    return raw


def attribute(field: Field, generator: Generator, rank: int, sizes: Sizes) -> Any:
    """Return a value for a field that is no tensor."""
    if field.enum == "DML_TENSOR_DATA_TYPE":
        return _chosen(generator, [name for name, kind in DATA_TYPES.items() if kind.kind != "none"])
    if field.enum is not None:
        return _chosen(generator, [value for value in ENUMS[field.enum] if not value.endswith("UNKNOWN")])
    if field.boolean:
        return int(generator.integers(2))
    draw = _ATTRIBUTES.get(field.type)
    return None if draw is None else draw(field, generator, rank, sizes)


def _array(field: Field, generator: Generator, rank: int, sizes: Sizes) -> Any:
    if field.name == "Axes":
        return sorted(generator.permutation(rank)[: int(generator.integers(1, rank + 1))].tolist())
    if "Padding" in field.name:
        return generator.integers(0, 3, rank).tolist()
    if "Offsets" in field.name:
        return generator.integers(0, 4, rank).tolist()
    if "Sizes" in field.name:
        return generator.integers(1, max(sizes.dimensions), rank).tolist()
    pool = (1, 2, 3) if field.name.startswith("Window") else sizes.steps
    return [_chosen(generator, pool) for _ in range(rank)]


def _integers(field: Field, generator: Generator, rank: int, _: Sizes) -> Any:
    if field.name.startswith("InputWindowStrides"):
        return [_chosen(generator, (1, 2, -1, 3, -2)) for _ in range(rank)]
    return generator.integers(-3, 4, rank).tolist()


def _whole(field: Field, generator: Generator, rank: int, sizes: Sizes) -> Any:
    if field.name == "Axis":
        return int(generator.integers(rank))
    if field.name == "K":
        return int(_chosen(generator, sizes.dimensions))
    if field.name == "LocalSize":
        return int(_chosen(generator, (1, 3, 5)))
    if field.name == "BlockSize":
        return int(generator.integers(1, 4))
    return int(generator.integers(1, 5))


def _float(field: Field, generator: Generator, *_: Any) -> Any:
    if field.name in _FLOAT_FIELDS:
        return _chosen(generator, _FLOAT_FIELDS[field.name])
    return _chosen(generator, FLOATS)


_FLOAT_FIELDS: dict[str, tuple[float, ...]] = {
    "Beta1": (0.9, 0.75),
    "Beta2": (0.999, 0.9),
    "Epsilon": (1e-5, 1e-3, 0.1),
    "LearningRate": (0.01, 0.5),
    "MaskFilterValue": (-10000.0, -200.0),
    "Max": (1.5, 0.75),
    "Min": (-1.25, -0.5),
    "SpatialScale": (0.5, 1.0, 0.25),
    "SpatialScaleX": (0.5, 1.0, 0.25),
    "SpatialScaleY": (0.5, 1.0, 0.75),
    "Steepness": (1.0, 2.0, 0.5),
    "ClipThreshold": (0.5, 1.0),
    "Exponent": (2.0, 3.0, 0.5, -1.0, 2.5, 1.7),
}


def _floats(field: Field, generator: Generator, rank: int, _: Sizes) -> Any:
    pool = (0.5, -0.5, 0.0, 0.25) if "Offset" in field.name else (1.0, 2.0, 0.5, 1.5, 0.75, 3.0)
    return [_chosen(generator, pool) for _ in range(rank)]


FUSED = {
    "ACTIVATION_RELU": {},
    "ACTIVATION_SIGMOID": {},
    "ACTIVATION_TANH": {},
    "ACTIVATION_LEAKY_RELU": {"Alpha": 0.3},
    "ACTIVATION_LINEAR": {"Alpha": 0.5, "Beta": 1.5},
    "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5},
}


def _operator(_: Field, generator: Generator, *more: Any) -> Any:  # noqa: ARG001 - as the others
    name = _chosen(generator, list(FUSED))
    return {"Type": name, **FUSED[name]}


_ATTRIBUTES: dict[str, Callable[[Field, Generator, int, Sizes], Any]] = {
    "UINT": _whole,
    "INT": lambda *given: int(given[1].integers(-3, 4)),
    "FLOAT": _float,
    "SCALAR_UNION": lambda *given: int(given[1].integers(0, 5)),
    "UINT_ARRAY": _array,
    "INT_ARRAY": _integers,
    "FLOAT_ARRAY": _floats,
    "SIZE_2D": lambda *given: {"Width": int(given[1].integers(1, 4)), "Height": int(given[1].integers(1, 4))},
    "SCALE_BIAS": lambda *given: {"Scale": _chosen(given[1], (2.0, 0.5, -1.5)), "Bias": _chosen(given[1], (0.25, 1.0))},
    "OPERATOR_DESC": _operator,
    "OPERATOR_DESC_ARRAY": lambda *given: [_operator(*given) for _ in range(2)],
}


def _chosen(generator: Generator, values: Any) -> Any:
    return values[int(generator.integers(len(values)))]


def _rank(row: Row, generator: Generator) -> int:
    """Return a number of dimensions that as many tensors as possible may have."""
    counts = [set(support.dims) for support in row.values() if len(support.dims) > 1]
    shared = set.intersection(*counts) if counts else set()
    return int(_chosen(generator, sorted(shared))) if shared else 4


def _count(row: Row, name: str, rank: int) -> int:
    dims = row[name].dims if name in row else (rank,)
    return rank if rank in dims else min(dims, key=lambda count: abs(count - rank))


def _dimensions(generator: Generator, rank: int, sizes: Sizes) -> list[int]:
    """Return sizes whose product is not too large, one of them at least above 1."""
    room, found = sizes.most, [1] * rank
    for axis in generator.permutation(rank).tolist():
        fitting = [size for size in sizes.dimensions if size <= room]
        found[axis] = int(_chosen(generator, fitting))
        room //= found[axis]
    return found


def _types(spec: OperatorSpec, row: Row, raw: Raw, generator: Generator) -> dict[str, str]:
    """Return a data type for each tensor: those that must have the same one have it."""
    groups = {name: {name} for name in row}
    desc = OperatorDesc.of(spec, {name: raw.get(name) for name in raw})
    for constraint in spec.constraints:
        names = [name for name in constraint.args if name in groups] if constraint.word == "same_data_type" else []
        if len(names) > 1 and (constraint.is_unconditional or applies(constraint, desc, NEWEST_LEVEL)):
            merged = set().union(*(groups[name] for name in names))
            groups.update(dict.fromkeys(merged, merged))
    found: dict[str, str] = {}
    for name, group in groups.items():
        if name not in found:
            shared = set.intersection(*(set(row[each].types or DATA_TYPES) for each in group)) - {"UNKNOWN"}
            kind = _chosen(generator, sorted(shared or row[name].types))
            found.update(dict.fromkeys(group, kind))
    return found


# ---- mending


def mended(operator: str, raw: Raw, generator: Generator, sizes: Sizes, level: str) -> Raw | None:
    """Return a desc after as many rounds of mending as it takes, or None where it does not come to an end."""
    name = load_spec(operator).operator
    for _ in range(ROUNDS):
        _with_counts(load_spec(operator), raw, level)
        _suited(load_spec(operator), raw, generator)
        desc, findings = validation.validate(name, raw, level)
        if not findings:
            is_large = desc is None or any(part.tensor.element_count > sizes.most for part in desc.tensors())
            return None if is_large else raw
        before = repr(raw)
        for finding in findings:
            _mend(raw, finding, load_spec(operator), generator)
        if repr(raw) == before or _is_too_large(raw):
            return None
    return None


def _with_counts(spec: OperatorSpec, raw: Raw, level: str) -> None:
    """Give arrays the length that a row asks of their count."""
    desc, _ = validation.validate(spec.operator, raw, level)
    if desc is None:
        return
    from dmlcheck.validation.expressions import evaluate

    for constraint in spec.constraints:
        if constraint.word != "value" or not applies(constraint, desc, level):
            continue
        for name, claim in constraint.args.items():
            wanted = evaluate(claim, desc) if spec.fields[name].counts else None
            for array in spec.fields[name].counts if isinstance(wanted, int) else ():
                given = raw.get(array)
                if isinstance(given, list) and given and len(given) != wanted:
                    raw[array] = [deepcopy(given[i % len(given)]) for i in range(wanted)]
    for field in spec.fields.values():
        lengths = [len(raw[array]) for array in field.counts if isinstance(raw.get(array), list)]
        for array in field.counts if lengths else ():
            given = raw.get(array)
            if isinstance(given, list) and given:
                raw[array] = [deepcopy(given[i % len(given)]) for i in range(lengths[0])]


def _suited(spec: OperatorSpec, raw: Raw, generator: Generator) -> None:
    """Change what would be valid and have no defined result."""
    first = next((raw[field.name] for field in spec.inputs if isinstance(raw.get(field.name), dict)), {})
    kind = DATA_TYPES.get(first.get("DataType", ""))
    if kind is not None and kind.kind in ("int", "uint"):
        for name, field in spec.fields.items():
            if field.type == "FLOAT" and isinstance(raw.get(name), float) and spec.short.startswith(_OF_ELEMENTS):
                raw[name] = float(max(1, math.ceil(raw[name])))
            if field.type == "SCALE_BIAS" and name in raw:
                raw[name] = {"Scale": 2.0, "Bias": 1.0}
    suit = _SUITED.get(spec.short)
    if suit is not None:
        suit(raw, generator)


_OF_ELEMENTS = ("ACTIVATION", "ELEMENT_WISE")


def _suit_pooling_gradient(raw: Raw, _: Generator) -> None:
    given, made = raw["OutputGradientTensor"]["Sizes"], raw["InputGradientTensor"]
    fields = [raw[name] for name in ("WindowSize", "Strides", "StartPadding", "EndPadding")]
    counts = pooled(given, *fields, raw.get("Dilations"))
    if counts is None:
        raw["WindowSize"] = [1] * len(raw["WindowSize"])
    else:
        made["Sizes"] = [*given[: len(given) - len(counts)], *counts]


def _suit_blocks(raw: Raw, generator: Generator) -> None:
    sizes = raw["InputTensor"]["Sizes"]
    factors = [[size for size in range(1, whole + 1) if whole % size == 0] for whole in sizes]
    scale = [_chosen(generator, found) for found in factors]
    tensors = raw["QuantizationTensors"]
    if not all(len(tensor["Sizes"]) == len(sizes) and _divide(tensor["Sizes"], sizes) for tensor in tensors):
        for tensor in tensors:
            tensor["Sizes"] = list(scale)


def _divide(parts: list[int], whole: list[int]) -> bool:
    return all(size % part == 0 for part, size in zip(parts, whole, strict=True))


def _suit_window(raw: Raw, _: Generator) -> None:
    for name in ("StartPadding", "EndPadding"):
        raw[name] = [min(pad, size - 1) for pad, size in zip(raw[name], raw["WindowSize"], strict=False)]
    if "InputGradientTensor" in raw:
        _suit_pooling_gradient(raw, _)


def _suit_one_type(raw: Raw, _: Generator) -> None:
    raw["OutputTensor"]["DataType"] = raw["InputTensor"]["DataType"]


def _suit_indices(raw: Raw, _: Generator) -> None:
    sizes, count = raw["IndicesTensor"]["Sizes"], raw["IndexDimensions"]
    raw["IndexDimensions"] = count = min(count, len(sizes))
    sizes[: len(sizes) - count] = [1] * (len(sizes) - count)


def _suit_tuples(raw: Raw, generator: Generator) -> None:
    given, indices = raw["InputTensor"]["Sizes"], raw["IndicesTensor"]["Sizes"]
    counted = min(raw["InputDimensionCount"], len(given))
    raw["InputDimensionCount"] = counted
    raw["IndicesDimensionCount"] = min(raw["IndicesDimensionCount"], len(indices))
    given[: len(given) - counted] = [1] * (len(given) - counted)
    lead = len(indices) - raw["IndicesDimensionCount"]
    indices[:lead] = [1] * lead
    room = counted - min(raw.get("BatchDimensionCount", 0), counted - 1)
    if indices[-1] > room:
        indices[-1] = int(generator.integers(1, room + 1))
    if "UpdatesTensor" in raw:
        most = math.prod(given[len(given) - counted :][: indices[-1]])
        while math.prod(indices[:-1]) > most:
            longest = max(range(len(indices) - 1), key=lambda axis: indices[axis])
            indices[longest] = max(1, indices[longest] // 2)


def _suit_scatter(raw: Raw, _: Generator) -> None:
    axis, given, indices = raw["Axis"], raw["InputTensor"]["Sizes"], raw["IndicesTensor"]["Sizes"]
    if axis < min(len(given), len(indices)) and indices[axis] > given[axis]:
        indices[axis] = raw["UpdatesTensor"]["Sizes"][axis] = given[axis]


def _suit_samples(raw: Raw, generator: Generator) -> None:
    raw["MinimumSamplesPerOutput"] = raw["MaximumSamplesPerOutput"] = max(1, raw["MinimumSamplesPerOutput"])
    if raw.get("AlignRegionsToCorners") and generator.random() < 0.7:
        raw["AlignRegionsToCorners"] = 0


def _suit_power(raw: Raw, _: Generator) -> None:
    if not raw["InputTensor"]["DataType"].startswith("FLOAT"):
        raw.pop("ScaleBias", None)


_SUITED: dict[str, Callable[[Raw, Generator], None]] = {
    "AVERAGE_POOLING_GRAD": _suit_pooling_gradient,
    "DEQUANTIZE": _suit_blocks,
    "ELEMENT_WISE_POW": _suit_power,
    "FOLD": _suit_one_type,
    "GATHER": _suit_indices,
    "GATHER_ND": _suit_tuples,
    "GATHER_ND1": _suit_tuples,
    "MAX_POOLING_GRAD": _suit_window,
    "ROI_ALIGN": _suit_samples,
    "ROI_ALIGN1": _suit_samples,
    "ROI_ALIGN_GRAD": _suit_samples,
    "SCATTER": _suit_scatter,
    "SCATTER_ND": _suit_tuples,
    "UNFOLD": _suit_one_type,
    "QUANTIZE": _suit_blocks,
}


def _is_too_large(raw: Raw) -> bool:
    tensors = [value for value in raw.values() if isinstance(value, dict) and "Sizes" in value]
    return any(math.prod(tensor["Sizes"]) > 10**7 for tensor in tensors)


def _mend(raw: Raw, finding: Finding, spec: OperatorSpec, generator: Generator) -> None:
    mend = _MENDERS.get(finding.rule)
    if mend is not None:
        mend(raw, finding, spec, generator)


def _at(raw: Raw, path: tuple[str | int, ...]) -> Any:
    value: Any = raw
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _steps(finding: Finding) -> tuple[str | int, ...]:
    return finding.path[1:] if finding.path and finding.path[0] == "desc" else finding.path


def _mend_size(raw: Raw, finding: Finding, _: OperatorSpec, generator: Generator) -> None:
    path, expected = _steps(finding), finding.params.get("expected")
    if path[-1] == "Sizes" and isinstance(expected, int):
        sizes = _at(raw, path)
        if isinstance(sizes, list):
            sizes[:] = [1] * (len(sizes) - 1) + [expected]
        return
    sizes = _at(raw, path[:-1])
    if isinstance(sizes, list) and isinstance(expected, int) and expected > 0:
        sizes[int(path[-1])] = expected
    elif isinstance(sizes, list):
        sizes[int(path[-1]) if isinstance(path[-1], int) else 0] = int(generator.integers(1, 6))


def _mend_rank(raw: Raw, finding: Finding, _: OperatorSpec, generator: Generator) -> None:
    path = _steps(finding)
    sizes = _at(raw, path)
    numbers = re.findall(r"\d+", str(finding.params.get("problem", "")).rpartition(" ha")[2] or "")
    numbers = numbers or re.findall(r"\d+", str(finding.note or ""))
    if not isinstance(sizes, list):
        return
    wanted = int(numbers[0]) if numbers else len(sizes)
    if finding.rule == "unsupported-dimension-count":
        wanted = int(_chosen(generator, [int(number) for number in re.findall(r"\d+", str(finding.note))[2:]] or [4]))
    sizes[:] = sizes[-wanted:] if len(sizes) > wanted else [1] * (wanted - len(sizes)) + sizes


def _mend_type(raw: Raw, finding: Finding, _: OperatorSpec, generator: Generator) -> None:
    path, wanted = _steps(finding), list(finding.params.get("wanted", ()))
    holder = _at(raw, path[:-1])
    if len(path) == 1 and wanted:
        raw[str(path[0])] = wanted[0]
    elif isinstance(holder, dict):
        holder["DataType"] = _chosen(generator, wanted or [name for name in DATA_TYPES if name != "UNKNOWN"])


def _mend_value(raw: Raw, finding: Finding, _: OperatorSpec, generator: Generator) -> None:
    path, expected = _steps(finding), str(finding.params["expected"])
    value = _new_value(expected, generator)
    holder = _at(raw, path[:-1]) if len(path) > 1 else raw
    if value is None and path == ("GroupCount",):
        value = 1
    if len(path) == 1 and isinstance(raw.get(str(path[0])), list):  # a count that follows from its array
        given = raw[str(path[0])] or [1]
        raw[str(path[0])] = [deepcopy(given[i % len(given)]) for i in range(value)] if type(value) is int else given
    elif value is not None and isinstance(holder, dict):
        if path[-1] == "Type":
            holder.clear()
            holder.update({"Type": value, **FUSED.get(str(value).removeprefix("DML_OPERATOR_"), {})})
        else:
            holder[str(path[-1])] = value
    elif value is not None and isinstance(holder, list):
        holder[min(int(path[-1]), len(holder) - 1)] = value


def _new_value(expected: str, generator: Generator) -> Any:
    """Return a value of those that are said to be right, None where the words are not understood."""
    texts = re.findall(r"-?\d[\d.e]*", expected)
    numbers = [float(text) if "." in text or "e" in text else int(text) for text in texts]
    if numbers and expected.startswith(("at least", "at most", "from ")):
        return _within(expected, numbers, generator)
    if expected.startswith("one of "):
        words = expected.removeprefix("one of ").split()
        expected = str(_chosen(generator, [word for word in words if word in FUSED] or words))
    if re.fullmatch(r"-?\d+", expected):
        return int(expected)
    if expected.startswith("other than 0"):
        return 1
    return expected if re.fullmatch(r"[A-Z_0-9]+", expected) else None


def _within(expected: str, numbers: list[Any], generator: Generator) -> Any:
    """Return a number that is at least or at most another, or between two."""
    if expected.startswith("from "):
        first, last = int(numbers[0]), int(numbers[-1])
        return int(generator.integers(first, last + 1)) if len(numbers) == 2 and first <= last else None
    if expected.startswith("at most") and isinstance(numbers[0], int) and numbers[0] >= 0:
        return int(generator.integers(0, numbers[0] + 1))
    return numbers[0]


def _mend_axis(raw: Raw, finding: Finding, _: OperatorSpec, generator: Generator) -> None:
    path, last = _steps(finding), finding.params.get("last", 0)
    if len(path) == 1:
        raw[str(path[0])] = int(generator.integers(0, int(last) + 1))
    else:
        axes = raw[str(path[0])]
        kept = sorted({int(axis) for axis in axes if axis <= last}) if finding.rule == "axis-out-of-range" else None
        raw[str(path[0])] = (kept if kept is not None else sorted(set(axes))) or [0]


def _mend_missing(raw: Raw, finding: Finding, spec: OperatorSpec, generator: Generator) -> None:
    name = str(finding.path[-1])
    field = spec.fields.get(name)
    if field is None:
        return
    if field.kind == "attribute":
        raw[name] = attribute(field, generator, 2, SMALL)
        return
    like = next(value for value in raw.values() if isinstance(value, dict) and "Sizes" in value)
    support = next((row[name] for table in spec.support for row in table.rows.values() if name in row), None)
    rank = len(like["Sizes"]) if support is None or len(like["Sizes"]) in support.dims else support.dims[0]
    types = support.types if support is not None and support.types else (like["DataType"],)
    kind = like["DataType"] if like["DataType"] in types else types[0]
    sizes = like["Sizes"][-rank:]
    raw[name] = {"DataType": kind, "Sizes": [1] * (rank - len(sizes)) + list(sizes)}


def _mend_excluded(raw: Raw, finding: Finding, *_: Any) -> None:
    raw.pop(str(_steps(finding)[0]), None)


def _mend_unavailable(raw: Raw, finding: Finding, spec: OperatorSpec, generator: Generator) -> None:
    name = str(_steps(finding)[0])
    if name in raw and spec.fields[name].kind == "attribute":
        raw[name] = attribute(spec.fields[name], generator, 2, SMALL)


def _mend_scalar(raw: Raw, finding: Finding, *_: Any) -> None:
    name = str(_steps(finding)[0])
    raw[name] = 1


_MENDERS: dict[str, Callable[..., None]] = {
    "size-mismatch": _mend_size,
    "rank-mismatch": _mend_rank,
    "unsupported-dimension-count": _mend_rank,
    "data-type-mismatch": _mend_type,
    "unsupported-data-type": _mend_type,
    "value-out-of-range": _mend_value,
    "axis-out-of-range": _mend_axis,
    "duplicate-axis": _mend_axis,
    "missing-field": _mend_missing,
    "excluded-field": _mend_excluded,
    "unsupported-value": _mend_unavailable,
    "value-not-representable": _mend_scalar,
}
