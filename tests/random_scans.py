"""Random descs of running sums and products, with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from random_movement import built, some_sizes, tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.values.number_formats import NUMPY_TYPES

SCANS = {"CUMULATIVE_PRODUCT": "HasExclusiveProduct", "CUMULATIVE_SUMMATION": "HasExclusiveSum"}


def scans(operator: str) -> Iterator[tuple[OperatorDesc, dict[str, Any]]]:
    """Yield descs of an operator, some of each data type of its table."""
    generator = np.random.default_rng(12)
    for data_type in ("FLOAT32", "FLOAT16", "INT32", "INT64", "UINT32", "UINT64"):
        for _ in range(20):
            sizes = some_sizes(generator)
            axis = int(generator.integers(len(sizes)))
            sizes = (*sizes[:axis], int(generator.integers(1, 40)), *sizes[axis + 1 :])
            fields = {
                "InputTensor": tensor(data_type, sizes),
                "OutputTensor": tensor(data_type, sizes),
                "Axis": axis,
                "AxisDirection": str(generator.choice(["INCREASING", "DECREASING"])),
                SCANS[operator]: bool(generator.random() < 0.5),
            }
            yield built(operator, fields, {"InputTensor": elements(generator, data_type, sizes)})


def elements(generator: np.random.Generator, data_type: str, sizes: tuple[int, ...]) -> Any:
    """Return integers of the whole range of a type, or ordinary floats, a few of them infinite or NaN."""
    dtype = NUMPY_TYPES[data_type]
    if dtype.kind != "f":
        about = np.iinfo(dtype)
        return generator.integers(about.min, about.max, sizes, dtype, endpoint=True)
    special = generator.choice(np.array([0, np.inf, -np.inf, np.nan], dtype), sizes)
    return np.where(generator.random(sizes) < 0.02, special, (generator.normal(size=sizes) * 2).astype(dtype))
