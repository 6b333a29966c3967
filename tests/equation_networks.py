"""What names in the equations of normalizations, recurrent networks, GEMM and attention are for a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from equation_tensors import Names, Pair, attributes_of, checked, inputs_of, output_of, places
from equations import elements

from dmlcheck.cases.records import Case

# ---- normalizations


def normalized(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """The normalizations, and BATCH_NORMALIZATION_GRAD: an element with the statistics of its group or its tensors."""
    given, y = inputs_of(case), output_of(case)
    x = given["InputTensor"].astype(float)
    wide = {name.removesuffix("Tensor"): np.broadcast_to(values, x.shape) for name, values in given.items()}
    statistics = {**dict(zip(("Mean", "Variance"), _statistics(case, x), strict=True)), "Bias": np.zeros(x.shape)}
    names = {**attributes_of(case), "FusedActivation": lambda total: total, "FusedAdd": 0, "Scale": 1}
    for place in places(x.shape):
        at = {name: float(values[place]) for name, values in {**statistics, **wide}.items()}
        symbols = {"x": at["Input"], "g": at.get("InputGradient", 0)}
        yield from checked(equations, {}, {**names, **at, **symbols}, lambda place=place: float(y[place]))


def _statistics(case: Case, x: Any) -> tuple[Any, Any]:
    """Return the mean and the variance of each element's group; a mean that is not used is 0."""
    scale = case.desc.get("ScaleTensor", {}).get("Sizes", ())
    by_size = [axis for axis, size in enumerate(scale) if size == 1]
    axes = tuple(case.desc.get("Axes", by_size if "TRAINING" in case.operator else range(2, x.ndim)))
    mean = x.mean(axis=axes, keepdims=True) * case.desc.get("UseMean", True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return np.broadcast_to(mean, x.shape), np.broadcast_to(variance, x.shape)


# ---- recurrent networks, products of matrices and attention


def recurrent(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """RNN, GRU and LSTM forward, with one batch element and a hidden size of 1: step after step."""
    given = {name: values.ravel().tolist() for name, values in inputs_of(case).items()}
    gates = _GATES[case.operator.removeprefix("DML_OPERATOR_")]
    names = attributes_of(case) | {name: lambda x: x for name in "fgh"}
    for letter, tensor in (("W", "WeightTensor"), ("R", "RecurrenceTensor")):
        names |= {f"{letter}_{gate}".rstrip("_"): value for gate, value in zip(gates, given[tensor], strict=True)}
    names |= dict.fromkeys(("b_W", "b_R", *(f"{form}{gate}" for gate in gates for form in _BEGINNINGS)), 0)
    state = {f"{letter}_t - 1": (given.get(name) or [0])[0] for letter, name in _STATES.items()}
    for x, written in zip(given["InputTensor"], output_of(case).ravel().tolist(), strict=True):
        known = {**names, **state, "X_t": x}
        state = {f"{letter}_t - 1": _of(f"{letter}_t", equations, known) for letter in _STATES}
        yield float(state["H_t - 1"]), written


def _of(name: str, equations: Sequence[str], names: Names) -> float:
    """Return the value of one of several equations; the last state of a network that has no such state is 0."""
    rows = [part for text in equations for part in text.split(r", \quad ")]
    own = [row.partition(" = ")[2] for row in rows if row.startswith(f"{name} = ")]
    return float(next(elements([f"y = {own[0]}", *rows], {}, names))[1]) if own else 0.0


_STATES = {"H": "HiddenInitTensor", "C": "CellMemInitTensor"}
_GATES = {"RNN": ("",), "GRU": ("z", "r", "h"), "LSTM": ("i", "o", "f", "c")}
_BEGINNINGS = ("b_W", "b_R", "b_", "P_")


class Matrix:
    """A matrix whose product is that of matrices, as equations write it."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, dtype=float)

    @property
    def T(self) -> Matrix:  # noqa: N802 - as NumPy calls it
        return Matrix(self.values.T)

    def __mul__(self, other: Matrix) -> Matrix:
        return Matrix(self.values @ other.values)

    def __rmul__(self, factor: float) -> Matrix:
        return Matrix(factor * self.values)

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(self.values + other.values)


def products(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """GEMM without transposes, a batch at a time."""
    y = output_of(case)
    given = {name.removesuffix("Tensor"): values for name, values in inputs_of(case).items()}
    given.setdefault("C", np.zeros(y.shape))
    for batch in places(y.shape[:-2]):
        own = {name: Matrix(values[batch]) for name, values in given.items()}
        names = {**attributes_of(case), **own, "op": lambda x: x, "FusedActivation": lambda total: total}
        yield from _whole(equations, names, y[batch])


def attended(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """MULTIHEAD_ATTENTION with one head, and MULTIHEAD_ATTENTION1, of one batch element without bias and mask."""
    if "QueryHeadCount" in case.desc:
        return _grouped(case, equations)
    given, y = inputs_of(case), output_of(case)
    letters = {"q": "QueryTensor", "k": "KeyTensor", "v": "ValueTensor"}
    names: Names = {letter: Matrix(given[name][0]) for letter, name in letters.items()}
    scores = np.zeros((given["QueryTensor"].shape[1], given["KeyTensor"].shape[1]))
    names["m"] = Matrix(scores)
    names["RelativePositionBias"] = Matrix(given["RelativePositionBiasTensor"][0, 0]) if len(given) > 3 else names["m"]
    return _whole(equations, {**attributes_of(case), **names, "softmax": _softmax}, y[0])


def _grouped(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """The heads of queries one by one, each with the head of keys and values that its equation names."""
    given, y = inputs_of(case), output_of(case)
    queries, few = case.desc["QueryHeadCount"], case.desc["KeyValueHeadCount"]
    q, out = np.split(given["QueryTensor"][0], queries, 1), np.split(y[0], queries, 1)
    k, v = (np.split(given[name][0], few, 1) for name in ("KeyTensor", "ValueTensor"))
    for h in range(queries):
        names: Names = {**attributes_of(case), "h": h, "softmax": _softmax, "q_h": Matrix(q[h])}
        j = int(next(elements(["y = j", *equations[1:]], {}, names))[1])
        names |= {"k_j": Matrix(k[j]), "v_j": Matrix(v[j])}
        names |= dict.fromkeys(("m", "RelativePositionBias"), Matrix(np.zeros((len(q[h]), len(k[j])))))
        yield from _whole(equations, names, out[h])


def _softmax(scores: Matrix) -> Matrix:
    weights = np.exp(scores.values)
    return Matrix(weights / weights.sum(axis=1, keepdims=True))


def _whole(equations: Sequence[str], names: Names, written: Any) -> Iterator[Pair]:
    ((_, value),) = elements(equations, {}, names)
    yield from zip(value.values.ravel().tolist(), written.astype(float).ravel().tolist(), strict=True)
