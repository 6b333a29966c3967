"""NonMaxSuppression, which DirectML has no operator for: the boxes that it selects, and whether others are right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dmlcheck.diagnostics.wording import braces
from dmlcheck.graphs.tensors import Array
from dmlcheck.onnx.descs.node import OnnxNode, Unmapped
from dmlcheck.onnx.operators.row import Row

_U = 2.0**-24  # the roundings of an implementation, which has overlaps in FLOAT32
_ROUNDINGS = 32  # of an overlap, at most
_MOST = 2**28  # overlaps
_MOST_SELECTED = 2**11
_AT_ONCE = 2**20  # overlaps


class _Boxes(NamedTuple):
    """The corners {boxes, 2} with the lowest and the highest coordinates, and how far an implementation's are off."""

    low: Array
    high: Array
    off: Array

    def at(self, index: Array) -> _Boxes:
        """Return some of the boxes."""
        return _Boxes(self.low[index], self.high[index], self.off[index])


class _Overlaps(NamedTuple):
    """The overlap of boxes {selected, boxes}: intersection over union, and its error."""

    share: Array
    error: Array


class _Class(NamedTuple):
    """A class of a batch: the scores of its boxes, the selected ones, in order, and the words for the class."""

    scores: Array
    selected: Array
    words: str


class _Limits(NamedTuple):
    """The most boxes of a class, the largest overlap of two of them, and the lowest score."""

    most: int
    overlap: float
    score: float


def select(inputs: Sequence[Array | None], *, is_center: bool) -> Array:
    """Return the selected boxes {boxes, 3} for the inputs of a node, without roundings: batch, class, and box."""
    boxes, scores = (np.asarray(each, np.float64) for each in inputs[:2])
    limits = _limits_of([*inputs[2:], None, None, None])
    rows = [np.zeros((0, 3), np.int64)]
    for batch, name in np.ndindex(*scores.shape[:2]):
        kept = _selected(scores[batch, name], _corners(boxes[batch], is_center=is_center), limits)
        rows.extend(np.array([[batch, name, box]], np.int64) for box in kept)
    return np.concatenate(rows)


def _selected(scores: Array, boxes: _Boxes, limits: _Limits) -> list[int]:
    """Return the boxes of a class, the one of the highest score first, that none before it overlaps by too much."""
    left, kept = np.argsort(-scores, kind="stable"), list[int]()
    left = left[scores[left] > limits.score]
    while left.size and len(kept) < limits.most:
        kept.append(int(left[0]))
        overlaps = _overlaps(boxes.at(left[:1]), boxes.at(left[1:]))
        left = left[1:][overlaps.share[0] <= limits.overlap]
    return kept


def _limits_of(given: Sequence[Array | None]) -> _Limits:
    most, overlap, score = (
        default if each is None or not np.size(each) else float(np.reshape(each, -1)[0])
        for each, default in zip(given, (0, 0.0, -np.inf), strict=False)
    )
    return _Limits(int(most), overlap, score)


def _wrong(node: OnnxNode, rows: Array) -> str | None:
    """Return the problem of the selected boxes, or None.

    A box whose overlap is as large as the limit but for roundings, or whose score is the limit, may be left out or not.
    ONNX, operator NonMaxSuppression-11; that classes and scores come in order is in its node tests.
    """
    boxes, scores = (node.numbers_of(index).astype(np.float64) for index in range(2))
    if not (np.isfinite(boxes).all() and np.isfinite(scores).all()):
        raise Unmapped("NonMaxSuppression of boxes or scores that are not finite")
    limits = _limits_of([node.known(index) for index in range(2, 5)])
    if rows.ndim != 2 or rows.shape[1] != 3:
        return f"is {braces(rows.shape)}; it must be {{boxes, 3}}"
    found = _misplaced(rows, (*scores.shape[:2], boxes.shape[1]))
    if found is not None:
        return found
    corners = [_corners(each, is_center=bool(node.get("center_point_box", 0))) for each in boxes]
    for batch, name in np.ndindex(*scores.shape[:2]):
        own = rows[(rows[:, 0] == batch) & (rows[:, 1] == name), 2]
        one = _Class(scores[batch, name], own, f"batch {batch}, class {name}")
        found = _wrong_in(one, corners[batch], limits)
        if found is not None:
            return found
    return None


def _misplaced(rows: Array, counts: tuple[int, ...]) -> str | None:
    """Return which row names no box, or comes in another order than the classes."""
    outside = np.flatnonzero((rows < 0).any(axis=1) | (rows >= np.array(counts)).any(axis=1))
    if outside.size:
        return f"has {rows[outside[0]].tolist()}, which is no box: it must be below {list(counts)}"
    order = rows[:, 0] * counts[1] + rows[:, 1]
    before = np.flatnonzero(order[1:] < order[:-1])
    return f"has {rows[before[0] + 1].tolist()} behind a later class" if before.size else None


def _corners(boxes: Array, *, is_center: bool) -> _Boxes:
    if is_center:
        middle, half = boxes[:, :2], boxes[:, 2:] / 2
        return _Boxes(middle - half, middle + half, _U * (np.abs(middle) + np.abs(half)))
    first, second = boxes[:, :2], boxes[:, 2:]
    return _Boxes(np.minimum(first, second), np.maximum(first, second), np.zeros(first.shape))


def _wrong_in(one: _Class, boxes: _Boxes, limits: _Limits) -> str | None:
    """Return the problem of the selected boxes of a class, or None."""
    return _misordered(one, limits) or _overlapping(one, boxes, limits) or _left_out(one, boxes, limits)


def _misordered(one: _Class, limits: _Limits) -> str | None:
    scores, selected = one.scores, one.selected
    if len(selected) > limits.most:
        return f"selects {len(selected)} boxes of {one.words}; max_output_boxes_per_class is {limits.most}"
    low = selected[scores[selected] < limits.score]
    if low.size:
        return f"selects box {low[0]} of {one.words}, whose score is below {limits.score:g}"
    if np.unique(selected).size < selected.size:
        return f"selects a box of {one.words} twice"
    for first, second in pairwise(selected.tolist()):
        if scores[first] < scores[second]:
            return f"has box {second} of {one.words} behind box {first}, whose score is lower"
    return None


def _overlapping(one: _Class, boxes: _Boxes, limits: _Limits) -> str | None:
    selected = one.selected
    if len(selected) > _MOST_SELECTED:
        raise Unmapped(f"NonMaxSuppression of {len(selected):,} boxes")
    of_selected = _overlaps(boxes.at(selected), boxes.at(selected))
    both = np.argwhere(np.triu(of_selected.share - of_selected.error > limits.overlap, 1))
    if len(both):
        before, box = selected[both[0]].tolist()
        share = of_selected.share[tuple(both[0])]
        return (
            f"selects box {box} of {one.words}, which overlaps box {before} of a higher score by {share:.6g};"
            f" iou_threshold is {limits.overlap:g}"
        )
    return None


def _left_out(one: _Class, boxes: _Boxes, limits: _Limits) -> str | None:
    scores, selected = one.scores, one.selected
    left = np.setdiff1d(np.flatnonzero(scores > limits.score), selected)
    if len(selected) * len(left) > _MOST:
        raise Unmapped(f"NonMaxSuppression of {len(selected):,} boxes among {len(left):,} others")
    is_over = (len(selected) == limits.most) & (scores[left] <= scores[selected].min(initial=np.inf))
    needless = left[~is_over & ~_are_hidden(one, boxes, left, limits)]
    if needless.size:
        box = needless[np.argmax(scores[needless])]
        return f"does not select box {box} of {one.words}, which no selected box of a higher score overlaps"
    return None


def _are_hidden(one: _Class, boxes: _Boxes, left: Array, limits: _Limits) -> Array:
    """Whether a selected box of a score that is not lower may overlap each of some others by too much."""
    selected, found = one.selected, np.zeros(len(left), dtype=bool)
    step = max(1, _AT_ONCE // max(1, len(selected)))
    for start in range(0, len(left), step):
        part = left[start : start + step]
        overlaps = _overlaps(boxes.at(selected), boxes.at(part))
        highest = overlaps.share + overlaps.error
        hides = (highest >= limits.overlap) & (highest > 0) & (one.scores[selected][:, None] >= one.scores[part])
        found[start : start + step] = hides.any(axis=0)
    return found


def _overlaps(first: _Boxes, second: _Boxes) -> _Overlaps:
    """Return the overlap of each of some boxes with each of others."""
    low, high = (np.maximum, np.minimum)
    sides = high(first.high[:, None], second.high) - low(first.low[:, None], second.low)
    common, of_common = _areas(sides, first.off[:, None] + second.off)
    own, of_own = _areas(first.high - first.low, 2 * first.off)
    others, of_others = _areas(second.high - second.low, 2 * second.off)
    union, of_union = own[:, None] + others - common, of_own[:, None] + of_others + of_common
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(common > 0, common / union, 0)
        error = np.where(union > of_union, (of_common + share * of_union) / (union - of_union), np.inf)
    return _Overlaps(share, np.where(of_common + common > 0, error + _ROUNDINGS * _U * share, 0))


def _areas(sides: Array, off: Array) -> tuple[Array, Array]:
    """Return areas, and how far they are off for sides that are; no side is below 0."""
    area = np.prod(np.maximum(sides, 0), axis=-1)
    return area, np.prod(np.maximum(sides + off, 0), axis=-1) - area


OPERATORS: dict[str, Row] = {"NonMaxSuppression": Row(rule=_wrong)}
