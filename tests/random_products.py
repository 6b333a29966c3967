"""Random descs of operators that multiply matrices or slide filters, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from products_of import Array, built, random_floats, random_integers

from dmlcheck.descs.records import OperatorDesc

Made = tuple[OperatorDesc, dict[str, Array]]


def gemm(generator: np.random.Generator) -> Made:
    """Return a GEMM of any rank, with each option on or off."""
    batch = generator.integers(1, 4, generator.integers(0, 3)).tolist()
    m, k, n = generator.integers(1, 20, 3).tolist()
    data_type = str(generator.choice(["FLOAT32", "FLOAT16"]))
    a_turned, b_turned, has_c, is_fused = generator.integers(0, 2, 4).tolist()
    tensors: dict[str, Any] = {
        "A": random_floats(generator, (*batch, *((k, m) if a_turned else (m, k))), data_type),
        "B": random_floats(generator, (*batch, *((n, k) if b_turned else (k, n))), data_type),
        "C": random_floats(generator, (*batch, m, n), data_type) if has_c else None,
    }
    fields = {
        "TransA": "TRANSPOSE" if a_turned else "NONE",
        "TransB": "TRANSPOSE" if b_turned else "NONE",
        "Alpha": float(generator.choice([1, 1, 0.3, -2])),
        "Beta": float(generator.choice([1, 0.1, -0.5])),
        "FusedActivation": {"Type": "ACTIVATION_RELU"} if is_fused else None,
    }
    return built("GEMM", (*batch, m, n), data_type, tensors, **fields)


def matrices(generator: np.random.Generator, types: tuple[str, str], scale: str = "") -> dict[str, Any]:
    """Return quantized factors: one zero point and scale, or one for each column of B; none of A's rows but one."""
    m, k, n = generator.integers(1, 20, 3).tolist()
    columns = n if generator.random() < 0.5 else 1
    has_a, has_b = generator.integers(0, 2, 2).tolist()
    tensors: dict[str, Any] = {
        "A": random_integers(generator, (m, k), types[0]),
        "AZeroPoint": random_integers(generator, (1,), types[0]) if has_a else None,
        "B": random_integers(generator, (k, n), types[1]),
        "BZeroPoint": random_integers(generator, (columns,), types[1]) if has_b else None,
    }
    if scale:
        tensors["AScale"] = generator.uniform(0.01, 2, (1,)).astype(scale.lower())
        tensors["BScale"] = generator.uniform(0.01, 2, (columns,)).astype(scale.lower())
    return tensors


def sizes_of(tensors: dict[str, Any]) -> tuple[int, int]:
    return len(tensors["A"]), tensors["B"].shape[1]


def integer(generator: np.random.Generator) -> Made:
    """Return a MATRIX_MULTIPLY_INTEGER."""
    tensors = matrices(generator, tuple(generator.choice(["INT8", "UINT8"], 2).tolist()))
    return built("MATRIX_MULTIPLY_INTEGER", sizes_of(tensors), "INT32", tensors)


def to_float(generator: np.random.Generator) -> Made:
    """Return a MATRIX_MULTIPLY_INTEGER_TO_FLOAT."""
    data_type = str(generator.choice(["FLOAT32", "FLOAT16"]))
    tensors = matrices(generator, (str(generator.choice(["INT8", "UINT8"])),) * 2, data_type)
    return built("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", sizes_of(tensors), data_type, tensors)


def quantized(generator: np.random.Generator) -> Made:
    """Return a QUANTIZED_LINEAR_MATRIX_MULTIPLY."""
    data_type = str(generator.choice(["INT8", "UINT8"]))
    tensors = matrices(generator, (data_type, str(generator.choice(["INT8", data_type]))), "FLOAT32")
    tensors["OutputScale"] = generator.uniform(10, 2000, (1,)).astype(np.float32)
    tensors["OutputZeroPoint"] = random_integers(generator, (1,), data_type)
    return built("QUANTIZED_LINEAR_MATRIX_MULTIPLY", sizes_of(tensors), data_type, tensors)


class Slide(NamedTuple):
    """The sizes of a convolution and how its filter slides."""

    input: tuple[int, ...]
    filter: tuple[int, ...]
    output: tuple[int, ...]
    fields: dict[str, Any]


def slide(generator: np.random.Generator, *, backward: bool = False, most: int = 3) -> Slide:
    """Return how a filter slides over 1 to `most` dimensions."""
    count = int(generator.integers(1, most + 1))
    groups, batch, inputs, outputs = generator.integers(1, 4, 4).tolist()
    while True:
        taps, strides, dilations = generator.integers(1, 4, (3, count)).tolist()
        size = generator.integers(1, 8 if count < 3 else 5, count).tolist()
        starts, ends = generator.integers(0, 3, (2, count)).tolist()
        each = list(zip(size, taps, strides, dilations, starts, ends, strict=True))
        if backward:
            places = [(n - 1) * s + (k - 1) * d + 1 - p - q for n, k, s, d, p, q in each]
        else:
            places = [(n + p + q - (k - 1) * d - 1) // s + 1 for n, k, s, d, p, q in each]
        if min(places) > 0:
            break
    channels = (groups * inputs, outputs) if backward else (groups * outputs, inputs)
    fields = {"Strides": strides, "Dilations": dilations, "StartPadding": starts, "EndPadding": ends}
    sizes = ((batch, groups * inputs, *size), (*channels, *taps), (batch, groups * outputs, *places))
    return Slide(*sizes, {**fields, "GroupCount": groups})


def convolution(generator: np.random.Generator) -> Made:
    """Return a CONVOLUTION, with each option on or off."""
    backward, is_flipped, has_bias, is_fused = generator.integers(0, 2, 4).tolist()
    data_type = str(generator.choice(["FLOAT32", "FLOAT16"]))
    of = slide(generator, backward=bool(backward))
    channels = (1, of.output[1], *[1] * (len(of.output) - 2))
    tensors = {
        "Input": random_floats(generator, of.input, data_type),
        "Filter": random_floats(generator, of.filter, data_type),
        "Bias": random_floats(generator, channels, data_type) if has_bias else None,
    }
    fields = {
        **of.fields,
        "Mode": "CONVOLUTION" if is_flipped else "CROSS_CORRELATION",
        "Direction": "BACKWARD" if backward else "FORWARD",
        "OutputPadding": [0] * (len(of.output) - 2),
        "FusedActivation": {"Type": "ACTIVATION_RELU"} if is_fused else None,
    }
    return built("CONVOLUTION", of.output, data_type, tensors, **fields)


def convolution_integer(generator: np.random.Generator) -> Made:
    """Return a CONVOLUTION_INTEGER."""
    of, types = slide(generator, most=2), generator.choice(["INT8", "UINT8"], 2).tolist()
    return built("CONVOLUTION_INTEGER", of.output, "INT32", _quantized_window(generator, of, types), **of.fields)


def _quantized_window(generator: np.random.Generator, of: Slide, types: list[str]) -> dict[str, Any]:
    """Return an input and a filter, with zero points or none."""
    has_x, has_w = generator.integers(0, 2, 2).tolist()
    channels = of.filter[0] if generator.random() < 0.5 else 1
    return {
        "Input": random_integers(generator, of.input, types[0]),
        "InputZeroPoint": random_integers(generator, (1,), types[0]) if has_x else None,
        "Filter": random_integers(generator, of.filter, types[1]),
        "FilterZeroPoint": random_integers(generator, (channels,), types[1]) if has_w else None,
    }


def quantized_convolution(generator: np.random.Generator) -> Made:
    """Return a QUANTIZED_LINEAR_CONVOLUTION."""
    of, data_type = slide(generator, most=2), str(generator.choice(["INT8", "UINT8"]))
    tensors = _quantized_window(generator, of, [data_type, str(generator.choice(["INT8", data_type]))])
    channels = (1, of.output[1], *[1] * (len(of.output) - 2))
    tensors["InputScale"] = generator.uniform(0.01, 2, (1,)).astype(np.float32)
    tensors["FilterScale"] = generator.uniform(0.01, 2, (of.output[1],)).astype(np.float32)
    tensors["Bias"] = generator.integers(-20000, 20000, channels, np.int32) if generator.random() < 0.5 else None
    tensors["OutputScale"] = generator.uniform(50, 900, (1,)).astype(np.float32)
    tensors["OutputZeroPoint"] = random_integers(generator, (1,), data_type)
    return built("QUANTIZED_LINEAR_CONVOLUTION", of.output, data_type, tensors, **of.fields)


RANDOM: dict[str, Callable[[np.random.Generator], Made]] = {
    "CONVOLUTION": convolution,
    "CONVOLUTION_INTEGER": convolution_integer,
    "GEMM": gemm,
    "MATRIX_MULTIPLY_INTEGER": integer,
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": to_float,
    "QUANTIZED_LINEAR_CONVOLUTION": quantized_convolution,
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": quantized,
}


def random_descs(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield RANDOM[operator](generator)
