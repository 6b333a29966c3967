"""The reduction operators in plain NumPy, right, and with one planted fault each, for `python:faulty:NAME`.

FAULTS names the faults; `planted` gives the implementation with one of them, or with none. Nothing here is from
dmlcheck's kernels, so that what judges and what is judged share no code but the layout of buffers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dmlcheck.values.layouts import empty_buffer, viewed

Array = np.ndarray[Any, Any]


class Right:
    """REDUCE, ARGMAX, ARGMIN, HARDMAX and HARDMAX1 without a fault; what a fault changes are methods of their own."""

    name = "faulty"
    OPERATORS = ("REDUCE", "ARGMAX", "ARGMIN", "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1")

    def unsupported(self, desc: Any) -> str | None:
        """Return why a desc cannot be run."""
        return None if desc.spec.short in self.OPERATORS else "only reductions"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Array]:
        """Compute the one output."""
        operator, output = desc.spec.short, desc.tensor("OutputTensor")
        values = self.read(desc.tensor("InputTensor"), inputs["InputTensor"])
        axes = tuple(desc.values.get("Axes", (values.ndim - 1,)))
        order = self.order(axes)
        kept = tuple(axis for axis in range(values.ndim) if axis not in axes)
        rows = values.transpose(*kept, *order)
        inner = rows.shape[len(kept) :]
        rows = rows.reshape(-1, math.prod(inner))
        with np.errstate(all="ignore"):
            if "HARDMAX" in operator:
                last = self.last(asked=False)
                marks = np.arange(rows.shape[1]) == self.place(rows, np.fmax, last=last)[:, None]
                found = marks.reshape(*[values.shape[axis] for axis in kept], *inner)
                found = found.transpose(np.argsort((*kept, *order)))
            elif operator != "REDUCE" or desc.values["Function"].startswith("ARG"):
                word = operator if operator != "REDUCE" else desc.values["Function"]
                last = self.last(asked=desc.values.get("AxisDirection") == "DECREASING")
                found = self.place(rows, np.fmax if word == "ARGMAX" else np.fmin, last=last)
            else:
                found = self.reduced(desc.values["Function"], rows)
            typed = found.astype(np.dtype(output.data_type.lower())).reshape(output.sizes)
        return {"OutputTensor": self.written(output, typed)}

    # ---- what a fault changes

    def read(self, tensor: Any, values: Array) -> Array:  # noqa: ARG002 - for those that see the tensor
        """Return the values of a tensor as the operator sees them."""
        return values

    def written(self, tensor: Any, values: Array) -> Array:  # noqa: ARG002 - for those that see the tensor
        """Return an output's values as they are found in its buffer."""
        return values

    def order(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        """Return in which order axes are walked along, the last one the fastest."""
        return tuple(sorted(axes))

    def last(self, *, asked: bool) -> bool:
        """Say whether the last of equal elements counts, where it is asked for or not."""
        return asked

    def total(self, terms: Array) -> Array:
        """Add up rows of floats."""
        return np.array([_fsum(row) for row in terms.astype(np.float64).tolist()])

    def product(self, factors: Array) -> Array:
        """Multiply rows of floats: significands and exponents on their own, so that nothing overflows on the way."""
        significand, exponent = np.frexp(factors.astype(np.float64))
        exponent = exponent.sum(axis=1)
        while significand.shape[1] > 1:
            if significand.shape[1] % 2:
                significand = np.pad(significand, ((0, 0), (0, 1)), constant_values=1)
            significand, more = np.frexp(significand[:, ::2] * significand[:, 1::2])
            exponent = exponent + more.sum(axis=1)
        return np.ldexp(significand[:, 0], exponent)

    # ---- functions

    def place(self, rows: Array, extreme: np.ufunc, *, last: bool) -> Array:
        """Return where in each row the extreme element is."""
        hits = rows == extreme.reduce(rows, axis=1)[:, None]
        return rows.shape[1] - 1 - hits[:, ::-1].argmax(axis=1) if last else hits.argmax(axis=1)

    def reduced(self, function: str, rows: Array) -> Array:
        """Return the function of REDUCE of each row."""
        if function in ("MAX", "MIN"):
            return (np.fmax if function == "MAX" else np.fmin).reduce(rows, axis=1)
        if rows.dtype.kind != "f":
            terms = {"L1": np.abs, "SUM_SQUARE": np.square}.get(function, np.positive)(rows)
            return (np.multiply if function == "MULTIPLY" else np.add).reduce(terms, axis=1, dtype=rows.dtype)
        if function == "MULTIPLY":
            return self.product(rows)
        if function == "LOG_SUM_EXP":
            wide = rows.astype(np.float64)
            top = wide.max(axis=1)
            finite = np.where(np.isfinite(top), top, 0)
            return np.where(np.isfinite(top), finite + np.log(self.total(np.exp(wide - finite[:, None]))), top)
        wide = rows.astype(np.float64)
        terms = {"L1": np.abs, "L2": np.square, "SUM_SQUARE": np.square}.get(function, np.positive)(wide)
        total = self.total(terms)
        finish = {"AVERAGE": lambda x: x / rows.shape[1], "L2": np.sqrt, "LOG_SUM": np.log}
        return finish.get(function, np.positive)(total)


def _fsum(row: list[float]) -> float:
    """Add up exactly, and round to odd: so the rounding to a shorter type is the only one (Boldo and Melquiond)."""
    if not all(map(math.isfinite, row)):
        return sum(row)
    total = math.fsum(row)
    rest = math.fsum([*row, -total])
    if rest and not np.float64(total).view(np.int64) & 1:
        total = math.nextafter(total, math.copysign(math.inf, rest))
    return total


class Float16Accumulation(Right):
    """Adds up and multiplies FLOAT16 tensors in FLOAT16."""

    narrow = False

    def reduced(self, function: str, rows: Array) -> Array:
        self.narrow = rows.dtype == np.float16
        return super().reduced(function, rows)

    def total(self, terms: Array) -> Array:
        if not self.narrow:
            return super().total(terms)
        return np.add.accumulate(terms.astype(np.float16), axis=1, dtype=np.float16)[:, -1].astype(np.float64)

    def product(self, factors: Array) -> Array:
        if not self.narrow:
            return super().product(factors)
        return np.multiply.accumulate(factors, axis=1, dtype=np.float16)[:, -1]


class LastOfEqual(Right):
    """Takes the last of equal elements where the first is asked for, and the first where the last is."""

    def last(self, *, asked: bool) -> bool:
        return not asked


class OrderOfAxes(Right):
    """Walks along axes in the order in which Axes lists them."""

    def order(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        return axes


class ColumnMajor(Right):
    """Walks along the first axis the fastest."""

    def order(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(axes, reverse=True))


class IgnoredStrides(Right):
    """Reads and writes the buffers of strided tensors as if they were packed; beyond the end and in gaps it reads 0."""

    def read(self, tensor: Any, values: Array) -> Array:
        elements = np.zeros(tensor.extent, values.dtype)
        viewed(tensor, elements)[...] = values
        elements = elements[: values.size]
        packed = np.zeros(values.size, values.dtype)
        packed[: elements.size] = elements
        return packed.reshape(values.shape)

    def written(self, tensor: Any, values: Array) -> Array:
        buffer = empty_buffer(tensor)
        buffer[: values.size] = values.reshape(-1)
        return viewed(tensor, buffer).copy()


class FlushedDenormals(Right):
    """Takes denormals for 0, as elements and as results."""

    def read(self, tensor: Any, values: Array) -> Array:
        return super().read(tensor, _flushed(values))

    def written(self, tensor: Any, values: Array) -> Array:
        return super().written(tensor, _flushed(values))


def _flushed(values: Array) -> Array:
    if values.dtype.kind != "f":
        return values
    return np.where(np.abs(values) < np.finfo(values.dtype).smallest_normal, values.dtype.type(0), values)


class NanIgnored(Right):
    """Leaves NaN out of sums and products, which are to be NaN by IEEE 754."""

    def reduced(self, function: str, rows: Array) -> Array:
        if rows.dtype.kind == "f" and function not in ("MAX", "MIN"):
            neutral = {"MULTIPLY": 1, "LOG_SUM_EXP": -math.inf}.get(function, 0)
            rows = np.where(np.isnan(rows), rows.dtype.type(neutral), rows)
        return super().reduced(function, rows)


FAULTS: dict[str, type[Right]] = {
    "float16-accumulation": Float16Accumulation,
    "last-of-equal": LastOfEqual,
    "order-of-axes": OrderOfAxes,
    "column-major": ColumnMajor,
    "ignored-strides": IgnoredStrides,
    "flushed-denormals": FlushedDenormals,
    "nan-ignored": NanIgnored,
}


def planted(fault: str | None = None) -> Right:
    """Return the implementation with a fault, or with none."""
    return FAULTS[fault]() if fault else Right()
