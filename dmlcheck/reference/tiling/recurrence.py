"""Tiles of the row `Recurrence`, whose results are the states of sequences, and the steps that compute them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks, blockwise
from dmlcheck.reference.arrays.data_types import infinite
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.functions.nested import stored
from dmlcheck.reference.functions.overflowing import is_beyond
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, any_of
from dmlcheck.reference.rows import Recurrence
from dmlcheck.reference.tiling.request import Request, Tile

STEPS = 8  # of a block, which are in memory as float64 at once
LARGEST = 1 << 21  # elements of the sequences of a tile, of STEPS steps or more: 16 megabytes of float64

Step = Callable[..., list[PartlyUndefined]]


def of_recurrence(declared: Recurrence, request: Request) -> Iterator[Tile]:
    """Yield tiles, each with some sequences of the batch in one direction."""
    given = request.given
    (_, count, batch, size), hidden = given["input"].shape, given["recurrence"].shape[3]
    width = max(1, LARGEST // (max(count, STEPS) * (size + hidden)))
    data_type = request.desc.tensors()[0].tensor.data_type
    for way, direction in enumerate(declared.directions(given)):
        step = partial(request.formula, **direction.options)
        walk = Walk(declared, step, data_type, direction.is_backward, declared.is_measured(given))
        formula = partial(states_of, walk)
        for start in range(0, batch, width):
            part = slice(start, min(batch, start + width))
            last = {state.last: (0, way, part) for state in declared.states}
            yield Tile({SEQUENCE: (slice(None), way, part), **last}, formula, operands(declared, given, way, part))


SEQUENCE = "output_sequence"


def operands(declared: Recurrence, given: Mapping[str, Any], way: int, batch: slice) -> tuple[Any, ...]:
    """Return the operands for some sequences in one direction: input, lengths, weights and initial states."""
    x, lengths = given["input"][0, :, batch], given["sequence_lengths"]
    weights = [given[name][0, way] for name in ("weight", "recurrence")]
    weights += [None if given.get(name) is None else given[name][0, 0, way] for name in ("bias", "peephole")]
    states = [given[state.initial] for state in declared.states]
    return (
        Blocks(x.shape, [(slice(at, at + STEPS),) for at in range(0, len(x), STEPS)], x.__getitem__),
        None if lengths is None else lengths[0, 0, 0, batch],
        *weights,
        *(None if state is None else state[0, way, batch] for state in states),
    )


class Walk(NamedTuple):
    """The steps along sequences in one direction."""

    declared: Recurrence
    step: Step
    data_type: str
    is_backward: bool
    is_measured: bool = False


class Course(NamedTuple):
    """One of several right ways to compute the states of sequences, with the states so far.

    `first` is another function for the first step of all sequences, or None. A course that `rounds` makes states that
    overflow the data type infinite after each step; one that `is_forked` has a second course that does.
    """

    step: Step
    first: Step | None
    states: list[PartlyUndefined]
    rounds: bool = False
    is_forked: bool = False


class Lengths(NamedTuple):
    """The lengths of the sequences of a tile, and the number of steps of the tensor."""

    own: Any
    steps: int
    is_backward: bool

    @property
    def is_wrong(self) -> Any:
        """A mask of the sequences whose length is below 1 or above the number of steps."""
        return ((self.own < 1) | (self.own > self.steps))[:, None]

    @property
    def is_lost(self) -> Any:
        """A mask of the sequences of a wrong length whose last states are undefined, which are known only backward."""
        return self.is_wrong & (not self.is_backward)

    def begins(self, t: int) -> bool:
        """Whether time t is the first step of all sequences; backward, shorter ones begin later, with states of 0."""
        return t == (self.steps - 1 if self.is_backward else 0)


def states_of(walk: Walk, x: Blocks, lengths: Any, *tensors: Any) -> Iterator[dict[str, Any]]:
    """Yield the states of some sequences, block by block of steps, and then their last states."""
    count, batch, _ = x.shape
    own = Lengths(np.full(batch, count) if lengths is None else lengths, count, walk.is_backward)
    courses, is_measured = [course_of(walk, batch, *tensors)], own.is_wrong | walk.is_measured
    for cut in reversed(x.cuts) if walk.is_backward else x.cuts:
        done = [part for course in courses for part in along(walk, course, x, cut, own)]
        courses = [course for course, _ in done]
        yield {SEQUENCE: AsMeasured(blockwise(of_courses, *(states for _, states in done)), is_measured)}
    for place, state in enumerate(walk.declared.states):
        found = of_courses(*(course.states[place] for course in courses))
        yield {state.last: AsMeasured(PartlyUndefined(found, own.is_lost), is_measured)}


def of_courses(first: PartlyUndefined, *others: PartlyUndefined) -> Any:
    """Return the states of any of some courses, undefined where they are NaN in one and not in all."""
    found, is_nan = any_of(first, *others), np.isnan(raw(first.value))
    marks = (is_nan != np.isnan(raw(value)) for value, _ in others)
    return PartlyUndefined(found, np.logical_or.reduce(list(marks))) if others else found


def course_of(walk: Walk, batch: int, weight: Any, recurrence: Any, bias: Any, peephole: Any, *initial: Any) -> Course:
    """Return the course before the first step.

    An initial state that is left out is 0, and its products are left out of the first step: they may be with NaN.
    """
    gates = walk.declared.gates(weight, recurrence, bias, peephole)
    is_out = {state.factor: x is None for state, x in zip(walk.declared.states, initial, strict=True)}
    shape = (batch, recurrence.shape[1])
    states = [PartlyUndefined(np.zeros(shape) if x is None else x, np.zeros(shape, bool)) for x in initial]
    course = Course(partial(walk.step, gates=gates), None, states)
    if not any(is_out.values()):
        return course
    own = [gate.without(hidden=is_out["recurrence"], cell=is_out.get("peephole", False)) for gate in gates]
    return course._replace(first=partial(walk.step, gates=own))


def along(walk: Walk, course: Course, x: Blocks, cut: Index, lengths: Lengths) -> Iterator[tuple[Course, Blocks]]:
    """Yield a course after a block of steps, with the states of these steps.

    If a state overflows the data type, a second course follows, in which it is infinite from the next step on.
    """
    states, has_overflowed = course.states, False
    rows: dict[int, tuple[Any, Any, Any]] = {}
    for t, now in steps_of(x, cut, is_backward=walk.is_backward):
        runs = (t < lengths.own)[:, None]
        has_overflowed = has_overflowed or any(is_beyond(walk.data_type, value).any() for value, _ in states)
        states = after(course, now, states, runs, walk.data_type, is_first=lengths.begins(t))
        value, mark = states[0]
        rows[t] = (value, mark, np.broadcast_to(runs, value.shape))
    block = partial(stacked, rows)
    is_forked = has_overflowed and not course.rounds and not course.is_forked
    sizes = (x.shape[0], *states[0].value.shape)
    yield course._replace(states=states, is_forked=course.is_forked or is_forked), Blocks(sizes, [cut], block)
    if is_forked:
        yield from along(walk, course._replace(rounds=True), x, cut, lengths)


def steps_of(x: Blocks, cut: Index, *, is_backward: bool) -> Iterator[tuple[int, Any]]:
    """Yield the number of each step of a block, with the input of the step."""
    part, times = x.block(cut), range(*cut[0].indices(x.shape[0]))
    for t in reversed(times) if is_backward else times:
        yield t, part[t - times.start]


def stacked(rows: dict[int, tuple[Any, Any, Any]], _: Index) -> PartlyUndefined:
    """Return the states of a block of steps as one array; after the end of a sequence they are 0."""
    value, mark, runs = (np.stack(each) for each in zip(*(rows[t] for t in sorted(rows)), strict=True))
    return PartlyUndefined(np.where(runs, value, 0.0), mark & runs)


def after(
    course: Course, x: Any, states: Sequence[PartlyUndefined], runs: Any, data_type: str, *, is_first: bool
) -> list[PartlyUndefined]:
    """Return the states after a step; sequences that have ended keep theirs.

    If an element of a state is undefined, all elements of its sequence are undefined after the step.
    """
    doubt = np.logical_or.reduce([mark.any(axis=1, keepdims=True) for _, mark in states])
    values = [infinite(data_type, value) if course.rounds else value for value, _ in states]
    step = course.first if is_first and course.first is not None else course.step
    found = step(x, *values)
    found = [
        PartlyUndefined(stored(value, data_type), np.broadcast_to(doubt | mark, value.shape)) for value, mark in found
    ]
    return found if runs.all() else [chosen(runs, *ways) for ways in zip(found, states, strict=True)]


def chosen(where: Any, one: PartlyUndefined, other: PartlyUndefined) -> PartlyUndefined:
    """Return the first states where a mask is true, and the second ones elsewhere."""
    return PartlyUndefined(*map(partial(np.where, where), one, other))
