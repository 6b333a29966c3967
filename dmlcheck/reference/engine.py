"""The reference engine: the kernels' results, rounded once to the outputs' types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference.kernels import Array, Index, Result, Share, Wide, compute
from dmlcheck.values import memory
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES

Tile = tuple[Index, Wide]


def unsupported(desc: OperatorDesc) -> str | None:
    """Return why there is no result: the operator has no kernel yet."""
    return None if desc.spec.kernel else "no reference kernel yet"


def run(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
    """Return the outputs of a valid desc."""
    tensors = {label: tensor for field in desc.spec.outputs for label, _, tensor in desc.parts[field.name]}
    threads = 1
    if any(getattr(array, "size", 0) >= _MANY for array in inputs.values()):
        np.empty(_TEMPORARY)
        threads = min(memory.cores(), _MOST_THREADS)
    with np.errstate(all="ignore"):
        results = compute(desc, inputs)
        return {name: assemble(result, tensors[name], threads) for name, result in results.items()}


def assemble(result: Result, tensor: TensorDesc, threads: int = 1) -> Array:
    """Round a kernel's tiles and put them together into an output, which is the same for any number of threads."""
    output = np.empty(tensor.sizes, dtype=NUMPY_TYPES[tensor.data_type])
    view = output.transpose(result.axes)

    def place(tiles: Iterable[Tile]) -> None:
        for index, wide in tiles:
            part = view[index]
            part[...] = settle(wide, tensor.data_type).reshape(part.shape)

    if threads == 1 or not _in_threads(place, [result.tiles(Share(number, threads)) for number in range(threads)]):
        place(result.tiles())
    return output


def _in_threads(place: Callable[[Iterable[Tile]], None], shares: list[Iterable[Tile]]) -> bool:
    """Place several shares of the tiles side by side; False where the system gives no thread for each.

    An error in one, or Ctrl-C, soon ends the others.
    """
    from concurrent.futures import ThreadPoolExecutor

    is_over = False

    def work(share: Iterable[Tile]) -> None:
        nonlocal is_over
        try:
            with np.errstate(all="ignore"):  # which holds for one thread only
                place(takewhile(lambda _: not is_over, share))
        except BaseException:
            is_over = True
            raise

    with ThreadPoolExecutor(len(shares)) as pool:
        try:
            begun = [pool.submit(work, share) for share in shares]
        except RuntimeError:
            is_over = True
            return False
        try:
            for future in begun:
                future.result()
        finally:
            is_over = True
    return True


# Freeing this much once teaches glibc to keep the memory of smaller arrays, which it else returns, and asks for anew,
# with every block: that would take longer than the arithmetic.
_TEMPORARY = 1 << 21
_MANY = 1 << 20  # elements: from here on threads save more than they cost
_MOST_THREADS = 4  # each has its own blocks in memory


def settle(wide: Wide, data_type: str) -> Array:
    """Return wide results that are rounded where they are written: integers wrap, floats go to nearest even.

    A float64 result decides how it rounds wherever everything within its error bound rounds alike; elsewhere the exact
    value does.
    """
    value = wide.value
    if wide.error is None or wide.exact is None or data_type not in FORMATS:
        return value  # which is rounded where it is written
    rounded = value.astype(NUMPY_TYPES[data_type], copy=False)
    below = (value - wide.error).astype(rounded.dtype)
    above = (value + wide.error).astype(rounded.dtype)
    doubt = (below != above) & (wide.error > 0)
    if doubt.any():
        doubtful = np.flatnonzero(doubt)
        rounded.flat[doubtful] = wide.exact(doubtful).astype(rounded.dtype)
    return rounded
