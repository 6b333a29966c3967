"""Random descs of quantization in blocks and by range, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL

Made = tuple[OperatorDesc, dict[str, Any]]

INTEGERS = {"INT8": np.int8, "UINT8": np.uint8}
FLOATS = {"FLOAT32": np.float32, "FLOAT16": np.float16}


def built(operator: str, fields: dict[str, Any], inputs: dict[str, Any]) -> Made:
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", fields, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, inputs


def tensor(data_type: str, sizes: tuple[int, ...]) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def blocks(generator: np.random.Generator, operator: str) -> Made:
    """Return a desc with one scale and zero point for each element, for each block along some axes, or for all."""
    sizes = tuple(generator.integers(1, 7, 3).tolist())
    own = tuple(int(generator.choice([part for part in range(1, size + 1) if size % part == 0])) for size in sizes)
    whole, real = str(generator.choice(list(INTEGERS))), str(generator.choice(list(FLOATS)))
    about = np.iinfo(INTEGERS[whole])
    integers, zero_point = (
        generator.integers(about.min, about.max, of, INTEGERS[whole], endpoint=True) for of in (sizes, own)
    )
    scale = generator.choice([0.5, 0.1, 2, 3], own).astype(FLOATS[real])
    numbers = (generator.normal(size=sizes) * 50).astype(FLOATS[real])
    has_point = generator.random() < 0.7
    is_quantizing = operator == "QUANTIZE"
    fields = {
        "InputTensor": tensor(real if is_quantizing else whole, sizes),
        "OutputTensor": tensor(whole if is_quantizing else real, sizes),
        "QuantizationType": "SCALE_ZERO_POINT" if has_point else "SCALE",
        "QuantizationTensors": [tensor(real, own), tensor(whole, own)][: 1 + has_point],
    }
    given = {"InputTensor": numbers if is_quantizing else integers}
    return built(operator, fields, given | {"QuantizationTensors": [scale, zero_point][: 1 + has_point]})


def ranges(generator: np.random.Generator) -> Made:
    sizes = tuple(generator.integers(1, 9, 2).tolist())
    x = (generator.normal(size=sizes) * 3 + generator.choice([0, 10, -10])).astype(np.float32)
    fields = {
        "InputTensor": tensor("FLOAT32", sizes),
        "OutputTensor": tensor("UINT8", sizes),
        "OutputScaleTensor": tensor("FLOAT32", (1, 1)),
        "OutputZeroPointTensor": tensor("UINT8", (1, 1)),
    }
    return built("DYNAMIC_QUANTIZE_LINEAR", fields, {"InputTensor": x})


QUANTIZATIONS: dict[str, Callable[[np.random.Generator], Made]] = {
    "DEQUANTIZE": lambda generator: blocks(generator, "DEQUANTIZE"),
    "DYNAMIC_QUANTIZE_LINEAR": ranges,
    "QUANTIZE": lambda generator: blocks(generator, "QUANTIZE"),
}


def quantizations(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield QUANTIZATIONS[operator](generator)
