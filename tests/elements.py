"""Element-wise operators for tests: their descs, results and bounds, and elements around the edges of every type."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from bounds_of import gathered

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values.number_formats import ulp

Array = np.ndarray[Any, Any]

SAMPLES = int(os.environ.get("DMLCHECK_SAMPLES", "2000"))
INF, NAN = float("inf"), float("nan")
FLOATS = ("FLOAT16", "FLOAT32")
SCALED = {"Scale": 1.1, "Bias": 0.3}


def built(operator: str, fields: dict[str, Any], *elements: Array) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return the desc of an ELEMENT_WISE or ACTIVATION operator and its inputs; the output is of the last input's type.

    Where it cannot be of that type, it is of the first that the operator has.
    """
    spec = load_spec(f"DML_OPERATOR_{operator if operator.startswith('ACTIVATION_') else f'ELEMENT_WISE_{operator}'}")
    tensors = [{"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)} for x in elements]
    inputs = [field.name for field in spec.inputs]
    output = spec.outputs[0].name
    for data_type in (tensors[0 if operator == "POW" else -1]["DataType"], "UINT8"):
        desc = {**dict(zip(inputs, tensors, strict=True)), output: {**tensors[0], "DataType": data_type}, **fields}
        found, problems = validation.validate(spec.operator, desc, NEWEST_LEVEL)
        if found is not None and not problems:
            return found, dict(zip(inputs, elements, strict=True))
    raise AssertionError(problems)


def computed(operator: str, fields: dict[str, Any], *elements: Array) -> Array:
    """Return what the engine computes."""
    (result,) = engine.evaluate(*built(operator, fields, *elements)).values()
    return result.values


def marks(operator: str, fields: dict[str, Any], *elements: Array) -> list[bool]:
    """Return which results are left open."""
    (result,) = engine.evaluate(*built(operator, fields, *elements)).values()
    return [False] * result.values.size if result.undefined is None else result.undefined.tolist()


def results(operator: str, fields: dict[str, Any], *elements: Array) -> list[Any]:
    """Return results as a list, None for those that are left open."""
    found = computed(operator, fields, *elements).tolist()
    return [None if mark else value for value, mark in zip(found, marks(operator, fields, *elements), strict=True)]


def bound(operator: str, fields: dict[str, Any], *elements: Array, accumulate: str = "FLOAT32") -> engine.Bound:
    """Return the engine's bound of all results."""
    desc, inputs = built(operator, fields, *elements)
    label = desc.spec.outputs[0].name
    return gathered(desc, inputs, {label: np.ones(elements[0].shape, bool)}, accumulate)[label]


def refused(found: Array, given: engine.Bound) -> Array:
    """Say which results of an implementation are neither left open nor within the bound and 1 ULP."""
    data_type = found.dtype.name.upper()
    with np.errstate(all="ignore"):
        rounded = given.value.astype(found.dtype)
        limit = given.radius + ulp(np.where(np.isfinite(given.value), given.value, 0), data_type)
        actual = found.astype(np.float64)
        over = np.isinf(found) & (np.abs(given.value) + limit > np.finfo(found.dtype).max)
        right = (
            (rounded == found) | (np.isnan(rounded) & np.isnan(found)) | (np.abs(actual - given.value) <= limit) | over
        )
    wrong = ~(right | np.isinf(given.radius) | given.undefined)
    for other in given.others:
        wrong = wrong & refused(found, other)
    return wrong


# ---- elements


@cache
def every_float16() -> Array:
    """Return all FLOAT16 numbers, with infinities, zeros and a NaN."""
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return np.append(values[~np.isnan(values)], np.float16(NAN))


@cache
def float32_around_edges() -> Array:
    """Return elements of all magnitudes, more of them where functions bend, overflow, vanish or turn."""
    generator = np.random.default_rng(20_210)
    edges = [1.0, -1.0, 0.5, 2.0, np.e, np.pi / 2, np.pi, 88.722839, -87.336545, -103.97208, 9.0109, -9.0109, 4.0]
    edges += [multiple * np.pi / 2 for multiple in (1, 2, 3, 5, 100, 1001, 31_415)] + [0.3, -0.3, 0.7, 7.0]
    count = max(1, SAMPLES // 8)
    distances = generator.normal(size=2 * count) * 2.0 ** -generator.integers(4, 24, 2 * count)
    near = generator.choice(edges, 2 * count) * (1 + distances)
    wide = generator.integers(0, 1 << 32, 3 * count, dtype=np.uint32).view(np.float32)
    powers = np.ldexp(
        generator.choice([1, 1 + 2.0**-23, 2 - 2.0**-23, -1], count), generator.integers(-149, 128, count)
    )
    plain = generator.normal(size=SAMPLES - 6 * count) * 4
    with np.errstate(all="ignore"):
        values = np.concatenate([near.astype(np.float32), wide, powers.astype(np.float32), plain.astype(np.float32)])
    return np.append(values[~np.isnan(values)], np.array([0.0, -0.0, INF, -INF, NAN], np.float32))


def misrounded(found: Array, wide: Array) -> Array:
    """Say which results are not what float64 results round to, but for what float64 itself may be off by."""
    data_type = found.dtype.name.upper()
    with np.errstate(all="ignore"):
        near = np.abs(found.astype(np.float64) - wide) <= ulp(wide, data_type) / 2 + np.abs(wide) * 2.0**-50
        over = np.isinf(found) & (np.sign(found) == np.sign(wide)) & (np.abs(wide) > np.finfo(found.dtype).max)
    wrong: Array = ~(near | over | (np.isnan(found) & np.isnan(wide)))
    return wrong
