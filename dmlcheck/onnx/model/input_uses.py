"""The uses of a model's inputs: as indices, with their range, as masks, as lengths, or as what else has limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck.onnx.model.inlined_size import all_nodes
from dmlcheck.onnx.model.sound_values import Made, floats, related, spans

# Through which an index, a mask or a length passes as it is.
_PASSES = frozenset(
    ["Cast", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze", "Slice", "Split"]
)
_CHOSEN = (1, 2)  # the inputs of Where that it gives
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
    """How an input is used: it indexes so many elements, or is a mask, or a length of attention; or none of these.

    Its whole numbers are from `least` to below `most`, its floats in the range `floats`; or `related` makes its numbers
    for its shape. `length` is "total" for the number of keys, "last" for the place of the last one, and `past` names
    the input that has the keys of earlier runs, `new` those of the keys and queries of this one.
    """

    most: int | None = None
    is_mask: bool = False
    length: str = ""
    past: str = ""
    new: tuple[str, ...] = ()
    least: int = 0
    related: Made | None = None
    floats: tuple[float, float] | None = None


def uses_of(model: Any, sizes: Mapping[str, Sequence[int]]) -> dict[str, Use]:
    """Return the uses of the inputs of a model; `sizes` are those of the inputs and constants."""
    readers: dict[str, list[tuple[Any, int]]] = {}
    for node in all_nodes(model.graph):
        for index, name in enumerate(node.input):
            readers.setdefault(name, []).append((node, index))
    return {value.name: _use(value.name, readers, sizes) for value in model.graph.input}


def _use(name: str, readers: Mapping[str, list[tuple[Any, int]]], sizes: Mapping[str, Sequence[int]]) -> Use:
    limits: list[tuple[int, int]] = []
    made: Made | None = None
    shares: tuple[float, float] | None = None
    is_mask = "mask" in name.lower()
    for node, index, is_part in _reached(name, readers):
        limits += [(0, limit) for limit in _limit(node, index, sizes)]
        if is_part:
            continue
        length = _LENGTHS.get((node.op_type, index))
        if length is not None:
            past = node.input[_PAST_KEY] if len(node.input) > _PAST_KEY else ""
            return Use(length=length, past=past, new=(*node.input[1:2], *node.input[:1]))
        is_mask = is_mask or (node.op_type, index) in _MASKS
        limits += spans(node, index, sizes)
        made = made or related(node, index, sizes)
        shares = shares or floats(node, index)
    most = min((most for _, most in limits), default=None)
    return Use(most, is_mask, least=max((least for least, _ in limits), default=0), related=made, floats=shares)


def _reached(name: str, readers: Mapping[str, list[tuple[Any, int]]]) -> Iterator[tuple[Any, int, bool]]:
    """Yield the nodes that read an input, or its elements in another form, with the position of the input.

    The last value says whether they read others beside it, in one tensor.
    """
    waiting, seen = [(name, False)], {name}
    while waiting:
        reached, is_part = waiting.pop()
        for node, index in readers.get(reached, ()):
            yield node, index, is_part
            is_passed = index in _CHOSEN if node.op_type == "Where" else index == 0 and node.op_type in _PASSES
            is_joined = node.op_type == "Concat"
            if is_passed or is_joined:
                made = [output for output in node.output if output and output not in seen]
                seen.update(made)
                waiting += [(output, is_part or is_joined) for output in made]


def _limit(node: Any, index: int, sizes: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """Yield how many elements an input of a node indexes, where it does; 1 if that is not known."""
    kind = node.op_type
    indexed = _INDEXES_AXIS.get(kind)
    if indexed is not None and indexed[0] == index:
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
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
