"""Random descs of resampling, with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Array]]

NAMES = ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
RESAMPLING = (*NAMES, "UPSAMPLE_2D")
# Pixels count by their centres, or by their corners, or as TensorFlow has it for nearest elements, or in any other way.
OFFSETS = ((0.5, -0.5), (0, 0), (0, -0.5), (0.5, 0), (0.3, -1.7))


def described(operator: str, x: Array, output: tuple[int, ...], **fields: Any) -> Made:
    """Return the desc of an operator with an input and output sizes."""
    kind = x.dtype.name.upper()
    tensors = {"InputTensor": {"DataType": kind, "Sizes": list(x.shape)}}
    tensors |= {"OutputTensor": {"DataType": kind, "Sizes": list(output)}}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, {"InputTensor": x}


def returning(operator: str, gradient: Array, sizes: tuple[int, ...], **fields: Any) -> Made:
    """Return the desc of a gradient, with what comes in and the sizes of what comes out."""
    kind = gradient.dtype.name.upper()
    tensors = {"InputGradientTensor": {"DataType": kind, "Sizes": list(gradient.shape)}}
    tensors |= {"OutputGradientTensor": {"DataType": kind, "Sizes": list(sizes)}}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, {"InputGradientTensor": gradient}


def elements(generator: np.random.Generator, sizes: tuple[int, ...], dtype: Any) -> Array:
    """Return elements of a type, each another one."""
    if np.dtype(dtype).kind in "iu":
        about = np.iinfo(dtype)
        return generator.integers(about.min, about.max, sizes, dtype, endpoint=True)
    return (generator.normal(size=sizes) * 5).astype(dtype)


def resampled(generator: np.random.Generator, operator: str) -> Made:
    """Return a resampling of one to four dimensions, of which some keep their size."""
    rank = int(generator.integers(1, 5))
    sizes = tuple(generator.integers(1, 6, rank).tolist())
    kept = generator.random(rank) < 0.4
    scales = generator.choice([0.5, 2, 3, 1 / 3, 0.7, 1.5, 2.5, 1.75], rank)
    scales[kept] = 1
    more = generator.integers(0, 3, rank) - 1
    output = np.maximum(1, np.round(np.array(sizes) * scales + np.where(kept, 0, more)).astype(int))
    x = elements(generator, sizes, generator.choice(["float32", "float16", "int8", "uint8"]))
    fields: dict[str, Any] = {"Scales": scales.tolist()}
    fields["InterpolationMode"] = str(generator.choice(["NEAREST_NEIGHBOR", "LINEAR"]))
    if operator != "RESAMPLE":
        before, after = OFFSETS[int(generator.choice(len(OFFSETS), p=[0.4, 0.3, 0.1, 0.1, 0.1]))]
        fields["InputPixelOffsets"] = np.where(kept, 0.5, before).tolist()
        fields["OutputPixelOffsets"] = np.where(kept, -0.5, after).tolist()
    if operator in ("RESAMPLE2", "RESAMPLE3"):
        fields["RoundingDirection"] = str(generator.choice(["INCREASING", "DECREASING"]))
    if operator == "RESAMPLE3":
        fields["Antialiased"] = False
    return described(operator, x, tuple(output.tolist()), **fields)


def enlarged(generator: np.random.Generator) -> Made:
    """Return an UPSAMPLE_2D of four or five dimensions."""
    sizes = tuple(generator.integers(1, 5, int(generator.integers(4, 6))).tolist())
    height, width = generator.integers(1, 5, 2).tolist()
    x = elements(generator, sizes, generator.choice(["float32", "float16"]))
    mode = str(generator.choice(["NEAREST_NEIGHBOR", "LINEAR"]))
    output = (*sizes[:-2], sizes[-2] * height, sizes[-1] * width)
    return described("UPSAMPLE_2D", x, output, ScaleSize={"Height": height, "Width": width}, InterpolationMode=mode)


def resamplings(operator: str, count: int = 80) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield enlarged(generator) if operator == "UPSAMPLE_2D" else resampled(generator, operator)
