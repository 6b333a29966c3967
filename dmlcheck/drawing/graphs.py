"""Random graphs: chains of operators, and diamonds where a tensor is read twice, with types and sizes that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.descs import made_valid
from dmlcheck.drawing.draft import SMALL, draft
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import INPUT, OUTPUT, OperatorSpec
from dmlcheck.validation import validate

LEAST, MOST = 2, 8  # operators of a graph
_TRIES = 60  # operators and drafts for one step
_SHARED = 0.7  # the share of inputs that are tensors of the graph, if one fits
_TYPES = ("FLOAT32", "FLOAT32", "FLOAT16")
_SIZES = (1, 2, 3, 4, 5, 8, 33)


class DrawnStep(NamedTuple):
    """An operator of a graph: its desc, the names of the tensors that it reads by label, and that of its output."""

    desc: OperatorDesc
    reads: Mapping[str, str]
    writes: str


class DrawnGraph(NamedTuple):
    """A graph: its steps in order, and the input tensors of the graph by name."""

    steps: tuple[DrawnStep, ...]
    inputs: Mapping[str, TensorDesc]


def suits(spec: OperatorSpec) -> bool:
    """Whether an operator may be a step: it reads arbitrary numbers, and writes one tensor."""
    needed = [field for field in spec.inputs if not field.optional]
    is_plain = all(field.type == "TENSOR_DESC" and field.name in _ANY for field in needed)
    return bool(needed) and is_plain and len(spec.outputs) == 1 and spec.outputs[0].type == "TENSOR_DESC"


_ANY = ("InputTensor", "ATensor", "BTensor", "FilterTensor", "ScaleTensor", "BiasTensor", "MeanTensor")


def drawn_graph(
    operators: Sequence[str], seed: int, number: int, level: str, takes: Callable[[OperatorDesc], bool]
) -> DrawnGraph:
    """Return graph `number` of a seed, independent of earlier draws; `takes` says which descs may be steps."""
    chance = seeded(f"graph {seed} {level} {number}")
    data_type = chance.of(_TYPES)
    sizes = (chance.integer(1, 2), *(chance.of(_SIZES) for _ in range(3)))
    tensors = {"x0": TensorDesc(data_type, sizes)}
    given = dict(tensors)
    steps: list[DrawnStep] = []
    wanted, unread = chance.integer(LEAST, MOST), "x0"
    for _ in range(wanted * _TRIES):
        if len(steps) == wanted:
            break
        source = unread if chance.often(0.75) else chance.of(sorted(tensors))
        desc = _step(load_spec(chance.of(operators)), tensors[source], chance, level)
        if desc is not None and takes(desc):
            reads = _reads(desc, source, tensors, given, chance)
            unread = f"t{len(steps)}"
            steps.append(DrawnStep(desc, reads, unread))
            tensors[unread] = desc.tensors(OUTPUT)[0].tensor
    return DrawnGraph(tuple(steps), given)


def _step(spec: OperatorSpec, tensor: TensorDesc, chance: Chance, level: str) -> OperatorDesc | None:
    """Return a desc whose first tensor is one of the graph, or None if this draft is not valid."""
    raw = draft(spec, chance, SMALL, level)
    for field in (*spec.inputs, *spec.outputs):
        if field.name in raw and (field.optional and field.name not in _ANY):
            del raw[field.name]
        elif field.name in raw:
            raw[field.name] = {"DataType": tensor.data_type, "Sizes": list(tensor.sizes)}
    made = made_valid(spec, raw, chance, SMALL, level)
    desc = None if made is None else validate(spec.operator, made, level)[0]
    if desc is None:
        return None
    first = desc.tensors(INPUT)[0].tensor
    is_there = (first.data_type, first.sizes) == (tensor.data_type, tensor.sizes)
    floats = all(part.tensor.data_type == tensor.data_type for part in desc.tensors())
    return desc if is_there and floats else None


def _reads(
    desc: OperatorDesc, source: str, tensors: dict[str, TensorDesc], given: dict[str, TensorDesc], chance: Chance
) -> dict[str, str]:
    """Return the tensors that a step reads; those that no tensor of the graph fits become inputs of the graph."""
    found: dict[str, str] = {}
    for part in desc.tensors(INPUT):
        like = [name for name, tensor in tensors.items() if _alike(tensor, part.tensor)]
        if not found:
            name = source
        elif like and chance.often(_SHARED):
            name = chance.of(like)
        else:
            name = f"x{len(given)}"
            tensors[name] = given[name] = TensorDesc(part.tensor.data_type, part.tensor.sizes)
        found[part.label] = name
    return found


def _alike(some: TensorDesc, other: TensorDesc) -> bool:
    return (some.data_type, some.sizes) == (other.data_type, other.sizes)
