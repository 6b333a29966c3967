"""Which limit finds planted numeric faults: the hard one, the likely one, or neither. Prints a table in Markdown.

Run: python tests/benchmarks/limits.py. Every formula runs on tracked numbers for its limits, and on FLOAT32 arrays as
an implementation that is right, in several orders of summation, or has the fault. The limits are applied as a
comparison does, with 1 ULP of the result; a percentage is the share of the elements that are beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.values.number_formats import ulp

Array = np.ndarray[Any, Any]
Adder = Callable[[Array], Array]
COUNTS = (16, 1024, 65536)
EPSILON = np.float32(1e-5)


# ---- sums along the last axis, as implementations have them


def one_by_one(x: Array) -> Array:
    """Add up in the order of the terms."""
    return np.asarray(np.cumsum(x, axis=-1, dtype=x.dtype)[..., -1:])


def in_lanes(x: Array) -> Array:
    """Add up every eighth term, and then the eight sums."""
    lanes = np.cumsum(x.reshape(*x.shape[:-1], -1, 8), axis=-2, dtype=x.dtype)[..., -1, :]
    return one_by_one(lanes)


def in_pairs(x: Array) -> Array:
    """Add up as a balanced tree."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = x[..., :half] + x[..., half:]
    return x


def in_float16(add: Adder) -> Adder:
    """Return sums whose every step is rounded to FLOAT16."""
    return lambda x: add(x.astype(np.float16)).astype(np.float32)


def without_the_last(x: Array) -> Array:
    """Add up all terms but the last."""
    return in_pairs(np.where(np.arange(x.shape[-1]) == x.shape[-1] - 1, np.float32(0), x))


def tracked_sum(x: Any) -> Any:
    """Add up tracked numbers."""
    return x.sum(-1, keepdims=True)


# ---- formulas


def total(add: Adder, x: Any) -> Any:
    """SUM."""
    return add(x)


def dot(add: Adder, a: Any, b: Any) -> Any:
    """GEMM, of an M by K and an N by K matrix."""
    return a @ b.swapaxes(0, 1) if isinstance(a, Ball) else add(a[:, None, :] * b[None, :, :])[..., 0]


def softmax(add: Adder, x: Any) -> Any:
    """SOFTMAX."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / add(powers)


def normalized(add: Adder, x: Any, epsilon: Any = EPSILON, *, is_naive: bool = False) -> Any:
    """MEAN_VARIANCE_NORMALIZATION; with the mean of the squares less the square of the mean if it is naive."""
    count = np.float32(x.shape[-1])
    mean = add(x) / count
    centred = x - mean
    variance = add(x * x) / count - mean * mean if is_naive else add(centred * centred) / count
    return centred / np.sqrt(variance + epsilon)


class Fault(NamedTuple):
    """A fault, and how the formula is computed with it."""

    name: str
    computed: Callable[..., Array]


def of_sums(formula: Callable[..., Any]) -> list[Fault]:
    """Return the faults that any sum may have."""
    return [
        Fault(name, lambda *inputs, add=add: formula(add, *inputs))
        for name, add in (
            ("accumulated in FLOAT16, one by one", in_float16(one_by_one)),
            ("accumulated in FLOAT16, in pairs", in_float16(in_pairs)),
            ("one term lost", without_the_last),
        )
    ]


class Row(NamedTuple):
    """A formula with its data and its faults."""

    name: str
    formula: Callable[..., Any]
    data: Callable[[np.random.Generator, int], tuple[Array, ...]]
    faults: list[Fault]


OF_VARIANCE = [
    Fault("epsilon of 1e-3 for 1e-5", lambda x: normalized(in_pairs, x, np.float32(1e-3))),
    Fault("variance as E[x^2] - E[x]^2", lambda x: normalized(in_pairs, x, is_naive=True)),
]
ROWS = [
    Row("SUM of normal numbers", total, lambda g, n: (g.normal(size=(64, n)),), of_sums(total)),
    Row("SUM of numbers in [0, 1)", total, lambda g, n: (g.uniform(size=(64, n)),), of_sums(total)),
    Row("GEMM of normal numbers", dot, lambda g, n: (g.normal(size=(8, n)), g.normal(size=(8, n))), of_sums(dot)),
    Row("SOFTMAX of normal numbers", softmax, lambda g, n: (g.normal(size=(16, n)),), of_sums(softmax)),
    *(
        Row(
            f"MEAN_VARIANCE_NORMALIZATION, mean {mean}, deviation {deviation}",
            normalized,
            lambda g, n, mean=mean, deviation=deviation: (g.normal(mean, deviation, size=(16, n)),),
            [*of_sums(normalized), *OF_VARIANCE],
        )
        for mean, deviation in ((0, 1), (10, 1), (1000, 1))
    ),
]


def measured(row: Row, count: int) -> Iterator[tuple[str, str]]:
    """Yield each fault with what finds it, and the right implementations with the largest share of the likely limit."""
    inputs = [x.astype(np.float32) for x in row.data(np.random.default_rng(count), count)]
    limits = []
    for is_likely in (False, True):
        arithmetic = Arithmetic(is_likely=is_likely)
        bound = row.formula(tracked_sum, *(Ball(x, 0.0, arithmetic) for x in inputs))
        limits.append(bound.radius + ulp(bound.value, "FLOAT32"))
    for fault in row.faults:
        error = np.abs(fault.computed(*inputs).astype(np.float64) - bound.value)
        shares = [float(np.mean(~(error <= limit))) for limit in limits]
        names = [f"{name} {share:.0%}" for name, share in zip(("hard", "likely"), shares, strict=True) if share]
        yield fault.name, ", ".join(names) or "neither"
    share = max(
        float(np.max(np.abs(row.formula(add, *inputs).astype(np.float64) - bound.value) / limits[1]))
        for add in (one_by_one, in_lanes, in_pairs)
    )
    yield "none: largest share of the likely limit", f"{share:.2f}"


def main() -> None:
    """Print the table."""
    print("| Formula | Fault |", " | ".join(f"n = {count:,}" for count in COUNTS), "|")  # noqa: T201
    print("| --- | --- |", " | ".join("---" for _ in COUNTS), "|")  # noqa: T201
    with np.errstate(all="ignore"):
        for row in ROWS:
            for number, found in enumerate(zip(*(measured(row, count) for count in COUNTS), strict=True)):
                cells = " | ".join(text for _, text in found)
                print(f"| {'' if number else row.name} | {found[0][0]} | {cells} |")  # noqa: T201


if __name__ == "__main__":
    main()
