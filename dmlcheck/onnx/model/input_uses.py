"""The uses of a model's inputs: as indices, with their range, as masks, as lengths, or as what else has limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.onnx.model.file import all_nodes
from dmlcheck.onnx.model.parts import graphs_of, whole_number

# Through which an index, a mask or a length passes as it is: their first input.
_PASSES = frozenset(
    [
        "Cast",
        "Expand",
        "Flatten",
        "Gather",
        "GatherElements",
        "GatherND",
        "Identity",
        "Pad",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    ]
)
_CHOSEN = (1, 2)  # the inputs of Where that it gives
# After which an index is joined with others, or moved: exporters write `i < 0 ? i + n : i` with them.
_JOINS = ("Add", "Concat", "Mul", "Sub")
# Operators with an input that indexes another one along an attribute `axis`: the places of both.
_INDEXES_AXIS = {"Gather": (1, 0), "GatherElements": (1, 0), "ScatterElements": (1, 0), "Scatter": (1, 0)}
# Operators with an input that indexes the first dimension of another one.
_INDEXES_ROWS = {
    ("EmbedLayerNormalization", 0): 2,
    ("EmbedLayerNormalization", 1): 4,
    ("EmbedLayerNormalization", 8): 3,
    ("QEmbedLayerNormalization", 0): 2,
    ("QEmbedLayerNormalization", 1): 4,
    ("RotaryEmbedding", 1): 2,  # onnxruntime's own
    ("RotaryEmbedding", 3): 1,  # ONNX's
    ("GatherBlockQuantized", 1): 0,
}
_MASKS = {
    ("EmbedLayerNormalization", 7),
    ("QEmbedLayerNormalization", 7),
    ("MultiHeadAttention", 4),
    ("Attention", 3),
    ("QAttention", 5),
    ("Where", 0),
    ("Loop", 1),
}
_LENGTHS = {("GroupQueryAttention", 5): "last", ("GroupQueryAttention", 6): "total"}
_PAST_KEY = 3  # the input of GroupQueryAttention that has keys of earlier runs


class Use(NamedTuple):
    """How an input is used: it indexes a number of elements, or is a mask, or a length of attention; or none of these.

    Its whole numbers are from `least` to below `most`, its floats in the range `floats`; or `related` makes its numbers
    for its shape. `length` is "total" for the number of keys, "last" for the place of the last one, and `past` names
    the input that has the keys of earlier runs, `new` the inputs with the keys and queries of this one. With `is_part`
    an index is made of its numbers and others, so that it may be beyond what it indexes.
    """

    most: int | None = None
    is_mask: bool = False
    hides: bool = False  # a mask whose ones hide elements, and whose zeros let them through
    length: str = ""
    past: str = ""
    new: tuple[str, ...] = ()
    least: int = 0
    related: Made | None = None
    floats: tuple[float, float] | None = None
    is_part: bool = False


def uses_of(model: Any, sizes: Mapping[str, Sequence[int]], low: Collection[str] = ()) -> dict[str, Use]:
    """Return the uses of the inputs of a model.

    `sizes` has the sizes of the inputs and constants, `low` the constants below all scores, which hide what has them.
    """
    readers: dict[str, list[tuple[Any, int]]] = {}
    for node in all_nodes(model.graph):
        for index, name in enumerate(node.input):
            readers.setdefault(name, []).append((node, index))
        for name, output in _given_by_branches(node):
            readers.setdefault(name, []).append((_Branch("Identity", (name,), (output,)), 0))
    lengths = _lengths(model.graph.input, sizes)
    return {value.name: _use(value.name, readers, sizes, low, lengths.get(value.name)) for value in model.graph.input}


class _Branch(NamedTuple):
    """A step from a tensor of a branch to the output of its If, as a node."""

    op_type: str
    input: tuple[str, ...]
    output: tuple[str, ...]
    attribute: tuple[Any, ...] = ()


def _given_by_branches(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the outputs of the branches of an If, each with the output of the If that it may become."""
    for graph in graphs_of(node) if node.op_type == "If" else ():
        yield from zip((value.name for value in graph.output), node.output, strict=False)


def _lengths(values: Sequence[Any], sizes: Mapping[str, Sequence[int]]) -> dict[str, Made]:
    """Return the functions that make the lengths of sequences, which no operator may tell, for inputs of such a name.

    The first sequence of a batch has all steps, since models cut their results to the longest one.
    """
    made: dict[str, Made] = {}
    for name in (value.name for value in values if "len" in value.name.lower()):
        own = sizes.get(name, ())
        others = (sizes.get(value.name, ()) for value in values)
        steps = [min(each[1:]) for each in others if len(own) < 2 <= len(each) and own in ((), (1,), tuple(each[:1]))]
        if steps and steps[0] > 0:
            made[name] = partial(_shorter, steps[0])
    return made


def _shorter(steps: int, shape: tuple[int, ...]) -> Sequence[int]:
    """Return lengths that are each one step shorter than the one before it."""
    return [max(1, steps - number) for number in range(math.prod(shape))]


def _use(
    name: str,
    readers: Mapping[str, list[tuple[Any, int]]],
    sizes: Mapping[str, Sequence[int]],
    low: Collection[str],
    lengths: Made | None,
) -> Use:
    limits: list[Span] = []
    joined: list[Span] = []
    updated: list[_Updated] = []
    made = lengths
    shares: tuple[float, float] | None = None
    is_mask, hides = "mask" in name.lower(), False
    for node, index, is_part in _reached(name, readers):
        indexed = [(0, limit) for limit in _limit(node, index, sizes)]
        if not is_part and (node.op_type, index) in _OF_UPDATES:
            updated += [_Updated.of(Reader(node, sizes), limit) for _, limit in indexed]
        else:
            (joined if is_part else limits).extend(indexed)
        if is_part:
            continue
        length = _LENGTHS.get((node.op_type, index))
        if length is not None:
            past = node.input[_PAST_KEY] if len(node.input) > _PAST_KEY else ""
            return Use(length=length, past=past, new=(*node.input[1:2], *node.input[:1]))
        is_mask = is_mask or (node.op_type, index) in _MASKS
        hides = hides or (node.op_type == "Where" and index == 0 and node.input[1] in low)
        limits += spans(node, index, sizes)
        made = made or related(node, index, sizes)
        shares = shares or floats(node, index)
    limits += [] if is_mask else joined
    if len(set(updated)) == 1 and updated[0].has_places_within(limits):
        made = made or updated[0].places
    limits += [(0, one.limit) for one in updated]
    least, most = max((least for least, _ in limits), default=0), min((most for _, most in limits), default=None)
    return Use(most, is_mask, hides, least=least, related=made, floats=shares, is_part=bool(joined))


def _reached(name: str, readers: Mapping[str, list[tuple[Any, int]]]) -> Iterator[tuple[Any, int, bool]]:
    """Yield the nodes that read an input, or its elements in another form, with the position of the input.

    The last value says whether they read it joined with others, in one tensor.
    """
    waiting, seen = [(name, False)], {name}
    while waiting:
        reached, is_part = waiting.pop()
        for node, index in readers.get(reached, ()):
            yield node, index, is_part
            is_passed = index in _CHOSEN if node.op_type == "Where" else index == 0 and node.op_type in _PASSES
            is_joined = node.op_type in _JOINS
            if is_passed or is_joined:
                made = [output for output in node.output if output and output not in seen]
                seen.update(made)
                waiting += [(output, is_part or is_joined) for output in made]


def _limit(node: Any, index: int, sizes: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """Yield how many elements an input of a node indexes, where it does; 1 if that is not known."""
    kind = node.op_type
    indexed = _INDEXES_AXIS.get(kind)
    if indexed is not None and indexed[0] == index:
        axis = whole_number(node, "axis", 0)
        of = sizes.get(node.input[indexed[1]], ())
        yield of[axis] if -len(of) <= axis < len(of) else 1
    elif (kind, index) in _INDEXES_ROWS:
        place = _INDEXES_ROWS[kind, index]
        of = sizes.get(node.input[place], ()) if len(node.input) > place else ()
        yield of[0] if of else 1
    elif kind in ("GatherND", "ScatterND") and index == 1:
        yield min(sizes.get(node.input[0], ()), default=1)
    elif kind == "OneHot" and index == 0:
        yield 1


# ---- the values that operators take in inputs that say how they compute: counts, sizes, axes, steps and shares


Span = tuple[int, int]  # whole numbers from the first to below the second
Array = np.ndarray[Any, Any]
Made = Callable[[tuple[int, ...]], Sequence[int] | Array]

FACTOR = (1.0, 2.0)  # floats in which a scale is large enough, and not too large
_SHARE = (0.0, 1.0)
_MOST_COUNT = 5  # a size or a number of rounds is below it
_LARGEST = 2**32  # of more columns no factors are sought, nor places among more elements


class Reader(NamedTuple):
    """A node that reads an input, with the sizes of tensors where they are known."""

    node: Any
    sizes: Mapping[str, Sequence[int]]

    def of(self, index: int) -> Sequence[int]:
        """Return the sizes of an input, none if they are not known."""
        names = self.node.input
        return self.sizes.get(names[index], ()) if index < len(names) else ()

    def given(self) -> Sequence[int]:
        """Return the sizes of the first output, none if they are not known."""
        return self.sizes.get(self.node.output[0], ())

    def size(self, index: int, axis: int) -> int:
        """Return a size of an input, 1 if it is not known."""
        sizes = self.of(index)
        return sizes[axis] if -len(sizes) <= axis < len(sizes) else 1

    def attribute(self, name: str, default: int) -> int:
        """Return an attribute that is a whole number."""
        return int(whole_number(self.node, name, default))

    def attributes(self, name: str, count: int, default: int) -> list[int]:
        """Return an attribute that is a list of whole numbers."""
        return next((list(one.ints) for one in self.node.attribute if one.name == name), [default] * count)


# ---- whole numbers of a range


def _up_to(index: int, axis: str, default: int) -> Callable[[Reader], Span]:
    """Return the span from 1 to a size along the axis of an attribute."""
    return lambda reader: (1, max(1, reader.size(index, reader.attribute(axis, default))) + 1)


def _places(index: int, axis: int) -> Callable[[Reader], Span]:
    return lambda reader: (0, max(1, reader.size(index, axis)))


def _between(least: int, most: int) -> Callable[[Reader], Span]:
    return lambda _: (least, most)


def _steps(reader: Reader) -> Span:
    """Return the span of the lengths of sequences, whose layout may have the batch first."""
    return 1, max(1, reader.size(0, reader.attribute("layout", 0))) + 1


def _axis(reader: Reader) -> Span:
    return 0, max(1, len(reader.of(0)))


def _written(reader: Reader) -> Span:
    """Return the span of the places where an update still fits."""
    axis = reader.attribute("axis", -2)
    return 0, max(0, reader.size(0, axis) - reader.size(1, axis)) + 1


def _padding(reader: Reader) -> Span:
    """Return the span of the padding of an axis: a reflection has no more elements than the tensor."""
    is_reflection = any(one.s == b"reflect" for one in reader.node.attribute)
    return 0, min(2, *reader.of(0), 2) if is_reflection else 2


_COUNT = _between(1, _MOST_COUNT)
_SPANS: dict[tuple[str, int], Callable[[Reader], Span]] = {
    ("ArrayFeatureExtractor", 1): _places(0, -1),
    ("Attention", 6): lambda reader: (1, max(1, reader.size(1, -2)) + 1),
    ("BitShift", 1): _between(0, 8),
    ("CenterCropPad", 1): _COUNT,
    ("ConstantOfShape", 0): _COUNT,
    ("CumProd", 1): _axis,
    ("CumSum", 1): _axis,
    ("DFT", 2): lambda reader: (0, max(2, len(reader.of(0))) - 1),  # the last axis has real and imaginary parts
    ("Div", 1): _between(1, 100),
    ("Expand", 1): _between(1, 2),
    ("GRU", 4): _steps,
    ("LSTM", 4): _steps,
    ("Loop", 0): _COUNT,
    ("MaxUnpool", 1): lambda reader: (0, max(1, math.prod(reader.of(0)))),
    ("Mod", 1): _between(1, 100),
    ("NegativeLogLikelihoodLoss", 1): _places(0, 1),
    ("OneHot", 1): _COUNT,
    ("Pad", 1): _padding,
    ("RNN", 4): _steps,
    ("Range", 2): _COUNT,
    ("ReverseSequence", 1): _up_to(0, "time_axis", 0),
    ("RoiAlign", 2): _places(0, 0),
    ("Slice", 4): _between(1, 3),
    ("SoftmaxCrossEntropyLoss", 1): _places(0, 1),
    ("TensorScatter", 2): _written,
    ("Tile", 1): _between(1, 3),
    ("TopK", 1): _up_to(0, "axis", -1),
}


def spans(node: Any, index: int, sizes: Mapping[str, Sequence[int]]) -> Iterator[Span]:
    """Yield the span of the whole numbers that a node takes in an input, where it does not take all."""
    rule = _SPANS.get((node.op_type, index))
    if rule is not None:
        yield rule(Reader(node, sizes))


# ---- numbers that depend on each other


def _axes(_: Reader) -> Made:
    return lambda shape: range(math.prod(shape))


def _of_one_element(reader: Reader) -> Made:
    """Return the axes with one element first."""
    order = sorted(range(len(reader.of(0))), key=lambda axis: reader.size(0, axis) != 1)
    return lambda shape: order[: math.prod(shape)] or range(math.prod(shape))


def _same_count(_: Reader) -> Made:
    return lambda shape: [-1, *[1] * (math.prod(shape) - 1)][: math.prod(shape)]


def _parts(reader: Reader) -> Made:
    """Return parts of nearly equal size; a single number is the size of all."""
    total = reader.size(0, reader.attribute("axis", 0))

    def made(shape: tuple[int, ...]) -> Sequence[int]:
        count = math.prod(shape)
        least, more = divmod(total, count) if shape and count else (1, 0)
        return [least + (number < more) for number in range(count)]

    return made


def _sampled(reader: Reader) -> Made:
    """Return the sizes of an image for each matrix of a batch."""
    return lambda shape: [reader.size(0, 0), *[2] * (math.prod(shape) - 1)]


def _larger(reader: Reader) -> Made:
    """Return the tensor's sizes with the last two doubled."""
    own = reader.of(0)

    def made(shape: tuple[int, ...]) -> Sequence[int]:
        count = math.prod(shape)
        sizes = own if len(own) == count else [1] * count
        return [size * factor for size, factor in zip(sizes, _twice(shape), strict=True)]

    return made


def _twice(shape: tuple[int, ...]) -> Sequence[int]:
    """Return the factors of sizes of which the last two are doubled."""
    count = math.prod(shape)
    return [1] * (count - 2) + [2] * min(count, 2)


# Operators with an input that says which elements of a tensor are updated.
_OF_UPDATES = {("ScatterND", 1), ("ScatterElements", 1), ("Scatter", 1)}


class _Updated(NamedTuple):
    """A tensor of which a node updates elements: its sizes, and the `limit` that all indices are below.

    Elements that are updated twice have no certain result. The indices are along an axis, or, where it is None, tuples
    of a `depth`, which is 0 if it is not known.
    """

    sizes: tuple[int, ...]
    limit: int
    axis: int | None
    depth: int

    @classmethod
    def of(cls, reader: Reader, limit: int) -> _Updated:
        """Return the tensor that a node updates."""
        sizes = tuple(reader.of(0))
        if reader.node.op_type != "ScatterND":
            return cls(sizes, limit, reader.attribute("axis", 0), 0)
        return cls(sizes, limit, None, (0, *reader.of(1))[-1])

    def has_places_within(self, limits: Sequence[Span]) -> bool:
        """Whether indices can be made that differ, and are within limits; tuples are within none but their own."""
        if not 0 < math.prod(self.sizes or (0,)) <= _LARGEST:
            return False
        if self.axis is None:
            return not limits
        are_within = all(least <= 0 and self.limit <= most for least, most in limits)
        return are_within and -len(self.sizes) <= self.axis < len(self.sizes)

    def places(self, shape: tuple[int, ...]) -> Array:
        """Return indices that differ while there are enough, the last first.

        A list of numbers from which tuples are made elsewhere has one number for each.
        """
        found = np.zeros(shape, int)
        depth = self.depth or (shape[-1] if len(shape) > 1 else 1)
        if self.axis is not None and len(shape) == len(self.sizes):
            np.moveaxis(found, self.axis, -1)[...] = _descending(shape[self.axis], self.limit)
        elif self.axis is None and 0 < depth <= len(self.sizes):
            sizes = self.sizes[:depth]
            tuples = np.unravel_index(_descending(found.size // depth, math.prod(sizes)), sizes)
            found = np.stack(tuples, axis=-1).reshape(shape)
        return found


def _descending(count: int, below: int) -> Array:
    """Return whole numbers in descending order, from the largest below a limit on, and again from there after 0."""
    return (below - 1 - np.arange(count)) % below


class _Blocks(NamedTuple):
    """The sizes of an image, and of the blocks whose elements are the columns of Col2Im."""

    image: Sequence[int]
    block: Sequence[int]


def _blocks(reader: Reader, count: int) -> _Blocks:
    """Return blocks of an image that make as many columns as there are: of the declared image, or of one element."""
    rows, columns = reader.size(0, -2), reader.size(0, -1)
    strides, dilations = (reader.attributes(name, count, 1) for name in ("strides", "dilations"))
    pads = reader.attributes("pads", 2 * count, 0)
    is_odd = count < 1 or (len(strides), len(dilations), len(pads)) != (count, count, 2 * count)
    if is_odd or max(rows, columns) > _LARGEST:
        return _Blocks([1] * count, [1] * count)
    padding = [pads[axis] + pads[axis + count] for axis in range(count)]
    channels, *image = reader.given()[1:] or (0,)
    if len(image) == count and channels and rows % channels == 0:
        for block in _factors(rows // channels, count):
            reach = [(size - 1) * step + 1 for size, step in zip(block, dilations, strict=True)]
            room = [size + more - own for size, more, own in zip(image, padding, reach, strict=True)]
            places = [size // step + 1 for size, step in zip(room, strides, strict=True)]
            if min(room) >= 0 and math.prod(places) == columns:
                return _Blocks(image, block)
    for places in _factors(max(1, columns), count):
        image = [(place - 1) * step + 1 - more for place, step, more in zip(places, strides, padding, strict=True)]
        if min(image) > 0:
            break
    return _Blocks(image, [1] * count)


def _factors(number: int, count: int) -> Iterator[list[int]]:
    """Yield the ways to write a number as a product of some factors, in their order."""
    if count == 1:
        yield [number]
        return
    small = [first for first in range(1, math.isqrt(number) + 1) if number % first == 0]
    for first in sorted({*small, *(number // each for each in small)}):
        yield from ([first, *rest] for rest in _factors(number // first, count - 1))


def _image(reader: Reader) -> Made:
    return lambda shape: _blocks(reader, math.prod(shape)).image


def _block(reader: Reader) -> Made:
    return lambda shape: _blocks(reader, math.prod(shape)).block


_RELATED: dict[tuple[str, int], Callable[[Reader], Made]] = {
    ("AffineGrid", 1): _sampled,
    ("Col2Im", 1): _image,
    ("Col2Im", 2): _block,
    ("Pad", 3): _axes,
    ("MaxUnpool", 2): _larger,
    ("Reshape", 1): _same_count,
    ("Resize", 1): lambda _: _twice,  # the scales of version 10
    ("Resize", 2): lambda _: _twice,
    ("Resize", 3): _larger,
    ("Slice", 3): _axes,
    ("Split", 1): _parts,
    ("SplitToSequence", 1): _parts,
    ("Squeeze", 1): _of_one_element,
    ("Unsqueeze", 1): _axes,
    ("Upsample", 1): lambda _: _twice,
}


def related(node: Any, index: int, sizes: Mapping[str, Sequence[int]]) -> Made | None:
    """Return the function that makes the numbers of an input for its shape, None if they do not depend."""
    is_reduction = node.op_type.startswith("Reduce") and index == 1
    rule = _axes if is_reduction else _RELATED.get((node.op_type, index))
    return None if rule is None else rule(Reader(node, sizes))


# ---- floats of a range


_FLOATS = {
    ("Dropout", 1): _SHARE,
    ("NonMaxSuppression", 3): _SHARE,
    **dict.fromkeys(
        [
            ("DequantizeLinear", 1),
            ("OneHot", 1),
            ("QLinearConv", 1),
            ("QLinearConv", 4),
            ("QLinearConv", 6),
            ("QLinearMatMul", 1),
            ("QLinearMatMul", 4),
            ("QLinearMatMul", 6),
            ("QuantizeLinear", 1),
            ("Range", 2),
        ],
        FACTOR,
    ),
}


def floats(node: Any, index: int) -> tuple[float, float] | None:
    """Return the range of the floats that a node takes in an input, None if it takes all."""
    return _FLOATS.get((node.op_type, index))
