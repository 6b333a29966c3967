"""Random descs of operators that multiply matrices, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from products_of import Array, built, random_floats

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


RANDOM: dict[str, Callable[[np.random.Generator], Made]] = {"GEMM": gemm}


def random_descs(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield RANDOM[operator](generator)
