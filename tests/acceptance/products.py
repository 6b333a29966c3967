"""Right ways to compute products of matrices, convolutions and attention, in float32."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any

import torch
from acceptance.elementwise import fused
from torch import Tensor
from torch.nn import functional

Inputs = dict[str, Any]

# ---- matrices


def _turned(d: Any, x: Inputs) -> tuple[Tensor, Tensor]:
    return tuple(  # type: ignore[return-value]
        x[f"{name}Tensor"].mT if d[f"Trans{name}"] == "TRANSPOSE" else x[f"{name}Tensor"] for name in "AB"
    )


def _with_c(d: Any, x: Inputs, sums: Tensor) -> Tensor:
    return fused(d, sums + d["Beta"] * x["CTensor"] if "CTensor" in x else sums)


def gemm(d: Any, x: Inputs) -> Tensor:
    a, b = _turned(d, x)
    return _with_c(d, x, d["Alpha"] * (a @ b))


def gemm_scaled_first(d: Any, x: Inputs) -> Tensor:
    """Alpha times A, and the transposed product."""
    a, b = _turned(d, x)
    return _with_c(d, x, (b.mT @ (d["Alpha"] * a).mT).mT)


def gemm_from_c(d: Any, x: Inputs) -> Tensor:
    """Beta C as what the sums begin with, to which parts of 16 terms are added."""
    a, b = _turned(d, x)
    sums = d["Beta"] * x["CTensor"].expand(*a.shape[:-1], b.shape[-1]) if "CTensor" in x else torch.zeros(())
    for part_a, part_b in zip(a.split(_part(a), -1), b.split(_part(a), -2), strict=True):
        sums = sums + (d["Alpha"] * part_a) @ part_b
    return fused(d, sums)


def _part(a: Tensor) -> int:
    return max(16, a.shape[-1] // 256)


def gemm_by_numpy(d: Any, x: Inputs) -> Tensor:
    a, b = _turned(d, x)
    return _with_c(d, x, d["Alpha"] * torch.from_numpy(a.numpy() @ b.numpy()))


def _dequantized(x: Inputs, name: str) -> tuple[Tensor, Tensor]:
    """Return a matrix less its zero points, and its scales."""
    whole, zero = x[f"{name}Tensor"].to(torch.int64), x.get(f"{name}ZeroPointTensor")

    def beside(part: Any) -> Tensor:
        flat = part.reshape(-1)
        return flat.reshape(-1, 1) if name == "A" else flat

    whole = whole if zero is None else whole - beside(zero.to(torch.int64))
    return whole.to(torch.float32), beside(x[f"{name}ScaleTensor"].to(torch.float32))


def to_float(_: Any, x: Inputs, *, is_scaled_first: bool) -> Tensor:
    """MATRIX_MULTIPLY_INTEGER_TO_FLOAT: sums of integers that are scaled, or of dequantized numbers."""
    (a, of_a), (b, of_b) = _dequantized(x, "A"), _dequantized(x, "B")
    if is_scaled_first:
        found = (a * of_a) @ (b * of_b)
    else:
        found = (a.to(torch.float64) @ b.to(torch.float64)).to(torch.float32) * (of_a * of_b)
    return found + x["BiasTensor"] if "BiasTensor" in x else found


# ---- convolution

FORWARD = (functional.conv1d, functional.conv2d, functional.conv3d)
BACKWARD = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)


def convolution(d: Any, x: Inputs, *, is_channels_last: bool = False) -> Tensor:
    """Return PyTorch's convolution of what is padded, or a part of its transposed one."""
    given, taps, rank = x["InputTensor"], x["FilterTensor"], len(d["Strides"])
    if d["Mode"] == "CONVOLUTION":
        taps = taps.flip(*range(2, rank + 2))
    if is_channels_last and rank == 2:
        given, taps = (each.contiguous(memory_format=torch.channels_last) for each in (given, taps))
    bias = x["BiasTensor"].reshape(-1) if "BiasTensor" in x else None
    options = {"stride": list(d["Strides"]), "dilation": list(d["Dilations"]), "groups": d["GroupCount"]}
    if d["Direction"] == "FORWARD":
        found = FORWARD[rank - 1](padded(d, given), taps, bias, **options)
        return fused(d, part_of(d, found).contiguous())
    return fused(d, _cut(d, BACKWARD[rank - 1](given, taps, None, **options), bias))


def part_of(d: Any, found: Tensor) -> Tensor:
    """Return the places of a filter that the output has."""
    return found[(slice(None), slice(None), *map(slice, d.tensor("OutputTensor").sizes[2:]))]


def _cut(d: Any, whole: Tensor, bias: Tensor | None) -> Tensor:
    """Return the part of a transposed convolution that is asked for, 0 beyond it, with its bias."""
    for axis, (start, size) in enumerate(zip(d["StartPadding"], d.tensor("OutputTensor").sizes[2:], strict=True), 2):
        kept = max(0, min(size, whole.shape[axis] - start))
        whole = whole.narrow(axis, min(start, whole.shape[axis] - kept), kept)
        more = list(whole.shape)
        more[axis] = size - kept
        whole = torch.cat([whole, torch.zeros(more)], axis)
    return whole if bias is None else whole + bias.reshape(1, -1, *[1] * (whole.dim() - 2))


def padded(d: Any, x: Tensor) -> Tensor:
    """Return the input of a convolution with its padding, and as much as OutputPadding makes necessary."""
    names = ("Strides", "Dilations", "StartPadding")
    sizes = (x.shape[2:], d.tensor("FilterTensor").sizes[2:], d.tensor("OutputTensor").sizes[2:])
    each = zip(*sizes, *(d[name] for name in names), strict=True)
    ends = [max(0, (places - 1) * s + (k - 1) * by + 1 - start - size) for size, k, places, s, by, start in each]
    ends = list(map(max, ends, d["EndPadding"]))
    return functional.pad(x, list(chain.from_iterable(zip(reversed(d["StartPadding"]), reversed(ends), strict=True))))


def without_mkldnn(d: Any, x: Inputs) -> Tensor:
    """Return the convolution by PyTorch's own loops in the place of oneDNN's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of GPUs, whatever is switched off
        with torch.backends.mkldnn.flags(enabled=False):
            return convolution(d, x)


def windows(x: Tensor, d: Any, size: tuple[int, ...]) -> Tensor:
    """Return the windows of a padded tensor: batch, channels, places, elements of the window."""
    rank = len(size)
    dilations = d.get("Dilations") or (1,) * rank
    for axis, (count, stride, dilation) in enumerate(zip(size, d["Strides"], dilations, strict=True), 2):
        x = x.unfold(axis, (count - 1) * dilation + 1, stride)[..., ::dilation]
    return x


def im2col(d: Any, x: Inputs, *, is_bias_first: bool = False) -> Tensor:
    """Return the product of the filter with the windows, of a group after the other."""
    given, taps, rank = x["InputTensor"], x["FilterTensor"], len(d["Strides"])
    if d["Direction"] == "BACKWARD":
        return _scattered(d, x)
    if d["Mode"] == "CONVOLUTION":
        taps = taps.flip(*range(2, rank + 2))
    seen = part_of(d, windows(padded(d, given), d, tuple(taps.shape[2:])))
    places = seen.shape[2 : rank + 2]
    order = (0, 1, *range(rank + 2, 2 * rank + 2), *range(2, rank + 2))
    columns = seen.permute(order).reshape(len(given), d["GroupCount"], -1, math.prod(places))
    rows = taps.reshape(d["GroupCount"], -1, columns.shape[2])
    bias = x["BiasTensor"].reshape(1, -1, *[1] * rank) if "BiasTensor" in x else torch.zeros(())
    if is_bias_first:
        sums = bias.reshape(1, d["GroupCount"], -1, 1) if "BiasTensor" in x else bias
        for part_a, part_b in zip(rows.split(_part(rows), -1), columns.split(_part(rows), -2), strict=True):
            sums = sums + part_a @ part_b
        return fused(d, sums.reshape(len(given), -1, *places))
    return fused(d, (rows @ columns).reshape(len(given), -1, *places) + bias)


def _scattered(d: Any, x: Inputs) -> Tensor:
    """Return a transposed convolution as a convolution of what is spread by zeros."""
    given, taps, rank = x["InputTensor"], x["FilterTensor"], len(d["Strides"])
    sizes = [(n - 1) * s + 1 for n, s in zip(given.shape[2:], d["Strides"], strict=True)]
    spread = torch.zeros(*given.shape[:2], *sizes)
    spread[(..., *(slice(None, None, s) for s in d["Strides"]))] = given
    groups = d["GroupCount"]
    turned = taps.reshape(groups, -1, *taps.shape[1:]).transpose(1, 2).flatten(0, 1)
    if d["Mode"] != "CONVOLUTION":
        turned = turned.flip(*range(2, rank + 2))
    reach = [(k - 1) * by for k, by in zip(taps.shape[2:], d["Dilations"], strict=True)]
    around = functional.pad(spread, list(chain.from_iterable((each, each) for each in reversed(reach))))
    whole = FORWARD[rank - 1](around, turned, None, dilation=list(d["Dilations"]), groups=groups)
    bias = x["BiasTensor"].reshape(-1) if "BiasTensor" in x else None
    return fused(d, _cut(d, whole, bias))


# ---- attention


def attention(d: Any, x: Inputs, *, is_online: bool = False) -> dict[str, Tensor]:
    """Return softmax(Scale * Q K^T + bias, masked) V, by PyTorch's function, or key by key as flash attention does."""
    heads = d.get("HeadCount") or d["QueryHeadCount"]
    groups = d.get("HeadCount") or d["KeyValueHeadCount"]
    q, k, v = _heads(x, heads, groups)
    past = (_of_rank(x.get(f"Past{name}Tensor"), 4) for name in ("Key", "Value"))
    k, v = (each if before is None else torch.cat([before, each], 2) if each is not None else before
            for each, before in zip((k, v), past, strict=True))  # fmt: skip
    own_k, own_v = (each.repeat_interleave(heads // groups, 1) for each in (k, v))
    bias = _of_rank(x.get("RelativePositionBiasTensor", torch.zeros(1, 1, 1, 1)), 4)
    bias = bias.expand(len(q), heads, q.shape[2], k.shape[2])
    mask = _hidden(d, x, bias)
    bias = bias if mask is None else bias + torch.where(mask, d["MaskFilterValue"], 0.0)
    if is_online:
        found = _online(q * d["Scale"], own_k, own_v, bias)
    else:
        found = functional.scaled_dot_product_attention(q, own_k, own_v, attn_mask=bias, scale=d["Scale"])
    outputs = {"OutputTensor": found.transpose(1, 2).flatten(2)}
    return outputs | {"OutputPresentKeyTensor": k, "OutputPresentValueTensor": v}


def _of_rank(x: Tensor | None, rank: int) -> Tensor | None:
    """Return a tensor without its first dimensions, which are of size 1."""
    return None if x is None else x.reshape(x.shape[x.dim() - rank :])


def _heads(x: Inputs, heads: int, groups: int) -> Any:
    """Return query, key and value with their biases, the heads before the length."""
    stack = next((name for name in x if name.startswith("Stacked")), None)
    parts = {name: _of_rank(x.get(f"{name}Tensor"), 3) for name in ("Query", "Key", "Value")}
    if stack is not None:
        names = [name for name in parts if name in stack]
        parts |= {name: x[stack][:, :, :, at].flatten(2) for at, name in enumerate(names)}
    bias = _of_rank(x.get("BiasTensor"), 1)
    given = {name: part for name, part in parts.items() if part is not None}
    if bias is not None:
        width = parts["Query"].shape[2]
        own = (width // heads) * groups if parts["Key"] is None else parts["Key"].shape[2]
        ends = {"Query": bias[:width], "Key": bias[width : width + own], "Value": bias[width + own :]}
        given = {name: part + ends[name] for name, part in given.items()}
    counts = {"Query": heads, "Key": groups, "Value": groups}
    return [given[name].unflatten(2, (counts[name], -1)).transpose(1, 2) if name in given else None for name in parts]


def _hidden(d: Any, x: Inputs, like: Tensor) -> Tensor | None:
    mask, count = x.get("MaskTensor"), torch.arange(like.shape[3])
    if mask is None:
        return None
    if d["MaskType"] == "BOOLEAN":
        return _of_rank(mask, 4) == 0
    mask = mask.reshape(-1, len(like))
    end = mask[0].reshape(-1, 1, 1, 1)
    hidden = count >= end
    if d["MaskType"] == "KEY_SEQUENCE_END_START":
        hidden = hidden | (count < mask[1].reshape(-1, 1, 1, 1))
    return hidden.expand_as(like)


def _online(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    """Take blocks of 8 keys, and scale what was there whenever a larger score comes."""
    top, below, sums = torch.full((*q.shape[:3], 1), -math.inf), torch.zeros(()), torch.zeros(())
    for part_k, part_v, part in zip(k.split(8, 2), v.split(8, 2), bias.split(8, 3), strict=True):
        scores = q @ part_k.mT + part
        new = torch.maximum(top, scores.amax(3, keepdim=True))
        powers, factor = torch.exp(scores - new), torch.exp(top - new)
        below, sums, top = below * factor + powers.sum(3, keepdim=True), sums * factor + powers @ part_v, new
    return sums / below


WAYS = {
    "GEMM": (gemm, gemm_scaled_first, gemm_from_c, gemm_by_numpy),
    "CONVOLUTION": (
        convolution,
        without_mkldnn,
        im2col,
        lambda d, x: convolution(d, x, is_channels_last=True),
        lambda d, x: im2col(d, x, is_bias_first=True),
    ),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": (
        lambda d, x: to_float(d, x, is_scaled_first=True),
        lambda d, x: to_float(d, x, is_scaled_first=False),
    ),
    **dict.fromkeys(
        ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"),
        (attention, lambda d, x: attention(d, x, is_online=True)),
    ),
}
