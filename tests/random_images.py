"""Random descs of VALUE_SCALE_2D, with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL

IMAGES = ("VALUE_SCALE_2D",)


def images(operator: str, count: int = 60) -> Iterator[tuple[OperatorDesc, dict[str, Any]]]:
    """Yield descs with their inputs, always the same ones, most with a Scale that multiplies without rounding."""
    generator = np.random.default_rng(7)
    for _ in range(count):
        batch, height, width = generator.integers(1, 5, 3).tolist()
        sizes = [batch, int(generator.choice([1, 3])), height, width]
        dtype = generator.choice([np.float32, np.float16])
        x = (generator.normal(size=sizes) * 100).astype(dtype)
        bias = generator.normal(size=sizes[1]) * generator.choice([0, 1, 100])
        tensor = {"DataType": x.dtype.name.upper(), "Sizes": sizes}
        fields = {"Scale": float(generator.choice([1, -0.5, 4, 0, 0.3])), "Bias": bias.astype(np.float16).tolist()}
        desc, problems = validation.validate(
            f"DML_OPERATOR_{operator}", {"InputTensor": tensor, "OutputTensor": tensor, **fields}, NEWEST_LEVEL
        )
        assert desc is not None
        assert not problems
        yield desc, {"InputTensor": x}
