"""Which results have no likely limit: `python tests/unlimited.py [OPERATOR...]`.

For each operator it draws valid descs, and values of means 0, 10, 100 and 1,000 with a standard deviation of 1, and
counts the elements whose tolerance is infinite, or has all that the operator can return, as `run --strict` sees it. It
prints a row for each operator that has any: the share of such elements by mean, in percent. The guide's page on
tolerances has these rows; REASONS says why they are there.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import drawn_descs
import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.drawing.values import SPECIAL, drawn_values, is_scale, of_name
from dmlcheck.reference.bounds import bounds
from dmlcheck.specs.load import full_name, operator_names
from dmlcheck.specs.records import OUTPUT

MEANS = (0, 10, 100, 1000)
DRAWS = 12
_SATURATED = "a fused activation that has all of its range within the error of a very large operand"
_GRADIENTS = "sums of FLOAT16 gradients around 1,000 that cancel: their error is larger than any FLOAT16 number"
_GROWING = "states, or their errors, that grow from step to step"
_SCORES = "scores of some hundreds or thousands: their rounding decides which key has all of the weight"
REASONS = {
    "BATCH_NORMALIZATION_GRAD": _GRADIENTS,
    "BATCH_NORMALIZATION_TRAINING": _SATURATED,
    "BATCH_NORMALIZATION_TRAINING_GRAD": _GRADIENTS,
    "CUMULATIVE_PRODUCT": "products of 1,031 numbers: later factors make the rounding of a denormal product large",
    "ELEMENT_WISE_TAN": "angles near a pole",
    "GRU": _GROWING,
    "MEAN_VARIANCE_NORMALIZATION": _SATURATED,
    "MEAN_VARIANCE_NORMALIZATION1": _SATURATED,
    "MULTIHEAD_ATTENTION": _SCORES,
    "MULTIHEAD_ATTENTION1": _SCORES,
    "RNN": _GROWING,
}
SIZES = (drawn_descs.SMALL, drawn_descs.LARGE, drawn_descs.LONG)


class Counted(NamedTuple):
    """How many elements were looked at, and how many of them have no limit."""

    elements: int = 0
    unlimited: int = 0


def shares(operator: str, draws: int = DRAWS, *, is_fused: bool = True) -> dict[int, Counted]:
    """Return by mean what is found of an operator with FLOAT32 and FLOAT16 tensors.

    Descs have no fused activations unless `is_fused`.
    """
    return {mean: _of_mean(operator, mean, draws, is_fused=is_fused) for mean in MEANS}


def _of_mean(operator: str, mean: int, draws: int, *, is_fused: bool) -> Counted:
    elements = unlimited = 0
    for draw in range(draws):
        generator = np.random.default_rng([draw, mean, *operator.encode()])
        desc = drawn_descs.drawn(operator, generator, SIZES[draw % len(SIZES)])
        if desc is None:
            continue
        if not is_fused:
            plain = {name: value for name, value in desc.values.items() if name != "FusedActivation"}
            desc = OperatorDesc.of(desc.spec, plain)
        inputs = drawn_values(desc, generator, "normal")
        for found in _counts(desc, _around(desc, inputs, mean, generator)):
            elements, unlimited = elements + found.elements, unlimited + found.unlimited
    return Counted(elements, unlimited)


def _around(desc: OperatorDesc, inputs: dict[str, Any], mean: int, generator: np.random.Generator) -> dict[str, Any]:
    """Return the inputs with other floats, but for those that have a range of their own, as scales do."""

    def value(name: str, part: TensorPart, values: Any) -> Any:
        has_range = name in SPECIAL or is_scale(desc, name) or of_name(desc, name, part.tensor) is not None
        if values.dtype.kind != "f" or has_range:
            return values
        return (mean + generator.standard_normal(values.shape)).astype(values.dtype)

    made = {}
    for name, given in inputs.items():
        parts = desc.parts[name]
        is_list = isinstance(given, list)
        new = [value(name, part, values) for part, values in zip(parts, given if is_list else [given], strict=True)]
        made[name] = new if is_list else new[0]
    return made


def _counts(desc: OperatorDesc, inputs: dict[str, Any]) -> Iterator[Counted]:
    asked = {part.label: np.ones(part.tensor.sizes, dtype=bool) for part in desc.tensors(OUTPUT)}
    for _, _, bound in bounds(desc, inputs, asked, is_likely=True):
        judged = ~bound.undefined & np.isfinite(bound.value)
        none = np.zeros_like(judged) if bound.unlimited is None else bound.unlimited & judged
        yield Counted(int(judged.sum()), int(none.sum()))


def main(words: list[str]) -> None:
    """Print a row for each operator with elements that have no limit."""
    warnings.simplefilter("ignore")
    asked = [full_name(word) for word in words] if words else operator_names()
    _write("operator", (f"mean {mean}" for mean in MEANS))
    for operator in asked:
        found = shares(operator)
        if any(count.unlimited for count in found.values()):
            percent = (100 * count.unlimited / max(1, count.elements) for count in found.values())
            _write(operator.removeprefix("DML_OPERATOR_"), (f"{share:.3g}" for share in percent))


def _write(name: str, columns: Iterable[str]) -> None:
    sys.stdout.write(f"{name:40}{''.join(f'{column:>10}' for column in columns)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
