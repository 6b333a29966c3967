"""Faults that are tried: the reference engine with an attribute, an input or an arithmetic other than it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import pairwise, takewhile
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dmlcheck.comparison.compare import same
from dmlcheck.comparison.wrong_output import Change, Inputs, WrongOutput, changed_inputs
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.wording import figure
from dmlcheck.reference import engine
from dmlcheck.reference.ball import narrowed
from dmlcheck.reference.ball.narrowed import Narrowing
from dmlcheck.reference.engine import Array
from dmlcheck.specs.names import ENUMS
from dmlcheck.specs.records import Field
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES, ulp

_BITS = 10.0  # how much closer a variant must come, all wrong elements together, to be more than chance
_MOST_BITS = 8.0  # that one element tells
_BITS_OF_OTHERS = 3.0  # that an infinity or NaN tells
_Fault = TypeVar("_Fault")
_INDICES = ("IndicesTensor", "BatchIndicesTensor", "SequenceLengthsTensor")


class Variant(NamedTuple):
    """A fault in words, after `as if`, and the engine's arguments with it."""

    words: str
    desc: OperatorDesc
    inputs: Inputs
    way: Narrowing = Narrowing()
    finish: Callable[[Array, str], Array] = lambda x, _: x

    def output(self, wrong: WrongOutput) -> Array | None:
        """Return an output with the fault, or None if the documentation leaves a wrong element of it undefined."""
        numbers = None if self.way == Narrowing() else partial(narrowed.narrowed, self.way)
        found = engine.evaluate(self.desc, self.inputs, numbers)[wrong.label]
        is_undefined = found.undefined
        if found.values.shape != wrong.mask.shape or (is_undefined is not None and is_undefined[wrong.mask].any()):
            return None
        return self.finish(found.values, wrong.tensor.data_type)


def explaining(wrong: WrongOutput, end: float) -> Iterator[str]:
    """Yield the faults that explain a whole output: the engine with the fault gives it, within the tolerance.

    No fault is tried after `end`, a time of time.monotonic.
    """
    for variant in in_time(variants(wrong.desc, wrong.inputs), end):
        with suppress(Exception):  # such a desc may be none that the engine computes
            predicted = variant.output(wrong)
            is_near = predicted is not None and _is_closer(predicted, wrong)
            if predicted is not None and is_near and wrong.is_right_for(predicted, variant.desc, variant.inputs):
                yield variant.words


def in_time(faults: Iterable[_Fault], end: float) -> Iterator[_Fault]:
    """Yield faults until a time of time.monotonic."""
    return takewhile(lambda _: monotonic() < end, faults)


def _is_closer(predicted: Array, wrong: WrongOutput) -> bool:
    """Whether a prediction comes closer at all wrong elements, by so much together that it is no chance."""
    if predicted.dtype != wrong.actual.dtype:
        return False
    found, made, wanted = (x[wrong.mask] for x in (wrong.actual, predicted, wrong.expected))
    if wrong.mask.all() and wrong.is_float and not np.isfinite(found).any():
        return False  # no element tells one fault from another
    is_same = same(found, made)
    numbers, near, far = (x.astype(np.float64) for x in (found, made, wanted))
    after, before = np.abs(numbers - near), np.abs(numbers - far)
    if not (is_same | (after <= before / 2)).all():
        return False
    unit = ulp(far, wrong.tensor.data_type) if wrong.tensor.data_type in FORMATS else np.ones(far.shape)
    bits = np.log2((before + unit) / (np.where(is_same, 0, after) + unit))
    bits = np.where(np.isfinite(bits), bits.clip(0, _MOST_BITS), _BITS_OF_OTHERS)
    return float(bits.sum()) >= _BITS


# ---- all of them


def variants(desc: OperatorDesc, inputs: Inputs) -> Iterator[Variant]:
    """Yield the faults that a desc and its inputs may show."""
    for words, values in _fields(desc):
        merged = {name: value for name, value in {**desc.values, **values}.items() if value is not None}
        given = {name: value for name, value in inputs.items() if name in merged}
        yield Variant(words, OperatorDesc.of(desc.spec, merged), given)
    for words, change in _CHANGES.items():
        changed = changed_inputs(desc, inputs, change)
        if changed is not inputs:
            yield Variant(words, desc, changed)
    types = {part.tensor.data_type for part in desc.tensors()}
    if not types.isdisjoint(FORMATS):
        yield from (Variant(words, desc, inputs, way) for words, way in _WAYS.items())
    yield from _of_integers(desc, inputs, types)


_WAYS = {
    "sums were made in FLOAT16": Narrowing(rounding=narrowed.float16),
    "sums were made in BFLOAT16": Narrowing(rounding=narrowed.bfloat16),
    "the last term of each sum were left out": Narrowing(lost=lambda count: slice(count - 1, None)),
    "halves were rounded away from zero": Narrowing(nearest=narrowed.away_from_zero),
}


# ---- fields


def _fields(desc: OperatorDesc) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield values of fields that a kernel may have taken instead, with the words for them."""
    attributes = [field for field in desc.spec.fields.values() if _is_plain(field, desc)]
    for field in attributes:
        yield from ((f"{field.name} were {_text(field, value)}", {field.name: value}) for value in _others(field, desc))
    for first, second in pairwise(attributes):
        values = desc.values[first.name], desc.values[second.name]
        is_alike = (first.type, first.enum, first.boolean) == (second.type, second.enum, second.boolean)
        if is_alike and values[0] != values[1]:
            yield f"{first.name} and {second.name} were exchanged", {first.name: values[1], second.name: values[0]}
    for field in desc.spec.fields.values():
        is_optional = field.kind == "input_tensor" and field.optional
        is_given = desc.values.get(field.name) is not None
        if is_given and (is_optional or field.type in ("OPERATOR_DESC", "SCALE_BIAS")):
            yield f"{field.name} were left out", {field.name: None}


def _is_plain(field: Field, desc: OperatorDesc) -> bool:
    is_attribute = field.kind == "attribute" and not field.counts and field.enum != "DML_TENSOR_DATA_TYPE"
    return is_attribute and desc.values.get(field.name) is not None and field.type != "OPERATOR_DESC"


def _others(field: Field, desc: OperatorDesc) -> Iterator[Any]:
    """Yield other values of an attribute."""
    value = desc.values[field.name]
    for other in _candidates(field, value, desc):
        if other != value:
            yield other


def _candidates(field: Field, value: Any, desc: OperatorDesc) -> Iterator[Any]:
    if field.enum is not None:
        yield from (name for name in ENUMS[field.enum] if not name.endswith("UNKNOWN"))
    elif field.boolean:
        yield 0 if value else 1
    elif field.type == "OPERATOR_DESC_ARRAY":
        yield tuple(value[:1] * len(value))
    elif isinstance(value, tuple) and value:
        if field.name == "Axes":
            rank = len(desc.tensors()[0].tensor.sizes)
            yield tuple(range(rank - len(value), rank))
            return
        yield value._make(reversed(value)) if hasattr(value, "_make") else tuple(reversed(value))
        for number in (0, 1):
            each = (type(part)(number) for part in value)
            yield value._make(each) if hasattr(value, "_make") else tuple(each)
    elif isinstance(value, (int, float)):
        yield from (type(value)(0), type(value)(1))


def _text(field: Field, value: Any) -> str:
    if field.boolean:
        return "true" if value else "false"
    if field.type == "OPERATOR_DESC_ARRAY":
        return "all the first of them"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(figure, value)) + "]"
    return figure(value) if isinstance(value, (int, float)) else str(value)


# ---- inputs


def _of_float32(rounding: Callable[[Array], Array]) -> Change:
    return lambda _, x: rounding(x).astype(np.float32) if x.dtype == np.float32 else x


def _of_indices(change: Callable[[Array], Array]) -> Change:
    return lambda part, x: change(x).astype(x.dtype) if part.label in _INDICES else x


def _of_any_type(change: Callable[[Array, str], Array]) -> Change:
    return lambda part, x: change(x, part.tensor.data_type)


# ---- integers

_SIGNED = {"UINT8": "INT8", "UINT16": "INT16", "UINT32": "INT32", "UINT64": "INT64"}
_NARROW = frozenset({"INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32"})
_WIDE = {"INT64", "UINT64"}


def _of_integers(desc: OperatorDesc, inputs: Inputs, types: set[str]) -> Iterator[Variant]:
    """Yield integers in another type, or through one."""
    if not types.isdisjoint(_SIGNED) and _has_top_bit(inputs):
        viewed = changed_inputs(desc, inputs, lambda _, x: x.view(f"i{x.itemsize}") if x.dtype.kind == "u" else x)
        signed = _retyped(desc, lambda name: _SIGNED.get(name, name))
        yield Variant("unsigned integers were read as signed", signed, viewed, finish=_viewed)
    if types <= _NARROW:
        wide = changed_inputs(desc, inputs, lambda _, x: x.astype(np.int64))
        words = "integers were limited to their type instead of wrapping"
        yield Variant(words, _retyped(desc, lambda _: "INT64"), wide, finish=_clipped)
    if not types.isdisjoint(_WIDE):
        for words, through in (("32 bits", _through_32_bits), ("FLOAT32", _through_float32)):
            again = partial(_again, through)
            changed = changed_inputs(desc, inputs, _of_any_type(again))
            yield Variant(f"64-bit integers went through {words}", desc, changed, finish=again)


def _has_top_bit(inputs: Inputs) -> bool:
    """Whether an unsigned input has an element that is negative when it is read as signed."""
    given = [x for value in inputs.values() for x in (value if isinstance(value, list) else [value])]
    return any(x.dtype.kind == "u" and bool((x > np.iinfo(x.dtype).max // 2).any()) for x in given)


def _retyped(desc: OperatorDesc, change: Callable[[str], str]) -> OperatorDesc:
    """Return a desc whose tensors have other data types."""

    def other(value: Any) -> Any:
        if isinstance(value, TensorDesc):
            return value._replace(data_type=change(value.data_type))
        is_list = isinstance(value, tuple) and value and all(isinstance(part, TensorDesc) for part in value)
        return tuple(map(other, value)) if is_list else value

    return OperatorDesc.of(desc.spec, {name: other(value) for name, value in desc.values.items()})


def _viewed(x: Array, data_type: str) -> Array:
    return x.view(NUMPY_TYPES[data_type]) if x.dtype.kind == "i" else x


def _clipped(x: Array, data_type: str) -> Array:
    limits = np.iinfo(NUMPY_TYPES[data_type])
    return np.clip(x, limits.min, limits.max).astype(limits.dtype)


def _again(through: Callable[[Array], Array], x: Array, _: str) -> Array:
    return through(x).astype(x.dtype) if x.dtype in (np.int64, np.uint64) else x


def _through_32_bits(x: Array) -> Array:
    return x.astype(np.int32 if x.dtype == np.int64 else np.uint32)


def _through_float32(x: Array) -> Array:
    limits = np.iinfo(x.dtype)
    rounded = x.astype(np.float32).astype(np.float64)
    return np.clip(rounded, float(limits.min), np.nextafter(float(limits.max), 0)).astype(x.dtype)


def _counted_from_1(indices: Array) -> Array:
    """Return indices less 1; a single one as it is, since any other element may be there by another mistake."""
    is_single = bool((indices == indices.reshape(-1)[:1]).all())
    return indices if is_single else np.where(indices > 0, indices - indices.dtype.type(1), indices)


_CHANGES: dict[str, Change] = {
    "inputs were rounded to TF32": _of_float32(narrowed.tf32),
    "inputs were rounded to BFLOAT16": _of_float32(narrowed.bfloat16),
    "inputs were rounded to FLOAT16": _of_float32(narrowed.float16),
    "indices were counted from 1": _of_indices(_counted_from_1),
    "negative indices were 0": _of_indices(lambda x: np.maximum(x, 0)),
}
