"""The engine: binds a desc to its kernel, computes its tiles in threads, and rounds the results once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference.arrays.blocks import Blocks, Numbers, as_numbers
from dmlcheck.reference.ball.numbers import Condition
from dmlcheck.reference.bindings import Inputs, parameter
from dmlcheck.reference.functions.products import Magnitudes
from dmlcheck.reference.limits.work import TooMuchWork, Work
from dmlcheck.reference.results import Alternatives, Approximate, union, with_measured
from dmlcheck.reference.tiling.plan import plan_of, work_of
from dmlcheck.reference.tiling.request import Tile, parts_of
from dmlcheck.values import memory
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = NDArray[Any]
Watch = Callable[[Any, Any, Callable[[], Magnitudes]], None]  # the index of a tile, its results, and their magnitudes


class ComputedOutput(NamedTuple):
    """An output: its values in its data type, and masks, or None.

    `undefined` has the elements that the documentation leaves undefined, `measured` the ones of these with the value
    that DirectML gives.
    """

    values: Array
    undefined: Array | None = None
    measured: Array | None = None

    @property
    def unknown(self) -> Array | None:
        """The mask of undefined elements that were not measured either, or None."""
        return self.undefined if self.undefined is None or self.measured is None else self.undefined & ~self.measured


# ---- values


def run(desc: OperatorDesc, inputs: Inputs, numbers: Numbers | None = None) -> dict[str, Array]:
    """Return the values of the outputs of a valid desc by label."""
    return {label: computed.values for label, computed in evaluate(desc, inputs, numbers).items()}


def evaluate(
    desc: OperatorDesc, inputs: Inputs, numbers: Numbers | None = None, watch: Watch | None = None
) -> dict[str, ComputedOutput]:
    """Return the outputs of a valid desc by label; `inputs` has an array (a list for an array of tensors) by field.

    `numbers` replaces the arrays that formulas compute with, for another arithmetic. `watch` is called, in several
    threads, with the index of each tile whose row has `magnitudes`, the results of its formula, and a function that
    returns their magnitudes. TooMuchWork if it would take too long.
    """
    with np.errstate(all="ignore"):
        plan = plan_of(desc, inputs)
        _refuse(plan.work)
        results = {part.label: _Output(part.tensor) for field in desc.spec.outputs for part in desc.parts[field.name]}
        compute_all(
            plan.tiles(),
            partial(_compute, results, plan.request.bound.kernel.overflow, numbers, watch),
            threads_for(inputs),
        )
    return {label: output.computed() for label, output in results.items()}


def too_much_work(desc: OperatorDesc, inputs: Inputs) -> str | None:
    """Return why a valid desc is not computed, with the number that is too large, or None."""
    with np.errstate(all="ignore"):
        work = work_of(desc, inputs)
    return None if work is None else work.problem


def refuse_too_much(desc: OperatorDesc, inputs: Inputs) -> None:
    """Raise TooMuchWork for a valid desc that would take too long to compute."""
    with np.errstate(all="ignore"):
        _refuse(work_of(desc, inputs))


def _refuse(work: Work | None) -> None:
    if work is not None and work.problem is not None:
        raise TooMuchWork(work.problem)


class _Output:
    """An output that is filled tile by tile."""

    def __init__(self, tensor: TensorDesc) -> None:
        self.tensor = tensor
        self.values = np.empty(tensor.sizes, dtype=NUMPY_TYPES[tensor.data_type])
        self.undefined: Array | None = None
        self.measured: Array | None = None

    def put(self, where: Any, result: Any, overflow: str) -> None:
        """Round a tile of the results and put it in its place."""
        for cut, value, is_undefined, is_measured in blocks_of(result):
            self._put(where, cut, value, is_undefined, is_measured, overflow)

    def _put(self, where: Any, cut: Any, value: Any, is_undefined: Any, is_measured: Any, overflow: str) -> None:
        part = self.values[where][cut]
        value = value.ways[0] if isinstance(value, Alternatives) else value
        if overflow:  # DirectML's integers wrap
            is_measured = is_measured | overflowed(overflow, value, self.values.dtype)
        if isinstance(value, Approximate):
            value = _rounded(value, self.tensor.data_type)
        value = np.asarray(value)
        part[...] = value.reshape(part.shape) if value.ndim else value
        sizes = value.shape or part.shape
        self.undefined = self._marked(self.undefined, union(is_undefined, is_measured), where, cut, sizes)
        self.measured = self._marked(self.measured, _known(is_measured, is_undefined), where, cut, sizes)

    def _marked(self, mask: Array | None, mark: Any, where: Any, cut: Any, sizes: tuple[int, ...]) -> Array | None:
        """Return a mask of the output with the marks of a tile, or None while there are none."""
        if mark is False or not np.any(mark):
            return mask
        mask = np.zeros(self.values.shape, dtype=bool) if mask is None else mask
        part = mask[where][cut]
        part[...] = np.broadcast_to(mark, sizes).reshape(part.shape)
        return mask

    def computed(self) -> ComputedOutput:
        return ComputedOutput(self.values, self.undefined, self.measured)


def blocks_of(result: Any, is_asked: Callable[[Any], Any] = lambda _: True) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield the blocks of a formula's result whose index `is_asked`: index, values, and two masks.

    They have the elements that nothing gives, and those that were measured.
    """
    value, *marks = with_measured(result)
    if not isinstance(value, Blocks):
        yield (), value, *map(_value_of, marks)
        return
    for cut in filter(is_asked, value.cuts):
        part, *more = with_measured(value.block(cut))
        own = (mark.block(cut) if isinstance(mark, Blocks) else mark for mark in marks)
        yield cut, part, *(_value_of(union(mark, other)) for mark, other in zip(own, more, strict=True))


def _value_of(mark: Any) -> Any:
    return mark.value if isinstance(mark, Condition) else mark


def _known(is_measured: Any, is_undefined: Any) -> Any:
    """Return the mask of measured elements of which nothing else is undefined."""
    return is_measured if is_measured is False or is_undefined is False else is_measured & ~np.asarray(is_undefined)


def overflowed(overflow: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a mask of the integer results that are undefined because they do not fit the output's type."""
    if dtype.kind not in "iu" or (overflow == "narrow" and dtype.itemsize > 2):
        return False
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    signed = value.view(np.int64) if value.dtype == np.uint64 and dtype.itemsize < 8 else value
    return (signed < least) | (signed > most)


def _rounded(result: Approximate, data_type: str) -> Array:
    """Round approximate results; where both ends of the error do not round alike, compute the exact results."""
    value, dtype = result.value, NUMPY_TYPES[data_type]
    rounded: Array = (value - result.error).astype(dtype)
    other: Array = (value + result.error).astype(dtype)
    doubt = rounded != other
    if np.count_nonzero(doubt):  # also where the error is infinite or NaN, as the error of an infinite sum is
        rounded[doubt] = value[doubt].astype(dtype)
        at = np.flatnonzero(doubt & (result.error > 0) & np.isfinite(result.error))
        if at.size:
            rounded.flat[at] = result.exact(at).astype(dtype)
    return rounded


def _compute(
    results: Mapping[str, _Output], overflow: str, numbers: Numbers | None, watch: Watch | None, tile: Tile
) -> None:
    operands = tile.operands if tile.is_exact else [as_numbers(x, numbers) for x in tile.operands]
    found = tile.formula(*operands)
    if not isinstance(tile.where, dict):
        (output,) = results.values()
        output.put(tile.where, found, overflow)
        if watch is not None and tile.magnitudes is not None:
            watch(tile.where, found, partial(tile.magnitudes, *tile.operands))
        return
    outputs = {parameter(label): output for label, output in results.items()}
    for part in parts_of(found):
        for name in filter(outputs.__contains__, part):
            outputs[name].put(tile.where[name], part[name], overflow)


# ---- threads


_Tile = TypeVar("_Tile")


def threads_for(inputs: Mapping[str, Any]) -> int:
    """Return the number of threads for an operator with these inputs."""
    for array in inputs.values():
        for part in array if isinstance(array, list) else (array,):
            if part is not None and part.size >= _MANY:
                return min(memory.cores(), _MOST_THREADS)
    return 1


_MANY = 1 << 20  # elements; for fewer, threads cost more than they save
_MOST_THREADS = 4  # each needs memory for its own blocks


@cache
def keep_memory() -> None:
    """Let the C library keep the memory of the arrays of tiles: glibc does so after an array of this size was freed.

    Otherwise it returns their memory to the system, whose pages cost more time than the arithmetic on them: the
    benchmark `gemm` takes an eighth longer.
    """
    np.empty(_KEPT, np.uint8)


_KEPT = 1 << 24  # bytes


def compute_all(tiles: Iterator[_Tile], compute: Callable[[_Tile], None], threads: int) -> None:
    """Compute all tiles, in several threads if the system has them; an error in one, or Ctrl-C, ends all.

    The order of the tiles does not matter, so that results do not depend on the number of threads.
    """
    keep_memory()
    if threads > 1:
        first = list(islice(tiles, 2))
        tiles = chain(first, tiles)
        if len(first) > 1 and _shared(tiles, compute, threads):
            return
    for tile in tiles:
        compute(tile)


def _shared(tiles: Iterator[_Tile], compute: Callable[[_Tile], None], threads: int) -> bool:
    """Compute the tiles in threads; return False, with nothing computed, if the system has no threads."""
    from concurrent.futures import ThreadPoolExecutor

    lock, is_over = threading.Lock(), threading.Event()

    def work() -> None:
        try:
            with np.errstate(all="ignore"):  # it is set for each thread on its own
                while not is_over.is_set():
                    with lock:
                        tile = next(tiles, None)
                    if tile is None:
                        return
                    compute(tile)
        except BaseException:
            is_over.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        begun = []
        try:
            for _ in range(threads):
                begun.append(pool.submit(work))  # noqa: PERF401 - the threads that start before an error count
        except RuntimeError:
            if not begun:
                return False
        try:
            for future in begun:
                future.result()
        finally:
            is_over.set()
    return True
