"""NonMaxSuppression: a selection is judged box by box."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from whole_models import node

from dmlcheck.models.node_verdict import NodeVerdict, Unjudged, judge_node
from dmlcheck.onnx.operators.selection import select
from dmlcheck.running.verdict import Limits

Row = tuple[int, int, int]

# Of two classes. Box 1 overlaps box 0 by 2 / 3, box 2 touches both, box 3 is far away, and box 4 is as box 3.
BOXES = np.array([[0, 0, 10, 10], [10, 2, 0, 12], [0, 12, 10, 22], [50, 50, 60, 60], [50, 50, 60, 60]], np.float32)
SCORES = np.array([[0.9, 0.8, 0.7, 0.6, 0.6], [0.1, 0.8, 0.2, 0.4, 0.3]], np.float32)
RIGHT = [(0, 0, 0), (0, 0, 2), (0, 0, 3), (0, 1, 1), (0, 1, 3)]


def judged(
    rows: Any, boxes: Any = BOXES, scores: Any = SCORES, *limits: Any, center: int = 0
) -> NodeVerdict | Unjudged:
    """Judge the rows that were selected for at most 3 boxes of a class, an overlap of 0.5, and a score of 0.25."""
    given = limits or (np.int64(3), np.float32(0.5), np.float32(0.25))
    inputs = [boxes[None], scores[None], *(np.array([each]) for each in given)]
    made = node("NonMaxSuppression", " ".join("bsmit"[: len(inputs)]), "y", "nms", center_point_box=center)
    selected = np.array(rows, np.int64).reshape(-1, 3)
    return judge_node(made, 11, inputs, [selected], is_directml=False, limits=Limits())


def problem(found: NodeVerdict | Unjudged) -> str:
    """Return the problem that a verdict names, "" for none."""
    assert isinstance(found, NodeVerdict), found
    return "".join(each.params["problem"] for each in found.verdict.findings)


def without(*rows: Row) -> list[Row]:
    """Return the right rows but for some."""
    return [row for row in RIGHT if row not in rows]


@pytest.mark.parametrize("rows", [RIGHT, [*without((0, 0, 3), (0, 1, 1), (0, 1, 3)), (0, 0, 4), (0, 1, 1), (0, 1, 3)]])
def test_one_of_two_boxes_of_one_score_is_selected(rows: list[Row]) -> None:
    assert problem(judged(rows)) == ""
    assert problem(judged(rows, BOXES, SCORES, np.int64(9), np.float32(0.5), np.float32(0.25))) == ""


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "does not select box 0 of batch 0, class 0, which no selected box of a higher score overlaps"),
        (without((0, 0, 2)), "does not select box 2 of batch 0, class 0"),
        (
            [(0, 0, 0), (0, 0, 1), *RIGHT[1:]],
            "selects 4 boxes of batch 0, class 0; max_output_boxes_per_class is 3",
        ),
        (
            [(0, 0, 0), (0, 0, 1), (0, 0, 2), *RIGHT[3:]],
            "selects box 1 of batch 0, class 0, which overlaps box 0 of a higher score by 0.666667; iou_threshold is",
        ),
        ([*RIGHT[:3], (0, 1, 1), (0, 1, 0)], "selects box 0 of batch 0, class 1, whose score is below 0.25"),
        ([RIGHT[1], RIGHT[0], *RIGHT[2:]], "has box 0 of batch 0, class 0 behind box 2, whose score is lower"),
        (
            [RIGHT[0], RIGHT[0], RIGHT[1], *RIGHT[3:]],
            "selects a box of batch 0, class 0 twice",
        ),
        ([*RIGHT[3:], *RIGHT[:3]], "has [0, 0, 0] behind a later class"),
        ([*RIGHT, (0, 1, 5)], "has [0, 1, 5], which is no box: it must be below [1, 2, 5]"),
        ([(0, 0, -1), *RIGHT], "has [0, 0, -1], which is no box"),
    ],
)
def test_a_wrong_selection_is_named(rows: list[Row], said: str) -> None:
    assert problem(judged(rows)).startswith(said)


def test_nothing_is_selected_where_no_box_is_asked_for() -> None:
    assert problem(judged([], BOXES, SCORES, np.int64(0), np.float32(0.5))) == ""
    assert problem(judged([], BOXES, SCORES, np.int64(9), np.float32(0.5), np.float32(0.95))) == ""


@pytest.mark.parametrize("is_selected", [False, True])
def test_an_overlap_that_is_the_limit_but_for_roundings_decides_nothing(is_selected: bool) -> None:
    """Boxes of 0.1 by 0.3 overlap by a third; a third in FLOAT32 is a little larger."""
    boxes = np.array([[0, 0, 0.1, 0.3], [0, 0.15, 0.1, 0.45]], np.float32)
    rows = [(0, 0, 0), *([(0, 0, 1)] if is_selected else [])]
    scores = np.array([[0.9, 0.8]], np.float32)
    assert problem(judged(rows, boxes, scores, np.int64(2), np.float32(1 / 3))) == ""
    assert (problem(judged(rows, boxes, scores, np.int64(2), np.float32(0.3333))) != "") is is_selected
    assert (problem(judged(rows, boxes, scores, np.int64(2), np.float32(0.3334))) == "") is is_selected


def test_what_is_not_finite_is_not_judged() -> None:
    found = judged(RIGHT, np.where(BOXES == 60, np.inf, BOXES).astype(np.float32))
    assert found == Unjudged("not-mapped", "NonMaxSuppression of boxes or scores that are not finite")


def test_the_reference_selects_what_is_right() -> None:
    limits = (np.array([3]), np.array([0.5], np.float32), np.array([0.25], np.float32))
    assert select([BOXES[None], SCORES[None], *limits], is_center=False).tolist() == [list(row) for row in RIGHT]
    assert select([BOXES[None], SCORES[None]], is_center=False).shape == (0, 3)  # no more than 0 boxes


def selection(boxes: Any, scores: Any, most: int, limit: Fraction) -> list[Row]:
    """Return the boxes that are selected one after the other, in whole numbers."""

    def area(box: Any) -> int:
        return int(max(0, box[2] - box[0]) * max(0, box[3] - box[1]))

    def overlap(a: Any, b: Any) -> Fraction:
        both = area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))
        return Fraction(both, area(a) + area(b) - both) if both else Fraction(0)

    rows: list[Row] = []
    for name, own in enumerate(scores.tolist()):
        kept: list[int] = []
        for box in sorted(range(len(boxes)), key=lambda index: -own[index]):
            if len(kept) < most and all(overlap(boxes[other], boxes[box]) <= limit for other in kept):
                kept.append(box)
        rows.extend((0, name, box) for box in kept)
    return rows


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_a_selection_in_whole_numbers_is_right_and_no_other(seed: int, center: int) -> None:
    draw = np.random.default_rng(seed)
    first = 2 * draw.integers(0, 20, (30, 2))
    corners = np.concatenate([first, first + 2 * draw.integers(1, 12, (30, 2))], axis=1)
    scores = draw.permuted(np.tile(np.arange(30), (3, 1)), axis=1)
    limit, most = Fraction(int(draw.integers(1, 9)), 11), int(draw.integers(3, 30))
    rows = selection(corners.tolist(), scores, most, limit)
    given = np.concatenate([(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], axis=1)
    boxes = (given if center else corners).astype(np.float32)
    asked = (boxes, scores.astype(np.float32), np.int64(most), np.float32(limit))
    assert problem(judged(rows, *asked, center=center)) == ""
    given_rows = select([boxes[None], scores[None], *asked[2:]], is_center=bool(center))
    assert given_rows.tolist() == [list(row) for row in rows]
    for at, (_, name, box) in enumerate(rows):
        assert problem(judged([*rows[:at], *rows[at + 1 :]], *asked, center=center)) != ""
        other = next(index for index in range(30) if (0, name, index) not in rows)
        changed = [*rows[:at], (0, name, other), *rows[at + 1 :]]
        assert problem(judged(changed, *asked, center=center)) != "", (box, other)
