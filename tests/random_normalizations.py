"""Random descs of normalizations, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Array]]

TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}
RELU = {"FusedActivation": {"Type": "ACTIVATION_RELU"}}


def built(operator: str, inputs: dict[str, Array], outputs: dict[str, tuple[int, ...]], **fields: Any) -> Made:
    """Return the desc of an operator; its tensors are named without `Tensor`, and have the data type of the input."""
    given = {f"{name}Tensor": array for name, array in inputs.items()}
    data_type = inputs["Input"].dtype.name.upper()
    sizes = {name: array.shape for name, array in given.items()} | {f"{name}Tensor": of for name, of in outputs.items()}
    tensors = {name: {"DataType": data_type, "Sizes": list(of)} for name, of in sizes.items()}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, given


def floats(generator: np.random.Generator, sizes: tuple[int, ...], data_type: str, mean: float = 0) -> Array:
    return (generator.normal(size=sizes) * 3 + mean).astype(TYPES[data_type])


def image(generator: np.random.Generator) -> tuple[Array, str]:
    """Return batch, channels, height and width, around some mean."""
    data_type = str(generator.choice(list(TYPES)))
    sizes = tuple(generator.integers(1, 7, 4).tolist())
    return floats(generator, sizes, data_type, float(generator.choice([0, 5, 40]))), data_type


def epsilon(generator: np.random.Generator) -> float:
    return float(generator.choice([1e-3, 0.1, 2]))


def mean_variance(generator: np.random.Generator, version: str, axes: tuple[int, ...]) -> Made:
    """Return an instance or a layer normalization."""
    x, data_type = image(generator)
    channels = tuple(size if axis == 1 else 1 for axis, size in enumerate(x.shape))
    layer = tuple(size if axis in axes else 1 for axis, size in enumerate(x.shape))
    own = channels if axes == (2, 3) else layer
    inputs = {"Input": x} | {name: floats(generator, own, data_type) for name in ("Scale", "Bias")}
    fields: dict[str, Any] = {"Epsilon": epsilon(generator)} | (RELU if generator.random() < 0.3 else {})
    fields |= {"UseMean": 1, "UseVariance": 1} if version == "2" else {"NormalizeVariance": 1}
    fields |= {"Axes": list(axes)} if version else {"CrossChannel": int(1 in axes)}
    return built(f"MEAN_VARIANCE_NORMALIZATION{version}", inputs, {"Output": x.shape}, **fields)


def versioned(version: str) -> Callable[[np.random.Generator], Made]:
    choices: list[tuple[int, ...]] = [(2, 3), (1, 2, 3)] if version == "" else [(2, 3), (1, 2, 3), (3,), (3, 2)]
    return lambda generator: mean_variance(generator, version, choices[generator.integers(len(choices))])


def batch(generator: np.random.Generator) -> Made:
    x, data_type = image(generator)
    own = (1, x.shape[1], 1, 1)
    inputs = {"Input": x} | {name: floats(generator, own, data_type) for name in ("Mean", "Variance", "Scale", "Bias")}
    inputs["Variance"] = np.abs(inputs["Variance"])
    fields = {"Spatial": 1, "Epsilon": epsilon(generator)} | (RELU if generator.random() < 0.3 else {})
    return built("BATCH_NORMALIZATION", inputs, {"Output": x.shape}, **fields)


def training(generator: np.random.Generator) -> Made:
    x, data_type = image(generator)
    own = (1, x.shape[1], 1, 1)
    inputs = {"Input": x} | {name: floats(generator, own, data_type) for name in ("Scale", "Bias")}
    outputs = {"Output": x.shape, "OutputMean": own, "OutputVariance": own}
    return built("BATCH_NORMALIZATION_TRAINING", inputs, outputs, Epsilon=epsilon(generator))


def local_response(generator: np.random.Generator) -> Made:
    x, _ = image(generator)
    alpha, beta, bias = generator.uniform(0.1, 1, 3).tolist()
    fields = {"CrossChannel": 1, "LocalSize": int(generator.choice([1, 3, 5])), "Alpha": alpha, "Beta": beta}
    return built("LOCAL_RESPONSE_NORMALIZATION", {"Input": x}, {"Output": x.shape}, Bias=bias, **fields)


def norm(generator: np.random.Generator) -> Made:
    x, _ = image(generator)
    fields = {"Axis": int(generator.integers(4)), "Epsilon": 0, "P": int(generator.integers(1, 3))}
    return built("LP_NORMALIZATION", {"Input": x}, {"Output": x.shape}, **fields)


NORMALIZATIONS: dict[str, Callable[[np.random.Generator], Made]] = {
    "BATCH_NORMALIZATION": batch,
    "BATCH_NORMALIZATION_TRAINING": training,
    "LOCAL_RESPONSE_NORMALIZATION": local_response,
    "LP_NORMALIZATION": norm,
    **{f"MEAN_VARIANCE_NORMALIZATION{version}": versioned(version) for version in ("", "1", "2")},
}


def normalizations(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield NORMALIZATIONS[operator](generator)
