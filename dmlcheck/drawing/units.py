"""Draws by number: the desc and the inputs of a seed and a number, independent of earlier draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.broken import BrokenDesc, broken, varied
from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.descs import drawn
from dmlcheck.drawing.draft import SMALL, Sizes
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT
from dmlcheck.validation import validate

AROUND_GROUPS = Sizes((1, 2, 3, 31, 32, 33, 63, 64, 65), 8192)
AROUND_LARGE_GROUPS = Sizes((1, 1, 2, 3, 255, 256, 257), 12_000)
LONG = Sizes((1, 2, 3, 5, 1023, 1031, 1031, 1031), 40_000, room=6_000)
LONG_STATES = Sizes((1, 1, 1, 2, 129, 257, 1031), 5_000_000, room=6_000)  # of recurrences, whose weights are large
INDEXED = Sizes((1, 1, 2, 3, 98_304), 200_000)  # more places than 16 bits can name
_SIZES = (*[SMALL] * 6, AROUND_GROUPS, AROUND_GROUPS, AROUND_LARGE_GROUPS, LONG)
_STYLES = ("normal", "normal", "edges", "edges", "wide", "1000", "cancelling")
_STRIDED = 0.4  # the share of descs with strides
_VARIED = 0.25  # the share of descs that are changed and stay valid
_FAR = 0.04  # the share of descs with very many places, of operators with indices
_MOST_WORK = 20_000_000  # steps of a recurrence times its weights; judging that takes seconds
_TRIES = 8  # to draw values that the operator takes


class Unit(NamedTuple):
    """A draw: the operator, the seed of the campaign, the number of the draw, and the level of its desc.

    An invalid one breaks exactly one constraint. An exhaustive one has all inputs that there are: its number is that of
    a data type and of some attributes. A unit of only a desc has no inputs.
    """

    operator: str
    seed: int
    number: int
    level: str = NEWEST_LEVEL
    is_invalid: bool = False
    is_exhaustive: bool = False
    is_of_desc: bool = False

    @property
    def chance(self) -> Chance:
        """The choices of this draw, which no other draw influences."""
        return seeded(f"{self.seed} {self.operator} {self.level} {self.number}")


class DrawnInputs(NamedTuple):
    """A valid desc and its inputs: an array by field, or a list of them for an array of tensors."""

    desc: OperatorDesc
    inputs: dict[str, Any]


def drawn_desc(unit: Unit) -> OperatorDesc | None:
    """Return the valid desc of a draw, or None if no draft could be repaired."""
    return _desc(unit, unit.chance)


def drawn_unit(unit: Unit) -> DrawnInputs | None:
    """Return the valid desc of a draw and its inputs, or None if no inputs satisfy the operator's constraints."""
    import numpy as np

    from dmlcheck.drawing.values import drawn_values

    if unit.is_exhaustive:
        return _exhaustive(unit)
    chance = unit.chance
    desc = _desc(unit, chance)
    if desc is None:
        return None
    for _ in range(_TRIES):
        generator = np.random.Generator(np.random.PCG64(chance.integer(0, 2**63 - 1)))
        inputs = drawn_values(desc, generator, chance.of(_STYLES))
        if inputs is not None:
            return DrawnInputs(desc, inputs)
    return None


def _exhaustive(unit: Unit) -> DrawnInputs | None:
    from dmlcheck.drawing.exhaustive import desc_of, inputs_of

    desc = desc_of(unit.operator, unit.seed, unit.number, unit.level)
    inputs = None if desc is None else inputs_of(desc, unit.seed, unit.number, unit.level)
    return None if desc is None or inputs is None else DrawnInputs(desc, inputs)


def drawn_broken(unit: Unit) -> BrokenDesc | None:
    """Return the fields of an invalid draw, or None if there are none."""
    chance = unit.chance
    desc = _desc(unit, chance)
    return None if desc is None else broken(desc, chance, unit.level)


def _desc(unit: Unit, chance: Chance) -> OperatorDesc | None:
    fields = load_spec(unit.operator).fields
    sizes = INDEXED if "IndicesTensor" in fields and chance.often(_FAR) else chance.of(_SIZES)
    if "RecurrenceTensor" in fields and sizes is LONG:  # judging 1,031 steps takes 20 seconds: fewer are so long
        sizes = chance.of((AROUND_LARGE_GROUPS, LONG_STATES))
    desc = drawn(unit.operator, chance, sizes, unit.level)
    if desc is not None and "RecurrenceTensor" in fields and _work(desc) > _MOST_WORK:
        desc = _of_two_steps(desc, unit.level)
    if desc is not None and chance.often(_STRIDED):
        desc = laid(desc, chance, unit.level)
    is_long = sizes is INDEXED or "RecurrenceTensor" in fields
    if desc is None or is_long or not chance.often(_VARIED):
        return desc
    return varied(desc, chance, unit.level, sizes.most)


def _work(desc: OperatorDesc) -> int:
    """Return the steps of a recurrence times its weights."""
    steps = desc.parts["InputTensor"][0].tensor.sizes[1]
    return steps * sum(desc.parts[name][0].tensor.element_count for name in ("WeightTensor", "RecurrenceTensor"))


def _of_two_steps(desc: OperatorDesc, level: str) -> OperatorDesc | None:
    fields = notation(desc)
    for name, axis in (("InputTensor", 1), ("OutputSequenceTensor", 0)):
        if name in fields:
            fields[name]["Sizes"][axis] = 2
    return validate(desc.spec.operator, fields, level)[0]


# ---- random layouts of the tensors of a desc


def laid(desc: OperatorDesc, chance: Chance, level: str = NEWEST_LEVEL) -> OperatorDesc:
    """Return a desc with strides for most tensors; without them if that is not valid at the level."""
    raw = notation(desc)
    for field in (*desc.spec.inputs, *desc.spec.outputs):
        value = raw.get(field.name)
        for tensor in value if isinstance(value, list) else [value]:
            if isinstance(tensor, dict) and chance.often(0.75):
                repeats = field.kind == INPUT and field.name not in _PLACES and chance.often(0.5)
                tensor["Strides"] = strides(tensor["Sizes"], chance, repeats=repeats)
                tensor.pop("TotalTensorSizeInBytes", None)
            if isinstance(tensor, dict) and chance.often(0.15):
                own = tuple(tensor["Strides"]) if "Strides" in tensor else None
                needed = TensorDesc(tensor["DataType"], tuple(tensor["Sizes"]), own).implied_bytes
                tensor["TotalTensorSizeInBytes"] = needed + 4 * chance.integer(0, 9)
                tensor["GuaranteedBaseOffsetAlignment"] = chance.of((0, 16, 64, 256))
    made, findings = validation.validate(desc.spec.operator, raw, level)
    return desc if made is None or findings else made


_PLACES = ("IndicesTensor", "ROITensor")  # tensors whose elements must not repeat


def strides(sizes: Sequence[int], chance: Chance, *, repeats: bool) -> list[int]:
    """Return strides: of dimensions in another order, channels last, with gaps, or some 0 where elements may repeat.

    Gaps are between rows; between elements only of a single row.
    """
    count = len(sizes)
    order = chance.of((chance.some(range(count), count), [0, *range(2, count), 1][:count], list(range(count))))
    found, step = [0] * count, chance.of((1, 2, 3)) if sum(size > 1 for size in sizes) == 1 else 1
    for axis in reversed(order):
        if repeats and chance.often(0.4):
            continue
        found[axis] = step
        step *= sizes[axis] + (chance.of((0, 0, 1, 2)) if sizes[axis] > 1 else 0)
    return found
