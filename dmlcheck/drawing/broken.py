"""Random descs near valid ones: with one change that breaks exactly one constraint, or with some that break none."""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.changes import change
from dmlcheck.drawing.draft import Raw
from dmlcheck.drawing.shrink import without_counts
from dmlcheck.drawing.suited import suit
from dmlcheck.validation import validate
from dmlcheck.validation.constraint_rows import is_for_none

_TRIES = 60  # changes that are tried on a desc to break a constraint
_VARIATIONS = 8  # changes that are tried on a desc that stays valid


class BrokenDesc(NamedTuple):
    """The fields of a desc that is not valid, and the one rule or labelled constraint that it breaks."""

    fields: Raw
    entry: str


def broken(desc: OperatorDesc, chance: Chance, level: str) -> BrokenDesc | None:
    """Return a valid desc with a change that breaks one constraint, or None if none of many changes does."""
    raw = without_counts(desc)
    for _ in range(_TRIES):
        fields = deepcopy(raw)
        change(desc.spec, fields, chance)
        entry = broken_entry(desc.spec.operator, fields, level)
        if entry is not None:
            return BrokenDesc(fields, entry)
    return None


def varied(desc: OperatorDesc, chance: Chance, level: str, most: int) -> OperatorDesc:
    """Return a valid desc with changes that leave it valid, and no tensor of more than `most` elements.

    Floats stay as they are: with extreme ones few results are defined.
    """
    for _ in range(_VARIATIONS):
        fields = without_counts(desc)
        floats = {name: value for name, value in fields.items() if desc.spec.fields[name].type.startswith("FLOAT")}
        change(desc.spec, fields, chance)
        fields.update(floats)
        suit(desc.spec, fields, chance)
        made, findings = validate(desc.spec.operator, fields, level)
        if made is not None and not findings and all(part.tensor.element_count <= most for part in made.tensors()):
            desc = made
    return desc


def broken_entry(operator: str, fields: Raw, level: str) -> str | None:
    """Return the one rule or constraint that a desc breaks, as `invalid` lists it.

    None if there are several, or one whose breach is for no implementation.
    """
    desc, findings = validate(operator, fields, level)
    entries = {found.constraint or found.rule for found in findings}
    if desc is None or len(entries) != 1 or is_for_none(desc) or any(found.rule in _OF_NOTATION for found in findings):
        return None
    return entries.pop()


_OF_NOTATION = ("unknown-field", "missing-field", "field-type", "unknown-enum-value", "count-mismatch")
