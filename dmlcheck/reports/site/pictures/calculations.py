"""The calculation of an output element, in numbers, where it is short enough to be read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import brackets, counted
from dmlcheck.reports.site.pictures.influence import INDICES, Place

_MOST = 9  # numbers in a calculation
_ADDED = ("BiasTensor", "CTensor")


class Asked(NamedTuple):
    """An output element with its sources, and the numbers of all elements as they are printed."""

    output: Place
    sources: tuple[Place, ...]
    numbers: Mapping[Place, str]

    def texts(self, *labels: str) -> list[str]:
        """Return the numbers of the sources, of some tensors or of all."""
        return [self.numbers[place] for place in self.sources if not labels or place[0] in labels]


def product_sum(asked: Asked) -> str | None:
    """Return `1 × 2 + 3 × 4 + 5`, of two tensors whose elements are multiplied and of one that is added."""
    labels = [label for label in dict.fromkeys(label for label, _ in asked.sources) if label not in _ADDED]
    if len(labels) != 2 or len(asked.texts(labels[0])) != len(asked.texts(labels[1])):
        return None
    products = [f"{a} × {b}" for a, b in zip(*map(asked.texts, labels), strict=True)]
    return " + ".join([*products, *asked.texts(*_ADDED)])


def total(asked: Asked) -> str:
    """Return `1 + 2 + 3`."""
    return " + ".join(asked.texts())


def product(asked: Asked) -> str:
    """Return `1 × 2 × 3`."""
    return " × ".join(asked.texts())


def mean(asked: Asked) -> str:
    """Return `(1 + 2 + 3) / 3`."""
    return f"({total(asked)}) / {len(asked.sources)}"


def largest(asked: Asked) -> str:
    """Return `max(1, 2, 3)`."""
    return f"max({', '.join(asked.texts())})"


def norm(asked: Asked) -> str:
    """Return `√(1² + 2²)`."""
    return f"√({' + '.join(f'{text}²' for text in asked.texts())})"


def place_of_largest(asked: Asked) -> str:
    """Return `argmax(1, 2, 3)`, the index of the largest."""
    return f"argmax({', '.join(asked.texts())})"


def place_of_smallest(asked: Asked) -> str:
    """Return `argmin(1, 2, 3)`, the index of the smallest."""
    return f"argmin({', '.join(asked.texts())})"


Calculation = Callable[[Asked], "str | None"]
# By the name of the operator, without its version.
CALCULATIONS: dict[str, Calculation] = {
    "CONVOLUTION": product_sum,
    "GEMM": product_sum,
    "AVERAGE_POOLING": mean,
    "MAX_POOLING": largest,
    "ROI_POOLING": largest,
    "LP_POOLING": norm,
    "FOLD": total,
    "REDUCE": total,
    "ARGMAX": place_of_largest,
    "ARGMIN": place_of_smallest,
    "CUMULATIVE_SUMMATION": total,
    "CUMULATIVE_PRODUCT": product,
}


def in_words(operator: str, asked: Asked) -> str:
    """Return the calculation of an output element if it gives its value, else the number of its sources by tensor."""
    calculation = CALCULATIONS.get(operator.rstrip("0123456789"))
    text = calculation(asked) if calculation and len(asked.sources) <= 2 * _MOST + 1 else None
    result = asked.numbers[asked.output]
    if text == result:
        return f"{name_of(asked.output)} = {result}"
    if text is not None and math.isclose(value_of(text), float(_plain(result)), rel_tol=1e-3):
        return f"{name_of(asked.output)} = {text} = {result}"
    return (
        f"{name_of(asked.output)} = {result}, made of {counted_sources(Counter(label for label, _ in asked.sources))}"
    )


def counted_sources(counts: Mapping[str, int]) -> str:
    """Return the number of elements of each tensor in words, in short form for more than three tensors."""
    if len(counts) > 3:
        *most, last = (f"{label} ({count})" for label, count in counts.items())
        return f"elements of {', '.join(most)} and {last}"
    *most, last = (f"{counted(count, 'element')} of {label}" for label, count in counts.items())
    return f"{', '.join(most)} and {last}" if most else last


def copied(asked: Asked) -> str:
    """Return the place that an element is copied from, and the indices that say so."""
    taken = [place for place in asked.sources if place[0] not in INDICES]
    by = [f"{name_of(place)} = {asked.numbers[place]}" for place in asked.sources if place[0] in INDICES]
    text = " and ".join(map(name_of, taken))
    chosen = f", by {' and '.join(by)}" if by and taken else ""
    return f"{name_of(asked.output)} = {text or ' and '.join(by)}{chosen}"


def name_of(place: Place) -> str:
    """Return an element as it is written: `InputTensor[0, 1]`."""
    return f"{place[0]}{brackets(place[1])}"


def value_of(text: str) -> float:
    """Return the value of a calculation."""
    return float(eval(_plain(text), dict(_KNOWN)))  # noqa: S307 - a text that is made here, of numbers


_KNOWN: dict[str, Any] = {
    "max": max,
    "sqrt": math.sqrt,
    "argmax": lambda *numbers: numbers.index(max(numbers)),
    "argmin": lambda *numbers: numbers.index(min(numbers)),
    "__builtins__": {},
}


def _plain(text: str) -> str:
    for sign, code in (("×", "*"), ("²", "**2"), ("√", "sqrt"), ("\N{MINUS SIGN}", "-")):
        text = text.replace(sign, code)
    return text
