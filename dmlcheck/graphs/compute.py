"""Steps computed in order by the reference engine; a tensor is dropped after its last reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from dmlcheck.cases.prepare import out_of_memory, too_large, value_findings
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Path
from dmlcheck.graphs.records import Step
from dmlcheck.reference import engine
from dmlcheck.reference.engine import ComputedOutput
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import Array, from_bytes, to_bytes, wide_span


class Load(Protocol):
    """A loader of the bytes of a tensor that no step writes, as many as its largest reader takes."""

    def __call__(self, name: str, tensor: TensorDesc) -> Checking[Array | None]:
        """Return the bytes; None if something is wrong with them."""


class Output(NamedTuple):
    """An output of a graph: its values, its desc, and a mask of its undefined elements."""

    values: Array
    tensor: TensorDesc
    undefined: Array | None = None


class Results(NamedTuple):
    """The results of steps: their outputs by name, and the tensors with undefined elements that later steps read."""

    outputs: Mapping[str, Output]
    undefined: tuple[str, ...] = ()


def results(desc: OperatorDesc, inputs: Mapping[str, Any]) -> Checking[dict[str, ComputedOutput] | None]:
    """Return the results of the reference engine for a valid desc, by label; None if they cannot be computed."""
    wide = wide_span(desc)
    excess = Finding("too-much-work", ("desc",), {"problem": wide}) if wide else too_large(desc, {}, {})
    findings = [excess] if excess else value_findings(desc, inputs, NEWEST_LEVEL)
    if findings:
        yield from findings
        return None
    try:
        return engine.evaluate(desc, inputs)
    except TooMuchWork as error:
        yield Finding("too-much-work", (), {"problem": str(error)})
    except MemoryError:
        yield out_of_memory(desc)
    return None


def run_steps(steps: tuple[Step, ...], wanted: Iterable[str], load: Load) -> Checking[Results]:
    """Compute steps in order and return the wanted tensors, except those that an error left without values."""
    names, held = frozenset(wanted), _Held(_readers(steps), load)
    outputs: dict[str, Output] = {}
    for number, step in enumerate(steps):
        is_there = yield from held.bring(step)
        found = (yield from _computed(step, held.data)) if is_there else None
        if found is None:
            return Results(outputs)
        for part in step.desc.tensors(OUTPUT):
            name, (values, mask, _) = step.outputs.get(part.label, ""), found[part.label]
            if name in names:
                outputs[name] = Output(values, part.tensor, mask)
            held.keep(name, Output(values, part.tensor, mask))
        held.drop(step, number)
    return Results(outputs, tuple(held.undefined))


class _Held:
    """The bytes of tensors with readers still to come, and the names of written ones with undefined elements."""

    def __init__(self, readers: Mapping[str, _Readers], load: Load) -> None:
        self.readers = readers
        self.load = load
        self.data: dict[str, Array] = {}
        self.undefined: list[str] = []

    def bring(self, step: Step) -> Checking[bool]:
        """Load the tensors that a step reads and no other wrote; return whether all are there."""
        for name in step.inputs.values():
            if name not in self.data:
                loaded = yield from self.load(name, self.readers[name].largest)
                if loaded is None:
                    return False
                self.data[name] = loaded
        return True

    def keep(self, name: str, written: Output) -> None:
        """Keep the tensors of a step that are read later."""
        if name in self.readers:
            self.data[name] = to_bytes(written.tensor, written.values)
            self.undefined += [name] if written.undefined is not None and written.undefined.any() else []

    def drop(self, step: Step, number: int) -> None:
        """Drop the tensors without readers after a step."""
        for name in step.inputs.values():
            if self.readers[name].last == number:
                self.data.pop(name, None)


class _Readers(NamedTuple):
    """The readers of a tensor: the number of the last step, and the desc of the tensor that takes the most bytes."""

    last: int
    largest: TensorDesc


def _readers(steps: tuple[Step, ...]) -> dict[str, _Readers]:
    readers: dict[str, _Readers] = {}
    for number, step in enumerate(steps):
        for part in step.desc.tensors(INPUT):
            name = step.inputs[part.label]
            known = readers.get(name, _Readers(number, part.tensor))
            readers[name] = _Readers(number, max(known.largest, part.tensor, key=lambda tensor: tensor.span_bytes))
    return readers


def _computed(step: Step, held: Mapping[str, Array]) -> Checking[dict[str, ComputedOutput] | None]:
    short = [finding for part in step.desc.tensors(INPUT) for finding in _too_short(part, step, held)]
    if short:
        yield from short
        return None
    checking = results(step.desc, step_inputs(step.desc, {label: held[name] for label, name in step.inputs.items()}))
    while True:
        try:
            yield next(checking).under(step.path)
        except StopIteration as end:
            found: dict[str, ComputedOutput] | None = end.value
            return found


def step_inputs(desc: OperatorDesc, data: Mapping[str, Array]) -> dict[str, Any]:
    """Return the inputs of a desc by field, as the engine takes them, from the bytes of each by label."""
    return desc.by_field({part.label: from_bytes(part.tensor, data[part.label]) for part in desc.tensors(INPUT)})


def _too_short(part: TensorPart, step: Step, held: Mapping[str, Array]) -> Iterable[Finding]:
    """Yield the finding about a step that reads more bytes than its producer wrote."""
    name, needed = step.inputs[part.label], part.tensor.span_bytes
    if needed > held[name].size:
        text = f"{part.label} of {step.name!r} reads {counted(needed, 'byte')}, and {held[name].size:,} are written"
        path: Path = (*step.path, "desc", *part.path)
        yield Finding("edge-mismatch", path, {"problem": text}, "let it read no more than is written")
