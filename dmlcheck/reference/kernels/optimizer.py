"""ADAM_OPTIMIZER: a step down the gradient, divided by the root of a running mean of its squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.functions.nested import stored
from dmlcheck.reference.functions.overflowing import infinite_beyond
from dmlcheck.reference.functions.several_ways import moving_mean
from dmlcheck.reference.results import AsMeasured, any_of
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
    output_parameters: TensorDesc,
) -> dict[str, Any]:
    """X' = X - LearningRate * a * M' / (sqrt(V') + Epsilon).

    M' = Beta1 * M + (1 - Beta1) * G and V' = Beta2 * V + (1 - Beta2) * G^2. X are the parameters, M and V the first and
    second moments, G the gradient. At training step T, a is sqrt(1 - Beta2^T) / (1 - Beta1^T), and 1 at step 0. The
    moments of the step may be those that are stored, in their type.
    """
    first = moving_mean(input_first_moment, gradient, beta1)
    second = moving_mean(input_second_moment, np.square(gradient), beta2)
    below = 1 - np.power(beta1, training_step)
    correction = np.where(training_step == 0, 1.0, np.sqrt(1 - np.power(beta2, training_step)) / below)

    def moved(first: Any, second: Any) -> AsMeasured:
        share = first / (np.sqrt(second) + epsilon)
        return AsMeasured(input_parameters - learning_rate * (correction * share), below == 0)

    data_type = output_parameters.data_type
    held = [stored(each, data_type) for each in (first, second)]
    ways = moved(*held), moved(*(infinite_beyond(each, data_type) for each in held))
    result = any_of(*(ways[::-1] if len(output_parameters.sizes) > _MOST_AT_ONCE else ways))
    return {"output_parameters": result, "output_first_moment": first, "output_second_moment": second}


_MOST_AT_ONCE = 4  # dimensions up to which DirectML makes the step of moments that are not stored yet

# The step is an integer; its powers have errors.
STEP = Cut(needs={"training_step": lambda step, _, __: step.reshape(()).astype(np.float64)})
KERNELS: dict[str, Kernel] = {"ADAM_OPTIMIZER": Kernel(adam_optimizer, STEP)}
