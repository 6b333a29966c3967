"""ADAM_OPTIMIZER: a step down the gradient, divided by the root of a running mean of its squares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import hull
from dmlcheck.reference.pieces import Open
from dmlcheck.reference.rows import Kernel
from dmlcheck.reference.tiling.blocks import BLOCK, tiles
from dmlcheck.reference.tiling.piece import Piece

OUTPUTS = ("output_parameters", "output_first_moment", "output_second_moment")


def step_of(
    x: Any, m: Any, v: Any, g: Any, step: Any, *, learning_rate: Any, beta1: Any, beta2: Any, epsilon: Any
) -> dict[str, Any]:
    """X', M' and V' of some parameters; X' is left open where it has nothing but the divisor 0."""
    first, second = moment(m, g, beta1), moment(v, np.square(g), beta2)
    below = 1 - np.power(beta1, step)
    rate = learning_rate * (np.sqrt(1 - np.power(beta2, step)) / below)
    result = x - rate * first / (np.sqrt(second) + epsilon)
    return dict(zip(OUTPUTS, (Open(result, below == 0), first, second), strict=True))


def moment(m: Any, g: Any, beta: Any) -> Any:
    """Beta * M + (1 - Beta) * G, which an implementation may compute as M + (1 - Beta) * (G - M)."""
    return hull(lambda: beta * m + (1 - beta) * g, lambda: m + (1 - beta) * (g - m))


def adam(
    input_parameters: Any,
    input_first_moment: Any,
    input_second_moment: Any,
    gradient: Any,
    training_step: Any,
    *,
    learning_rate: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
) -> Iterator[Piece]:
    """X' = X - LearningRate * a * M' / (sqrt(V') + Epsilon).

    M' = Beta1 * M + (1 - Beta1) * G and V' = Beta2 * V + (1 - Beta2) * G^2. X are the parameters, M and V the first and
    second moments, G the gradient. At training step T, a is sqrt(1 - Beta2^T) / (1 - Beta1^T).
    """
    options = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    tensors = (input_parameters, input_first_moment, input_second_moment, gradient)
    step = training_step.reshape(()).astype(np.float64)
    for index in tiles(gradient.shape, BLOCK):
        parts = (x[index] for x in tensors)
        yield Piece(dict.fromkeys(OUTPUTS, index), partial(step_of, **options), (*parts, step))


KERNELS: dict[str, Kernel] = {"ADAM_OPTIMIZER": Kernel(adam)}
