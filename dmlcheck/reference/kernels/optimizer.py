"""ADAM_OPTIMIZER: a step down the gradient, divided by the root of a running mean of its squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.functions.several_ways import moving_mean
from dmlcheck.reference.results import AsMeasured
from dmlcheck.reference.rows import Cut, Kernel


def adam_optimizer(
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
) -> dict[str, Any]:
    """X' = X - LearningRate * a * M' / (sqrt(V') + Epsilon).

    M' = Beta1 * M + (1 - Beta1) * G and V' = Beta2 * V + (1 - Beta2) * G^2. X are the parameters, M and V the first and
    second moments, G the gradient. At training step T, a is sqrt(1 - Beta2^T) / (1 - Beta1^T), and 1 at step 0.
    """
    first = moving_mean(input_first_moment, gradient, beta1)
    second = moving_mean(input_second_moment, np.square(gradient), beta2)
    below = 1 - np.power(beta1, training_step)
    correction = np.where(training_step == 0, 1.0, np.sqrt(1 - np.power(beta2, training_step)) / below)
    result = input_parameters - learning_rate * correction * first / (np.sqrt(second) + epsilon)
    result = AsMeasured(result, below == 0)
    return {"output_parameters": result, "output_first_moment": first, "output_second_moment": second}


# The step is an integer; its powers have errors.
STEP = Cut(needs={"training_step": lambda step, _, __: step.reshape(()).astype(np.float64)})
KERNELS: dict[str, Kernel] = {"ADAM_OPTIMIZER": Kernel(adam_optimizer, STEP)}
