"""The drawings of an operator's example, by the family of the operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.reports.site.example import Grid
from dmlcheck.reports.site.pictures.calculations import Asked, copied, in_words
from dmlcheck.reports.site.pictures.gates import gated
from dmlcheck.reports.site.pictures.influence import Place, influences
from dmlcheck.reports.site.pictures.reads import Mark, Picture, reads
from dmlcheck.reports.site.pictures.sampling import resampled, sampled
from dmlcheck.reports.site.pictures.shown import Shown

_MOST = 64  # elements of the inputs of an example that is drawn


def pictures(family: str, case: Case, grids: Sequence[Grid]) -> list[Picture]:
    """Return the drawings of an example; none for an operator whose examples need none, or a large example."""
    prepared = prepare(case)
    if prepared.desc is None or prepared.desc.spec.short.startswith(WITHOUT):
        return []
    draw = DRAWINGS.get(prepared.desc.spec.short) or DRAWINGS.get(family)
    if draw is None or sum(math.prod(grid.sizes) for grid in grids if grid.role == "input") > _MOST:
        return []
    return draw(Shown(prepared.desc, prepared.inputs, grids))


def _sources(words: Callable[[Asked], str] | None, most: int, title: str) -> Callable[[Shown], list[Picture]]:
    """Return the function that draws a few output elements with the elements that each is made of."""

    def drawn(shown: Shown) -> list[Picture]:
        found = influences(shown.desc, shown.inputs)
        numbers, short = shown.numbers(), shown.desc.spec.short
        marks = []
        for output in _chosen(found, most, is_any=words is not None):
            asked = Asked(output, found[output], numbers)
            marks.append(Mark(output, found[output], words(asked) if words else in_words(short, asked)))
        used = {
            *(place for place, sources in found.items() if sources),
            *(place for sources in found.values() for place in sources),
        }
        caption = title.format(_COUNTS.get(len(marks)))
        return [reads(shown.grids, marks, used.__contains__, caption)] if marks else []

    return drawn


def _chosen(found: Mapping[Place, Sequence[Place]], most: int, *, is_any: bool) -> list[Place]:
    """Return a few output elements with the most sources, or a few of all that have any, one of them with the most."""
    longest = max(map(len, found.values()))
    fullest = [place for place, sources in found.items() if len(sources) == longest]
    if not is_any:
        return _few(fullest, most)
    few = _few([place for place, sources in found.items() if sources], most)
    return few if not set(fullest).isdisjoint(few) else [fullest[0], *few[1:]]


def _few(places: Sequence[Place], most: int) -> list[Place]:
    """Return the first and the last of some, and one between where there is room for it."""
    if len(places) <= most:
        return list(places)
    return [places[at * (len(places) - 1) // max(most - 1, 1)] for at in range(most)]


_COUNTS = {1: "one element", 2: "two elements", 3: "three elements"}
_ELEMENTS = _sources(None, 2, "The elements that make {} of the result.")
_WINDOWS = _sources(None, 2, "The windows that make {} of the result.")
_LARGEST = _sources(None, 2, "The elements of which the largest becomes 1.")
_MOVED = _sources(copied, 3, "The places that {} of the result come from.")
# By family, or by the name of an operator whose examples are drawn in another way.
DRAWINGS: dict[str, Callable[[Shown], list[Picture]]] = {
    "matrices": _sources(None, 2, "The rows and columns that make {} of the result."),
    "convolution": _WINDOWS,
    "pooling": _WINDOWS,
    "normalization": _ELEMENTS,
    "softmax": _ELEMENTS,
    "reduction": _ELEMENTS,
    "scans": _ELEMENTS,
    "indexing": _MOVED,
    "layout": _MOVED,
    "quantization": _ELEMENTS,
    "resampling": resampled,
    "regions": sampled,
    "recurrent": gated,
    "attention": _sources(None, 1, "The elements that make the first element of the result."),
    "training": _ELEMENTS,
    "ACTIVATION_HARDMAX": _LARGEST,
    "ACTIVATION_HARDMAX1": _LARGEST,
    "MAX_UNPOOLING": _MOVED,
    "REVERSE_SUBSEQUENCES": _MOVED,
    "RESAMPLE_GRAD": resampled,
    "RESAMPLE_GRAD1": resampled,
    "ROI_ALIGN_GRAD": sampled,
    "ROI_POOLING": _WINDOWS,
    "SLICE_GRAD": _MOVED,
    "UNFOLD": _MOVED,
}
# Each output element of these is made of the elements at its own place, or of all.
WITHOUT = (
    "ELEMENT_WISE_",
    "ACTIVATION_RELU_GRAD",
    "ADAM_OPTIMIZER",
    "DYNAMIC_QUANTIZE_LINEAR",
    "NONZERO_COORDINATES",
    "VALUE_SCALE_2D",
)
