"""Moving elements as they are: joining and splitting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from dmlcheck.reference.pieces import Kernel, Piece


def moved(x: Any) -> Any:
    """Return elements as they are."""
    return x


def placed(where: Any, x: Any) -> Piece:
    """Return the piece of an output that has the elements of x as they are."""
    return Piece(where, moved, (x,), is_exact=True)


def parts(sizes: Sequence[tuple[int, ...]], axis: int) -> Iterator[tuple[slice, ...]]:
    """Yield where each of several parts is in the tensor that they make up along an axis."""
    for start, stop in pairwise(accumulate((part[axis] for part in sizes), initial=0)):
        yield (*[slice(None)] * axis, slice(start, stop))


def join(inputs: Sequence[Any], *, axis: int) -> Iterator[Piece]:
    """Output[.., start + i, ..] = InputTensors[k][.., i, ..] along Axis, where the parts before have start elements."""
    for where, part in zip(parts([part.shape for part in inputs], axis), inputs, strict=True):
        yield placed(where, part)


def split(input: Any, *, outputs: Sequence[Any], axis: int) -> Iterator[Piece]:
    """OutputTensors[k][.., i, ..] = Input[.., start + i, ..] along Axis, where the parts before have start elements."""
    for number, at in enumerate(parts([part.sizes for part in outputs], axis)):
        name = f"outputs[{number}]"
        yield Piece({name: ()}, lambda part, name=name: {name: part}, (input[at],), is_exact=True)


KERNELS: dict[str, Kernel] = {
    "JOIN": Kernel(join, is_exact=True),
    "SPLIT": Kernel(split, is_exact=True),
}
