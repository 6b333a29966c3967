"""The engine: binds a desc to its kernel, computes the pieces in threads, and rounds once."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference.blocks import Blocks, blockwise, tiles
from dmlcheck.reference.nested import NONE, Nested
from dmlcheck.reference.numbers import Arithmetic, Claim, Tracked
from dmlcheck.reference.pieces import InDoubt, Kernel, OneOf, Open, Piece, number, one_of, opened, parts_of
from dmlcheck.reference.work import TooMuchWork
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values import memory
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = NDArray[Any]
Inputs = Mapping[str, Any]
Numbers = Callable[[Any], Any]
Watch = Callable[[Piece, Any], None]


class Computed(NamedTuple):
    """One output: its values, of its sizes and type, and which of them the documentation leaves open."""

    values: Array
    unspecified: Array | None = None


# ---- a desc and its kernel


class Binding(NamedTuple):
    """A kernel with the fields that its parameters take."""

    kernel: Kernel
    function: Callable[..., Any]
    tensors: tuple[tuple[str, str], ...]
    attributes: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, str], ...] = ()


@cache
def row(operator: str, *, is_integer: bool = False) -> Binding:
    """Return an operator's kernel, and its parameters with the field that each takes."""
    spec = load_spec(operator)
    kernel: Kernel = import_module(f"dmlcheck.reference.kernels.{spec.kernel}").KERNELS[spec.short]
    function = kernel.integers if is_integer and kernel.integers is not None else kernel.function
    fields = {parameter(name): field for name, field in spec.fields.items()}
    named = [name for name in _parameters(function) if name in fields]
    inputs = [(name, fields[name].name) for name in named if fields[name].kind == "input_tensor"]
    others = [(name, fields[name].name) for name in named if fields[name].kind != "input_tensor"]
    stems = {name: name.removesuffix("_type") for name in _parameters(function) if name not in fields}
    types = [(name, fields[stem].name) for name, stem in stems.items() if stem in fields]
    if not inputs and kernel.is_elementwise:  # a ufunc, whose operands have no names
        inputs = [(parameter(field.name), field.name) for field in spec.inputs]
    return Binding(kernel, function, tuple(inputs), tuple(others), tuple(types))


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return () if isinstance(function, np.ufunc) else tuple(inspect.signature(function).parameters)


@cache
def parameter(field: str) -> str:
    """Return the parameter that a field goes by: `input` for InputTensor, `outputs[0]` for OutputTensors[0]."""
    bare = re.sub(r"Tensors(?=$|\[)", "s", field).removesuffix("Tensor")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", bare).lower()


def _attribute(desc: OperatorDesc, name: str, arithmetic: Arithmetic | None) -> Any:
    """Return what a kernel gets of a field that is no input: FLOATs as FLOAT32, operators as callables."""
    value, of = desc.values.get(name), desc.spec.fields[name].type
    if of in ("OPERATOR_DESC", "OPERATOR_DESC_ARRAY"):
        part = (desc.tensors(OUTPUT) or desc.tensors())[0]
        if of == "OPERATOR_DESC":
            return NONE if value is None else _nested(value, part.tensor.data_type, arithmetic)
        return [_nested(inner, part.tensor.data_type, arithmetic) for inner in value or ()]
    if value is None:
        return None
    if of == "FLOAT":
        return number(float(np.float32(value)), arithmetic)
    if of == "SCALAR_UNION":
        return NUMPY_TYPES[desc.values[desc.spec.fields[name].data_type or ""]].type(value).item()
    return value


def _nested(inner: OperatorDesc, data_type: str, arithmetic: Arithmetic | None) -> Nested:
    """Return an operator inside another as a function of what that has of its output's data type."""
    bound = row(inner.spec.operator)
    fields = {to: _attribute(inner, name, arithmetic) for to, name in bound.attributes}
    if bound.kernel.of_groups is not None:
        axes = tuple(fields.get("axes", (-1,)))
        return Nested(partial(bound.kernel.of_groups, axes=axes), data_type, axes)
    formula = partial(bound.function, **fields)
    if inner.values.get("ScaleBias") is not None:
        formula = partial(_moved, formula, *_scale_bias(inner, arithmetic))
    return Nested(formula, data_type)


def _scale_bias(desc: OperatorDesc, arithmetic: Arithmetic | None) -> list[Any]:
    return [number(float(np.float32(part)), arithmetic) for part in desc.values["ScaleBias"]]


def _moved(formula: Callable[..., Any], scale: Any, bias: Any, x: Any) -> Any:
    return formula(x * scale + bias)


# ---- values


def run(desc: OperatorDesc, inputs: Inputs, numbers: Numbers | None = None) -> dict[str, Array]:
    """Return the values of the outputs of a valid desc by label."""
    return {label: computed.values for label, computed in evaluate(desc, inputs, numbers).items()}


def evaluate(
    desc: OperatorDesc, inputs: Inputs, numbers: Numbers | None = None, watch: Watch | None = None
) -> dict[str, Computed]:
    """Return the outputs of a valid desc by label; `inputs` has an array (a list for an array of tensors) by field.

    `numbers` makes other arrays of those that formulas compute with, for what another arithmetic would give. `watch`
    sees each piece that has `sizes`, with what its formula gave, as they are computed, in several threads.
    TooMuchWork where that would take too long.
    """
    refuse_too_much(desc, inputs)
    results = {part.label: _Output(part.tensor) for field in desc.spec.outputs for part in desc.parts[field.name]}
    with np.errstate(all="ignore"):
        _run(pieces(desc, inputs), partial(_compute, results, _overflow(desc), numbers, watch), _threads(inputs))
    return {label: output.computed() for label, output in results.items()}


def too_much_work(desc: OperatorDesc, inputs: Inputs) -> str | None:
    """Return why a valid desc is not computed, with the number that is too large, or None."""
    bound = row(desc.spec.operator)
    work = bound.kernel.work
    if work is None:
        return None
    with np.errstate(all="ignore"):
        return work(_given(bound, desc, inputs, None)).problem


def refuse_too_much(desc: OperatorDesc, inputs: Inputs) -> None:
    """Raise TooMuchWork for a valid desc that would take too long to compute."""
    problem = too_much_work(desc, inputs)
    if problem is not None:
        raise TooMuchWork(problem)


class _Output:
    """An output that fills up piece by piece."""

    def __init__(self, tensor: TensorDesc) -> None:
        self.tensor = tensor
        self.values = np.empty(tensor.sizes, dtype=NUMPY_TYPES[tensor.data_type])
        self.unspecified: Array | None = None

    def put(self, where: Any, result: Any, overflow: str) -> None:
        """Round a piece of the results and put it in its place."""
        for cut, value, is_open in blocks_of(result):
            self._put(where, cut, value, is_open, overflow)

    def _put(self, where: Any, cut: Any, value: Any, is_open: Any, overflow: str) -> None:
        part = self.values[where][cut]
        value = value.ways[0] if isinstance(value, OneOf) else value
        if overflow:
            is_open = is_open | overflowed(overflow, value, self.values.dtype)
        if isinstance(value, InDoubt):
            value = _rounded(value, self.tensor.data_type)
        part[...] = np.asarray(value).reshape(part.shape)
        if is_open is not False and np.any(is_open):
            if self.unspecified is None:
                self.unspecified = np.zeros(self.values.shape, dtype=bool)
            self.unspecified[where][cut] = np.broadcast_to(is_open, np.shape(value)).reshape(part.shape)

    def computed(self) -> Computed:
        return Computed(self.values, self.unspecified)


def blocks_of(result: Any, is_asked: Callable[[Any], Any] = lambda _: True) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the asked blocks of a formula's result: where each is, and what of it is left open. Most are one block."""
    value, is_open = opened(result)
    for cut in filter(is_asked, value.cuts) if isinstance(value, Blocks) else ((),):
        mark = is_open.block(cut) if isinstance(is_open, Blocks) else is_open
        part, more = opened(value.block(cut)) if isinstance(value, Blocks) else (value, False)
        mark = mark if more is False else np.logical_or(mark, more)
        yield cut, part, mark.holds if isinstance(mark, Claim) else mark


def overflowed(overflow: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Say which integer results are left open because they do not fit the output's type."""
    if dtype.kind not in "iu" or (overflow == "narrow" and dtype.itemsize > 2):
        return False
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    signed = value.view(np.int64) if value.dtype == np.uint64 and dtype.itemsize < 8 else value
    return (signed < least) | (signed > most)


def _rounded(result: InDoubt, data_type: str) -> Array:
    """Round results whose error may show: where both ends of it round alike they decide, elsewhere the exact ones."""
    value, dtype = result.value, NUMPY_TYPES[data_type]
    rounded: Array = (value - result.error).astype(dtype)
    doubt = rounded != (value + result.error).astype(dtype)
    if np.count_nonzero(doubt):  # also where the error is infinite or NaN, as that of an infinite sum is
        rounded[doubt] = value[doubt].astype(dtype)
        at = np.flatnonzero(doubt & (result.error > 0) & np.isfinite(result.error))
        if at.size:
            rounded.flat[at] = result.exact(at).astype(dtype)
    return rounded


def _compute(
    results: Mapping[str, _Output], overflow: str, numbers: Numbers | None, watch: Watch | None, piece: Piece
) -> None:
    found = piece.formula(*(x if piece.is_exact else _as_numbers(x, numbers) for x in piece.operands))
    if not isinstance(piece.where, dict):
        (output,) = results.values()
        output.put(piece.where, found, overflow)
        if watch is not None and piece.sizes is not None:
            watch(piece, found)
        return
    outputs = {parameter(label): output for label, output in results.items()}
    for part in parts_of(found):
        for name in filter(outputs.__contains__, part):
            outputs[name].put(piece.where[name], part[name], overflow)


def _as_numbers(x: Any, numbers: Numbers | None) -> Any:
    wide = widened(x)
    if numbers is None:
        return wide
    return blockwise(numbers, wide) if isinstance(wide, Blocks) else numbers(wide)


def widened(x: Any) -> Any:
    """Return elements in the type that they are computed in: float64, int64 or uint64."""
    if isinstance(x, Blocks):
        return blockwise(widened, x)
    return x.astype(_WIDE[x.dtype.kind], copy=False) if isinstance(x, np.ndarray) else x


_WIDE: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.uint64}


def _overflow(desc: OperatorDesc) -> str:
    return row(desc.spec.operator).kernel.overflow


# ---- pieces


def pieces(desc: OperatorDesc, inputs: Inputs, arithmetic: Arithmetic | None = None) -> Iterator[Piece]:
    """Yield the pieces of an operator's results; with an arithmetic its attributes are tracked for it."""
    _keep_memory()
    first = inputs.get(desc.spec.inputs[0].name) if desc.spec.inputs else None
    first = first[0] if isinstance(first, list) else first
    is_integer = isinstance(first, np.ndarray) and first.dtype.kind in "iu"
    bound = row(desc.spec.operator, is_integer=is_integer)
    if not bound.kernel.is_elementwise:
        yield from bound.function(**_given(bound, desc, inputs, arithmetic))
        return
    attributes = _attributes(bound, desc, arithmetic)
    tensors = {to: inputs.get(name) for to, name in bound.tensors}
    sizes = desc.parts[desc.spec.outputs[0].name][0].tensor.sizes
    operands = [x if x is None or x.shape == sizes else np.broadcast_to(x, sizes) for x in tensors.values()]
    formula = partial(bound.function, **attributes) if attributes else bound.function
    is_exact = bound.kernel.is_exact and not (is_integer and bound.kernel.overflow)
    limit = _BLOCK
    if desc.values.get("ScaleBias") is not None:
        used = None if is_integer else arithmetic
        parts = _scale_bias(desc, used)
        formula, is_exact = partial(_scaled, formula, *parts, arithmetic=used, is_exact=is_exact), True
    elif is_exact:
        limit *= 8 // max(x.dtype.itemsize for x in operands if x is not None)
    for index in tiles(sizes, limit):
        yield Piece(index, formula, tuple(None if x is None else x[index] for x in operands), is_exact)


def _given(bound: Binding, desc: OperatorDesc, inputs: Inputs, arithmetic: Arithmetic | None) -> dict[str, Any]:
    """Return what a kernel's function takes, by parameter."""
    return {to: inputs.get(name) for to, name in bound.tensors} | _attributes(bound, desc, arithmetic)


def _attributes(bound: Binding, desc: OperatorDesc, arithmetic: Arithmetic | None) -> dict[str, Any]:
    attributes = {to: _attribute(desc, name, arithmetic) for to, name in bound.attributes}
    return attributes | {to: desc.parts[name][0].tensor.data_type for to, name in bound.types}


def _scaled(
    formula: Callable[..., Any],
    scale: Any,
    bias: Any,
    x: Any,
    *more: Any,
    arithmetic: Arithmetic | None,
    is_exact: bool,
) -> Any:
    """Return f(x * Scale + Bias, ...), tracked where there is an arithmetic.

    Integers may be scaled in FLOAT32. Left open are those of which a value on the way does not fit the type, and all
    unless Scale and Bias are whole.
    """
    if arithmetic is not None:
        first = x if isinstance(x, Tracked) else Tracked(x, 0.0, arithmetic)
        return formula(first * scale + bias, *(tracked(y, arithmetic) for y in more))
    rest = [y if is_exact else widened(y) for y in more]
    if x.dtype.kind == "f":
        return formula(widened(x) * scale + bias, *rest)
    steps = _steps(x, scale, bias)
    limits = np.iinfo(x.dtype)
    fits = np.logical_and.reduce([(step >= limits.min) & (step <= limits.max) for step in steps])
    fits &= scale.is_integer() and bias.is_integer()

    def of(moved: Array) -> Any:
        return formula(moved if is_exact else widened(moved), *rest)

    return Open(one_of(*(np.where(fits, step, 0).astype(x.dtype) for step in (steps[1], *steps[-2:])), of=of), ~fits)


def _steps(x: Array, scale: float, bias: float) -> tuple[Array, ...]:
    """Return the numbers on the way to integers * Scale + Bias, which is the second; the last two are it in FLOAT32."""
    wide, single = x.astype(np.float64), x.astype(np.float32)
    fused = (single.astype(np.float64) * scale + bias).astype(np.float32)
    in_float32 = (single, single * np.float32(scale) + np.float32(bias), fused)
    return wide * scale, *(number.astype(np.float64) for number in (wide * scale + bias, *in_float32))


_BLOCK = 1 << 16  # elements of 64 bits: so many that what Python does for a block takes little of the time


def tracked(x: Any, arithmetic: Arithmetic, *, is_exact: bool = False) -> Any:
    """Return an operand as tracked numbers; as it is computed in where no rounding touches it."""
    if isinstance(x, Blocks):
        return blockwise(partial(tracked, arithmetic=arithmetic, is_exact=is_exact), x)
    if is_exact or not isinstance(x, np.ndarray):
        return x
    return Tracked(x, 0.0, arithmetic) if x.dtype.kind == "f" else widened(x)


# ---- threads


def _threads(inputs: Inputs) -> int:
    arrays = chain.from_iterable(array if isinstance(array, list) else (array,) for array in inputs.values())
    if not any(getattr(array, "size", 0) >= _MANY for array in arrays):
        return 1
    return min(memory.cores(), _MOST_THREADS)


@cache
def _keep_memory() -> None:
    """Teach glibc to keep the memory of smaller arrays by freeing this much once.

    Else it returns that, and asks for it anew, with every block, which would take longer than the arithmetic.
    """
    np.empty(_TEMPORARY)


_TEMPORARY = 1 << 21  # elements
_MANY = 1 << 20  # elements: from here on threads save more than they cost
_MOST_THREADS = 4  # each has its own blocks in memory


def _run(pieces: Iterator[Piece], compute: Callable[[Piece], None], threads: int) -> None:
    """Compute all pieces, in several threads where the system gives them; an error in one, or Ctrl-C, ends the others.

    The pieces may come in any order, so the results are the same for any number of threads. One piece needs one thread.
    """
    if threads > 1:
        first = list(islice(pieces, 2))
        pieces = chain(first, pieces)
        if len(first) > 1 and _shared(pieces, compute, threads):
            return
    for piece in pieces:
        compute(piece)


def _shared(pieces: Iterator[Piece], compute: Callable[[Piece], None], threads: int) -> bool:
    """Share the pieces among threads; False where the system gives no threads, and nothing was done."""
    from concurrent.futures import ThreadPoolExecutor

    lock, is_over = threading.Lock(), threading.Event()

    def work() -> None:
        try:
            with np.errstate(all="ignore"):  # which holds for one thread only
                while not is_over.is_set():
                    with lock:
                        piece = next(pieces, None)
                    if piece is None:
                        return
                    compute(piece)
        except BaseException:
            is_over.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        begun = []
        try:
            for _ in range(threads):
                begun.append(pool.submit(work))  # noqa: PERF401 - what was begun before a refusal counts
        except RuntimeError:
            if not begun:
                return False
        try:
            for future in begun:
                future.result()
        finally:
            is_over.set()
    return True
