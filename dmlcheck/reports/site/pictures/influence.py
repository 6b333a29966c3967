"""The input elements that an output element is made of: those that change it in the reference engine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.wording import brackets, counted
from dmlcheck.reference import engine

Place = tuple[str, tuple[int, ...]]  # the label of a tensor, and the index of an element
Array = np.ndarray[Any, np.dtype[Any]]
INDICES = ("IndicesTensor", "SequenceLengthsTensor")  # they choose elements, and are no operands
_NOT_CHANGED = ("ROITensor", "BatchIndicesTensor")  # they say where all elements come from
_FAR = 1000  # what an element is moved by: farther than the numbers of any example lie apart
_SHIFT = 7  # what elements are raised by first, elements of later tensors by more, so that no factor is 0


def influences(desc: OperatorDesc, inputs: Mapping[str, Any]) -> dict[Place, tuple[Place, ...]]:
    """Return the input elements that change an output element, for every output element.

    Each input element is raised by itself, and lowered where that changes nothing. An index becomes each other index of
    its tensor, and an element is made of it that changes with all of these: one of them may be another element's too.
    """
    raised = {field: _raised(field, given, _SHIFT * (1 + 2 * at)) for at, (field, given) in enumerate(inputs.items())}
    before = engine.run(desc, raised)
    found: dict[Place, list[Place]] = {
        (label, index): [] for label, values in before.items() for index in np.ndindex(values.shape)
    }
    for place, ways in _changes(raised):
        each = filter(None, (set(_changed(before, engine.run(desc, changed))) for changed in ways))
        first = next(each, set())
        for output in first.intersection(*each) if place[0] in INDICES else first:
            found[output].append(place)
    return {output: tuple(places) for output, places in found.items()}


def _changed(before: Mapping[str, Array], after: Mapping[str, Array]) -> Iterator[Place]:
    for label, values in after.items():
        for index in zip(*np.nonzero(_differ(before[label], values)), strict=True):
            yield label, tuple(map(int, index))


def _differ(one: Array, other: Array) -> Any:
    return (one != other) & ~(np.isnan(one) & np.isnan(other))


def _raised(field: str, given: Any, by: int) -> Any:
    """Return the numbers of a field, raised, but not its indices."""
    if isinstance(given, list):
        return [_raised(field, one, by) for one in given]
    if field in INDICES or field in _NOT_CHANGED:
        return given
    most = np.inf if given.dtype.kind == "f" else np.iinfo(given.dtype).max
    return np.minimum(given.astype(np.float64) + by, most).astype(given.dtype)


def _changes(inputs: Mapping[str, Any]) -> Iterator[tuple[Place, Iterator[dict[str, Any]]]]:
    """Yield each input element with inputs in which only this element has another number."""
    for field, given in inputs.items():
        if field in _NOT_CHANGED:
            continue
        arrays = given if isinstance(given, list) else [given]
        for at, array in enumerate(arrays):
            label = f"{field}[{at}]" if isinstance(given, list) else field
            for index in np.ndindex(array.shape):
                others = (_with(array, index, value) for value in _others(label, array, index))
                wholes = ([*arrays[:at], one, *arrays[at + 1 :]] if isinstance(given, list) else one for one in others)
                yield (label, index), ({**inputs, field: whole} for whole in wholes)


def _with(array: Array, index: tuple[int, ...], value: Any) -> Array:
    changed = array.copy()
    changed[index] = value
    return changed


def _others(label: str, array: Array, index: tuple[int, ...]) -> list[Any]:
    """Return the numbers that an element is changed to."""
    own = array[index]
    if label in INDICES:
        return [other for other in range(int(array.min()), int(array.max()) + 1) if other != own]
    if array.dtype.kind == "f":
        return [own + _FAR, own - _FAR]
    limits = np.iinfo(array.dtype)
    both = (min(int(own) + _FAR, int(limits.max)), max(int(own) - _FAR, int(limits.min)))
    return [other for other in both if other != own]


_MOST = 9  # numbers in a calculation
_ADDED = ("BiasTensor", "CTensor")


# ---- the calculation of an output element, in numbers, where it is short enough to be read


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
