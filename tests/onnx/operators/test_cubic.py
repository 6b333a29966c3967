"""Cubic Resize by ONNX's meaning: sixteen neighbours, weighted by Keys' polynomials."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from whole_models import node

from dmlcheck.models.node_verdict import NodeVerdict, judge_node
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.running.verdict import Limits

X = np.random.default_rng(5).uniform(-2, 3, (2, 3, 5, 7)).astype(np.float32)
PLACES = {
    "align_corners": lambda o, old, new: o * (old - 1) / (new - 1),
    "asymmetric": lambda o, old, new: o * old / new,
    "half_pixel": lambda o, old, new: (o + 0.5) * old / new - 0.5,
}


def weight(distance: float, a: float) -> float:
    """Return the weight of an element, as the operator's text has it."""
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def line(values: list[float], place: float, a: float, *, is_inside: bool) -> float:
    """Return the sum of the four elements around a place; those outside are the ones at the edges, or left out."""
    first, last = math.floor(place) - 1, len(values) - 1
    taken = [at for at in range(first, first + 4) if not is_inside or 0 <= at <= last]
    weights = [weight(place - at, a) for at in taken]
    total = sum(w * values[min(max(at, 0), last)] for w, at in zip(weights, taken, strict=True))
    return total / sum(weights) if is_inside else total


def resized(height: int, width: int, mode: str, a: float = -0.75, *, is_inside: bool = False) -> Any:
    """Return the result for X, element by element."""
    place, (batch, channels, rows, columns) = PLACES[mode], X.shape
    found = np.empty((batch, channels, height, width))
    for n, c, y, x in itertools.product(*map(range, found.shape)):
        across = [line(X[n, c, row].tolist(), place(x, columns, width), a, is_inside=is_inside) for row in range(rows)]
        found[n, c, y, x] = line(across, place(y, rows, height), a, is_inside=is_inside)
    return found


def outcome(actual: Any, **attributes: Any) -> list[str]:
    """Return the rules that are found in an implementation's result."""
    made = node("Resize", "x - - s", "y", mode="cubic", **attributes)
    sizes = np.array(actual.shape, np.int64)
    found = judge_node(made, 19, [X, None, None, sizes], [actual], is_directml=False, limits=Limits())
    assert isinstance(found, NodeVerdict)
    return [finding.rule for finding in found.verdict.findings]


@pytest.mark.parametrize("mode", PLACES)
@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize(("height", "width"), [(10, 14), (7, 4), (3, 20)])
def test_a_right_result_passes_and_others_do_not(mode: str, is_inside: bool, height: int, width: int) -> None:
    given = {"coordinate_transformation_mode": mode, "exclude_outside": int(is_inside)}
    right = resized(height, width, mode, is_inside=is_inside)
    assert outcome(right.astype(np.float32), **given) == []
    coarse = resized(height, width, mode, -0.5, is_inside=is_inside)
    assert outcome(coarse.astype(np.float32), **given) == ["output-mismatch"]
    assert outcome(coarse.astype(np.float32), cubic_coeff_a=-0.5, **given) == []
    other = resized(height, width, mode, is_inside=not is_inside)
    assert outcome(other.astype(np.float32), **given) == ["output-mismatch"]


def test_the_reference_computes_what_the_polynomials_give() -> None:
    given = node_of("Resize", [X, None, None, np.array([2, 3, 10, 4])], float32(2, 3, 10, 4), opset=19, mode="cubic")
    (found,) = computed(given)
    assert found == pytest.approx(resized(10, 4, "half_pixel"), rel=1e-5, abs=1e-5)


def test_a_size_that_does_not_change_is_copied() -> None:
    given = node_of("Resize", [X, None, None, np.array(X.shape)], float32(*X.shape), opset=19, mode="cubic")
    (found,) = computed(given)
    assert found.tolist() == X.tolist()


def test_dimensions_of_too_many_weights_are_refused() -> None:
    large = np.zeros((1, 1, 1, 8192), np.float32)
    given = node_of("Resize", [large, None, None, np.array([1, 1, 1, 4096])], float32(1, 1, 1, 4096), mode="cubic")
    with pytest.raises(Unmapped, match="a cubic Resize of 8,192 to 4,096 elements"):
        computed(given)
