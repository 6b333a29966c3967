"""What names in the equations of the gradients of poolings, resamplings and normalizations are for a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from equation_tensors import Names, Pair, attributes_of, checked, inputs_of, output_of, places, reads
from equations import RANGE, Lazy, elements

from dmlcheck.cases.records import Case


def vectors(sizes: Sequence[int]) -> list[Any]:
    return [np.array(place) for place in places(sizes)]


def averaged_back(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """AVERAGE_POOLING_GRAD: a plane at a time."""
    g, y = inputs_of(case)["InputGradientTensor"], output_of(case)
    names = attributes_of(case)
    window = vectors(case.desc["WindowSize"])
    sizes = np.array(y.shape[2:])

    def count(names: Any) -> int:
        seen = [names["o"] * names["Strides"] + w - names["StartPadding"] for w in window]
        return len(window) if names["IncludePadding"] else sum(bool(np.all((i >= 0) & (i < sizes))) for i in seen)

    names |= {RANGE + "o": vectors(g.shape[2:]), RANGE + "w": window, "n_o": Lazy(lambda names: count(names) or 1)}
    for plane in places(y.shape[:2]):
        own = {**names, "InputGradient": reads(g[plane])}
        yield from checked(equations, {"i": vectors(y.shape[2:])}, own, reads(y[plane]))


def largest_back(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """MAX_POOLING_GRAD: a plane at a time."""
    given, y = inputs_of(case), output_of(case)
    x, g = given["InputTensor"], given["InputGradientTensor"]
    attributes = attributes_of(case)
    dilations = attributes.get("Dilations", 1)

    def first(plane: Any, o: Any) -> Any:
        seen = [o * attributes["Strides"] + w * dilations - attributes["StartPadding"] for w in window]
        inside = [i for i in seen if reads(plane)(i) is not None]
        return max(inside, key=reads(plane), default=None)  # the first of equal ones

    window = vectors(case.desc["WindowSize"])
    for plane in places(y.shape[:2]):
        largest = Lazy(lambda names, plane=plane: first(x[plane], names["o"]))
        own: Names = {RANGE + "o": vectors(g.shape[2:]), "m_o": largest, "InputGradient": reads(g[plane])}
        yield from checked(equations, {"i": vectors(y.shape[2:])}, own, reads(y[plane]))


def restored(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """MAX_UNPOOLING: all elements in a row; of each the one input that has its index, if there is one."""
    given, y = inputs_of(case), output_of(case).ravel()
    x, indices = given["InputTensor"].ravel(), given["IndicesTensor"].ravel()
    for k, written in enumerate(y.tolist()):
        own = [j for j, index in enumerate(indices.tolist()) if index == k]
        names: Names = {"Input": reads(x), "Indices": reads(indices), "j": own[0] if own else 0}
        yield from checked(equations, {"k": [k]}, names, lambda *_, written=written: float(written))


def resampled_back(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """RESAMPLE_GRAD and RESAMPLE_GRAD1: the equation along each dimension, one after another."""
    g, y = inputs_of(case)["InputGradientTensor"], output_of(case)
    modes = {name: value for name, value in case.desc.items() if isinstance(value, str)}
    for axis, size in enumerate(y.shape):
        lists = ("Scales", "InputPixelOffsets", "OutputPixelOffsets")
        names = {**modes, **{name: case.desc[name][axis] for name in lists}, "n": size}

        def line(values: Any, names: Names = names) -> list[float]:
            own = {**names, "InputGradient": reads(values), RANGE + "o": range(len(values))}
            return [float(value) for _, value in elements(equations, {"i": range(names["n"])}, own)]

        g = np.apply_along_axis(line, axis, g)
    yield from zip(g.ravel().tolist(), y.astype(float).ravel().tolist(), strict=True)


def trained_back(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """BATCH_NORMALIZATION_TRAINING_GRAD: a group at a time, as a vector; its statistics are one number each."""
    given, y = inputs_of(case), output_of(case)
    sizes = given["MeanTensor"].shape
    for place in places(sizes):
        group = tuple(slice(None) if size == 1 else at for at, size in zip(place, sizes, strict=True))
        symbols = {"x": given["InputTensor"], "g": given["InputGradientTensor"]}
        names = {**attributes_of(case), **{name: values[group].astype(float) for name, values in symbols.items()}}
        for name in ("Mean", "Variance", "Scale"):
            names[name] = float(given[f"{name}Tensor"][place])
        names["mean"] = lambda values: float(np.mean(values))
        ((_, found),) = elements(equations, {}, names)
        yield from zip(np.ravel(found).tolist(), y[group].astype(float).ravel().tolist(), strict=True)


def local_back(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """LOCAL_RESPONSE_NORMALIZATION_GRAD with CrossChannel, whose regions are channels."""
    given, y = inputs_of(case), output_of(case)
    x, g = given["InputTensor"], given["InputGradientTensor"]
    size = case.desc["LocalSize"]

    def region(place: tuple[int, ...]) -> list[tuple[int, ...]]:
        first, last = place[1] - (size - 1) // 2, place[1] + size // 2
        channels = range(max(first, 0), min(last + 1, x.shape[1]))
        return [(place[0], channel, *place[2:]) for channel in channels]

    def names(place: tuple[int, ...]) -> Names:
        return {
            **attributes_of(case),
            "x": float(x[place]),
            "g": float(g[place]),
            "x_": reads(x),
            "g_": reads(g),
            RANGE + "k": region(place),
            RANGE + "j": region(place),
            "B_": lambda other: next(elements(["y = B", *equations[1:]], {}, names(other)))[1],
        }

    for place in places(y.shape):
        ((_, value),) = elements(equations, {}, names(place))
        yield float(value), float(y[place])
