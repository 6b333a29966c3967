"""Tiles of results that are the states of sequences, each of the one before it, and the steps that carry the states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.ball.numbers import raw
from dmlcheck.reference.nested import stored
from dmlcheck.reference.pieces import Open, alternatives, any_of, overflows
from dmlcheck.reference.places import Index
from dmlcheck.reference.rows import Scan
from dmlcheck.reference.tiling.blocks import Blocks, blockwise
from dmlcheck.reference.tiling.piece import Piece
from dmlcheck.reference.tiling.request import Request

STEPS = 8  # that are in memory as float64 together
LARGEST = 1 << 21  # elements of the sequences of a tile, each taken to have STEPS at least: 16 megabytes of float64

Step = Callable[..., list[Open]]


def of_scan(declared: Scan, request: Request) -> Iterator[Piece]:
    """Yield tiles of some sequences of the batch in one direction."""
    given = request.given
    (_, count, batch, size), hidden = given["input"].shape, given["recurrence"].shape[3]
    width = max(1, LARGEST // (max(count, STEPS) * (size + hidden)))
    data_type = request.desc.tensors()[0].tensor.data_type
    for way, direction in enumerate(declared.directions(given)):
        steps = [partial(request.formula, **direction.options, **options) for options in declared.readings(given)]
        formula = partial(states_of, Walk(declared, steps, data_type, direction.is_backward))
        for start in range(0, batch, width):
            part = slice(start, min(batch, start + width))
            last = {state.last: (0, way, part) for state in declared.states}
            yield Piece({SEQUENCE: (slice(None), way, part), **last}, formula, operands(declared, given, way, part))


SEQUENCE = "output_sequence"


def operands(declared: Scan, given: Mapping[str, Any], way: int, batch: slice) -> tuple[Any, ...]:
    """Return what some sequences have to do with in one direction: x, lengths, weights and initial states."""
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
    """Steps along sequences in one direction, a function for each reading of the documentation."""

    declared: Scan
    steps: Sequence[Step]
    data_type: str
    is_backward: bool


def states_of(walk: Walk, *tensors: Any) -> Iterator[dict[str, Any]]:
    """Yield the states of some sequences, a block of steps after another, and then the last ones."""
    readings = (of_reading(walk, step, *tensors) for step in walk.steps)
    for parts in zip(*readings, strict=True):
        yield {name: blockwise(any_of, *(part[name] for part in parts)) for name in parts[0]}


def of_reading(walk: Walk, step: Step, x: Blocks, lengths: Any, *tensors: Any) -> Iterator[dict[str, Any]]:
    """Yield the states as `states_of` does, as one reading has them."""
    (count, batch, _), (weight, recurrence, bias, peephole, *initial) = x.shape, tensors
    lengths = np.full(batch, count) if lengths is None else lengths
    is_wrong = ((lengths < 1) | (lengths > count))[:, None]
    gates, shape = walk.declared.gates(weight, recurrence, bias, peephole), (batch, recurrence.shape[1])
    factors = {"recurrence": recurrence, "peephole": peephole}
    own = walk.declared.states
    states = [first(each, factors[state.factor], shape) for state, each in zip(own, initial, strict=True)]
    for cut in reversed(x.cuts) if walk.is_backward else x.cuts:
        rows: dict[int, tuple[Any, Any, Any]] = {}
        for t, now in steps_of(x, cut, is_backward=walk.is_backward):
            runs = (t < lengths)[:, None]
            states = after(partial(step, gates=gates), now, states, runs, walk.data_type)
            value, mark = states[0]
            rows[t] = (value, mark, np.broadcast_to(runs, shape))
        block = partial(stacked, rows, is_padded=walk.declared.is_padded, is_wrong=is_wrong)
        yield {SEQUENCE: Blocks((count, *shape), [cut], block)}
    yield {state.last: Open(value, mark | is_wrong) for state, (value, mark) in zip(own, states, strict=True)}


def steps_of(x: Blocks, cut: Index, *, is_backward: bool) -> Iterator[tuple[int, Any]]:
    """Yield the number of each step of a block with what the input has at it."""
    part, times = x.block(cut), range(*cut[0].indices(x.shape[0]))
    for t in reversed(times) if is_backward else times:
        yield t, part[t - times.start]


def stacked(rows: dict[int, tuple[Any, Any, Any]], _: Index, *, is_padded: bool, is_wrong: Any) -> Open:
    """Return the states of a block of steps as one array: those of sequences at their end 0, or as they were there."""
    value, mark, runs = (np.stack(each) for each in zip(*(rows[t] for t in sorted(rows)), strict=True))
    ended = np.where(runs, value, 0.0)
    if is_padded:
        return Open(ended, mark & runs | is_wrong)
    return Open(alternatives(ended, value), mark | is_wrong)


def first(state: Any, weights: Any, shape: tuple[int, int]) -> Open:
    """Return the state before the first step; one of 0 is left open where it meets infinity or NaN."""
    if state is not None:
        return Open(state, np.zeros(shape, bool))
    return Open(np.zeros(shape), np.full(shape, weights is not None and not np.isfinite(raw(weights)).all()))


def after(step: Step, x: Any, states: Sequence[Open], runs: Any, data_type: str) -> list[Open]:
    """Return the states after a step of the sequences that have it, and for the others those before.

    Where a state is left open, or overflows, all states of its sequence after the step are left open.
    """
    doubts = [(mark | overflows(data_type, value)).any(axis=1, keepdims=True) for value, mark in states]
    doubt = np.logical_or.reduce(doubts)
    found = [
        Open(stored(value, data_type), np.broadcast_to(doubt | mark, value.shape))
        for value, mark in step(x, *(value for value, _ in states))
    ]
    if runs.all():
        return found
    return [Open(*map(partial(np.where, runs), now, before)) for now, before in zip(found, states, strict=True)]
