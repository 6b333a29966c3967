"""UINT64 in PyTorch, which has few functions of it: INT64 of the same bits, put in order, divided and converted."""

from __future__ import annotations

import math
from typing import Any

import torch
from acceptance.elementwise import single
from torch import Tensor

LEAST = torch.iinfo(torch.int64).min
MOST = torch.iinfo(torch.int64).max
BITS = {
    "FLOAT64": 64,
    "FLOAT32": 32,
    "FLOAT16": 16,
    **{f"{sign}INT{n}": n for sign in ("", "U") for n in (8, 16, 32, 64)},
}


def is_wide(d: Any, name: str) -> bool:
    """Whether a tensor of a desc has UINT64."""
    return bool(d.tensor(name).data_type == "UINT64")


def is_integral(d: Any, name: str) -> bool:
    """Whether a tensor of a desc has integers."""
    return "INT" in d.tensor(name).data_type


def indices(d: Any, x: dict[str, Any], name: str) -> Tensor:
    """Return a tensor of indices as INT64; UINT64 beyond it as the largest of these."""
    whole = x[name].to(torch.int64)
    return torch.where(whole < 0, MOST, whole) if is_wide(d, name) else whole


def turned(x: Tensor, is_of_64_bits: bool) -> Tensor:
    """Return UINT64 as INT64 of the same order, and the other way round; other numbers as they are."""
    return x ^ LEAST if is_of_64_bits else x


def number(d: Any, name: str, kind: str) -> Any:
    """Return a number of a desc as a tensor of a data type, with the bits of UINT64; it loses its fraction in integers.

    A FLOAT of the desc is one of 32 bits. A number beyond an integer type becomes the nearest that there is.
    """
    value = single(d[name]) if d.spec.fields[name].type == "FLOAT" else d[name]
    if "FLOAT" in kind:
        return torch.tensor(value, dtype=torch.float64 if kind == "FLOAT64" else torch.float32)
    if isinstance(value, float):
        value = 0 if math.isnan(value) else int(max(-(2.0**80), min(2.0**80, value)))
    bits = BITS[kind]
    low, high = (0, 2**bits - 1) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    whole = max(low, min(high, value))
    return torch.tensor(whole - 2**64 if whole > MOST else whole, dtype=torch.int64)


def divided(a: Tensor, b: Tensor) -> Tensor:
    """Return the quotient of UINT64 by UINT64 other than 0: of a half of it first, which INT64 can hold."""
    half = torch.div((a >> 1) & MOST, b, rounding_mode="trunc") * 2
    more = half + (turned(a - half * b, True) >= turned(b, True))
    return torch.where(b < 0, (turned(a, True) >= turned(b, True)).to(torch.int64), more)


def as_float(x: Tensor) -> Tensor:
    """Return UINT64 as FLOAT64."""
    return x.to(torch.float64) + torch.where(x < 0, 2.0**64, 0.0)


def from_float(x: Tensor) -> Tensor:
    """Return floats as UINT64, without their fractions."""
    return torch.where(x >= 2.0**63, (x - 2.0**63).to(torch.int64) ^ LEAST, x.to(torch.int64))
