"""Random descs of FOLD and UNFOLD, with their inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from random_movement import Made, bits, built, tensor

Sizes = tuple[int, ...]

FOLDS = ("FOLD", "UNFOLD")


class Shape(NamedTuple):
    """The sizes of a tensor and a window over it, and the number of its places, by spatial dimension."""

    channels: Sizes
    sizes: Sizes
    fields: dict[str, Any]
    blocks: Sizes

    @property
    def columns(self) -> Sizes:
        """The sizes of the tensor with a column for each place."""
        batch, channels = self.channels
        return batch, channels * math.prod(self.fields["WindowSizes"]), math.prod(self.blocks)


def dimension(generator: np.random.Generator) -> tuple[int, ...]:
    """Return window, stride, dilation, padding at start and end, size and number of places of a dimension."""
    while True:
        window, stride, gap = (int(generator.integers(1, most)) for most in (5, 4, 4))
        start, end, size = (int(generator.choice(of)) for of in ([0, 0, 1, 2], [0, 0, 1, 3], [1, 2, 3, 5, 8]))
        rest = size + start + end - (window - 1) * gap - 1
        if rest >= 0:
            return window, stride, gap, start, end, size, rest // stride + 1


def shape(generator: np.random.Generator, rank: int) -> Shape:
    """Return a window over a tensor of some spatial dimensions."""
    while True:
        parts = [*zip(*(dimension(generator) for _ in range(rank)), strict=True)]
        *fields, sizes, blocks = parts
        if math.prod(blocks) * math.prod(fields[0]) <= 2000:
            break
    names = ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding")
    channels = (int(generator.integers(1, 3)), int(generator.integers(1, 4)))
    return Shape(channels, sizes, dict(zip(names, map(list, fields), strict=True)), blocks)


def made(generator: np.random.Generator, operator: str, data_type: str, of: Shape) -> Made:
    """Return a desc, with inputs of random bits to move, or ordinary numbers to add."""
    whole = of.channels + of.sizes
    given, result = (whole, of.columns) if operator == "UNFOLD" else (of.columns, whole)
    fields = {"InputTensor": tensor(data_type, given), "OutputTensor": tensor(data_type, result), **of.fields}
    if operator == "UNFOLD":
        x = bits(generator, data_type, given)
    elif data_type.startswith("FLOAT"):
        x = generator.normal(size=given).astype(data_type.lower())
    else:
        about = np.iinfo(data_type.lower())
        x = generator.integers(max(about.min, -(2**60)), min(about.max, 2**60), given).astype(about.dtype)
    return built(operator, fields, {"InputTensor": x})


def folds(operator: str) -> Iterator[Made]:
    """Yield descs of an operator, of each number of spatial dimensions and most data types."""
    generator = np.random.default_rng(17)
    for data_type in ("FLOAT32", "FLOAT16", "FLOAT64", "INT32", "UINT32", "INT64", "INT8", "UINT8", "INT16"):
        for rank in (1, 1, 2, 2, 2, 3, 4):
            yield made(generator, operator, data_type, shape(generator, rank))
