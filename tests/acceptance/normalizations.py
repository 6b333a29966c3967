"""Right ways to compute normalizations and their gradients, in float32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from acceptance.elementwise import fused
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]
Axes = tuple[int, ...]

# ---- mean and variance


def _moments(x: Tensor, axes: Axes, way: str) -> tuple[Tensor, Tensor]:
    if not axes:  # PyTorch would take all of them
        return x, x - x
    if way == "one pass":
        mean = x.mean(axes, keepdim=True)
        return mean, ((x * x).mean(axes, keepdim=True) - mean * mean).clamp(min=0)
    if way == "two passes":
        mean = x.mean(axes, keepdim=True)
        return mean, torch.square(x - mean).mean(axes, keepdim=True)
    variance, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
    return mean, variance


def normalized(x: Tensor, mean: Any, variance: Any, scale: Any, bias: Any, epsilon: float, way: str) -> Tensor:
    """Return Scale * (x - Mean) / sqrt(Variance + Epsilon) + Bias, multiplied first or last."""
    if way == "factor first":
        factor = scale * torch.rsqrt(variance + epsilon)
        return x * factor + (bias - mean * factor)
    if way == "divided":
        return (x - mean) / torch.sqrt(variance + epsilon) * scale + bias
    return (x - mean) * (torch.rsqrt(variance + epsilon) * scale) + bias


FORMULAS = {  # how the moments are computed, and the results
    "natural": ("Welford", ""),
    "two passes": ("two passes", "divided"),
    "factor first": ("Welford", "factor first"),
    "one pass": ("one pass", "divided"),
}


def _axes(d: Any) -> Axes:
    if "Axes" in d:
        return tuple(d["Axes"])
    return (1, 2, 3) if d["CrossChannel"] else (2, 3)


def mean_variance(name: str) -> Any:
    """Return a way to compute a MEAN_VARIANCE_NORMALIZATION."""
    of_moments, of_results = FORMULAS[name]

    def way(d: Any, x: Inputs) -> Tensor:
        given, axes = x["InputTensor"], _axes(d)
        mean, variance = _moments(given, axes, of_moments)
        if not d.get("UseMean", True):
            mean, variance = torch.zeros(()), (given * given).mean(axes, keepdim=True)
        scale, bias = x.get("ScaleTensor", torch.ones(())), x.get("BiasTensor", torch.zeros(()))
        if not d.get("NormalizeVariance", d.get("UseVariance", True)):
            return fused(d, (given - mean) * scale + bias)
        return fused(d, normalized(given, mean, variance, scale, bias, d["Epsilon"], of_results))

    return way


def by_layer_norm(d: Any, x: Inputs) -> Tensor:
    """Return PyTorch's layer normalization, of axes that are the last ones; else the formula."""
    given, axes = x["InputTensor"], _axes(d)
    first = given.dim() - len(axes)
    uses_both = d.get("NormalizeVariance", d.get("UseVariance", True)) and d.get("UseMean", True)
    if not uses_both or not axes or axes != tuple(range(first, given.dim())):
        return mean_variance("natural")(d, x)
    found = functional.layer_norm(given, given.shape[first:], eps=d["Epsilon"])
    found = found * x["ScaleTensor"] if "ScaleTensor" in x else found
    return fused(d, found + x["BiasTensor"] if "BiasTensor" in x else found)


def batch(way: str) -> Any:
    def of(d: Any, x: Inputs) -> Tensor:
        given, *parameters = (x[f"{name}Tensor"] for name in ("Input", "Mean", "Variance", "Scale", "Bias"))
        return fused(d, normalized(given, *parameters, d["Epsilon"], way))

    return of


def batch_by_torch(d: Any, x: Inputs) -> Tensor:
    given, *parameters = (x[f"{name}Tensor"] for name in ("Input", "Mean", "Variance", "Scale", "Bias"))
    own = (1, *given.shape[1:2], *[1] * (given.dim() - 2))
    if given.dim() < 3 or any(tuple(each.shape) != own for each in parameters):
        return batch("")(d, x)
    return fused(d, functional.batch_norm(given, *(each.reshape(-1) for each in parameters), eps=d["Epsilon"]))


def training(name: str) -> Any:
    of_moments, of_results = FORMULAS[name]

    def way(d: Any, x: Inputs) -> dict[str, Tensor]:
        given, scale = x["InputTensor"], x["ScaleTensor"]
        axes = tuple(axis for axis, size in enumerate(scale.shape) if size == 1)
        mean, variance = _moments(given, axes, of_moments) if axes else (given, given - given)
        found = normalized(given, mean, variance, scale, x["BiasTensor"], d["Epsilon"], of_results)
        found = found + x["FusedAddTensor"] if "FusedAddTensor" in x else found
        return {"OutputTensor": fused(d, found), "OutputMeanTensor": mean, "OutputVarianceTensor": variance}

    return way


# ---- gradients


def _names(x: Tensor, scale: Tensor, bias: Tensor) -> dict[str, Tensor]:
    names = ("OutputGradientTensor", "OutputScaleGradientTensor", "OutputBiasGradientTensor")
    return dict(zip(names, (x, scale, bias), strict=True))


def batch_grad(way: str) -> Any:
    def of(d: Any, x: Inputs) -> dict[str, Tensor]:
        given, dy, mean, variance, scale = (
            x[f"{name}Tensor"] for name in ("Input", "InputGradient", "Mean", "Variance", "Scale")
        )
        axes = tuple(axis for axis, size in enumerate(mean.shape) if size == 1)
        inverse = torch.rsqrt(variance + d.get("Epsilon", 0.0))

        def total(terms: Tensor) -> Tensor:
            return terms.sum(axes, keepdim=True) if axes else terms

        if way == "normalized first":
            return _names(dy * (scale * inverse), total(dy * ((given - mean) * inverse)), total(dy))
        return _names(dy * scale * inverse, total(dy * (given - mean)) * inverse, total(dy))

    return of


def training_grad(way: str) -> Any:
    def of(d: Any, x: Inputs) -> dict[str, Tensor]:
        given, dy, mean, variance, scale = (
            x[f"{name}Tensor"] for name in ("Input", "InputGradient", "Mean", "Variance", "Scale")
        )
        axes = tuple(axis for axis, size in enumerate(mean.shape) if size == 1)
        inverse = torch.rsqrt(variance + d.get("Epsilon", 0.0))
        centred = given - mean
        if not axes:
            return _names(torch.zeros_like(dy), dy * centred * inverse, dy)
        count = math.prod(given.shape[axis] for axis in axes)
        sums, products = dy.sum(axes, keepdim=True), (dy * centred).sum(axes, keepdim=True)
        if way == "by counts":
            whole = count * dy - sums - centred * inverse * inverse * products
            found = scale * inverse / count * whole
        else:
            found = scale * inverse * (dy - sums / count - centred * (products * inverse * inverse / count))
        return _names(found, products * inverse, sums)

    return of


# ---- neighbours and norms


def _sums(d: Any, x: Tensor) -> Tensor:
    """Return the sums of the regions around each element, by a pooling that pads with zeros."""
    size = d["LocalSize"]
    before, after = (size - 1) // 2, size // 2
    if d["CrossChannel"]:
        padded = functional.pad(x.unsqueeze(1), (0, 0, 0, 0, before, after))
        return functional.avg_pool3d(padded, (size, 1, 1), stride=1, divisor_override=1).squeeze(1)
    padded = functional.pad(x, (before, after, before, after))
    return functional.avg_pool2d(padded, size, stride=1, divisor_override=1)


def _sums_by_shifts(d: Any, x: Tensor) -> Tensor:
    """Return the same sums, a shifted tensor after the other."""
    size = d["LocalSize"]
    before, after = (size - 1) // 2, size // 2
    sums = x
    for axis in (1,) if d["CrossChannel"] else (2, 3):
        pads = [0] * 8
        pads[2 * (3 - axis) : 2 * (3 - axis) + 2] = [before, after]
        padded = functional.pad(sums, pads)
        sums = torch.zeros(())
        for shift in range(size):
            sums = sums + padded.narrow(axis, shift, x.shape[axis])
    return sums


def local_response(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"]
    return given / (d["Bias"] + d["Alpha"] / d["LocalSize"] * _sums(d, given * given)) ** d["Beta"]


def local_response_by_exp(d: Any, x: Inputs) -> Tensor:
    given = x["InputTensor"]
    base = d["Bias"] + d["Alpha"] * (_sums_by_shifts(d, given * given) / d["LocalSize"])
    return given * torch.exp2(-d["Beta"] * torch.log2(base))


def local_response_grad(sums: Any) -> Any:
    """Return a way to compute the gradient; that of an even LocalSize is no derivative."""

    def way(d: Any, x: Inputs) -> Tensor:
        given, gradient, share = x["InputTensor"], x["InputGradientTensor"], d["Alpha"] / d["LocalSize"]
        base = d["Bias"] + share * sums(d, given * given)
        others = sums(d, gradient * given * base ** (-d["Beta"] - 1))
        return gradient * base ** -d["Beta"] - 2 * share * d["Beta"] * given * others

    return way


def lp(d: Any, x: Inputs) -> Tensor:
    """Return PyTorch's normalization, whose divisor is the larger of the norm and Epsilon."""
    return functional.normalize(x["InputTensor"], d["P"], d["Axis"], eps=d["Epsilon"])


def lp_by_rsqrt(d: Any, x: Inputs) -> Tensor:
    """Return elements times the inverse root of the sum, to which Epsilon is added, one term after the other."""
    given = x["InputTensor"].numpy()
    terms = given * given if d["P"] == 2 else np.abs(given)
    sums = torch.from_numpy(np.cumsum(terms, axis=d["Axis"], dtype=np.float32)).narrow(d["Axis"], -1, 1)
    factor = torch.rsqrt(sums + d["Epsilon"]) if d["P"] == 2 else torch.reciprocal(sums + d["Epsilon"])
    return x["InputTensor"] * factor


_MEAN_VARIANCE = (by_layer_norm, *map(mean_variance, ("two passes", "factor first", "one pass")))
WAYS = {
    "MEAN_VARIANCE_NORMALIZATION": _MEAN_VARIANCE,
    "MEAN_VARIANCE_NORMALIZATION1": _MEAN_VARIANCE,
    "MEAN_VARIANCE_NORMALIZATION2": _MEAN_VARIANCE,
    "BATCH_NORMALIZATION": (batch_by_torch, batch("divided"), batch("factor first")),
    "BATCH_NORMALIZATION_TRAINING": tuple(map(training, FORMULAS)),
    "BATCH_NORMALIZATION_GRAD": (batch_grad(""), batch_grad("normalized first")),
    "BATCH_NORMALIZATION_TRAINING_GRAD": (training_grad(""), training_grad("by counts")),
    "LOCAL_RESPONSE_NORMALIZATION": (local_response, local_response_by_exp),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": (local_response_grad(_sums), local_response_grad(_sums_by_shifts)),
    "LP_NORMALIZATION": (lp, lp_by_rsqrt),
}
