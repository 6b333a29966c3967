"""All that is known of an operator in one record, from which its page, its JSON and its page of the site are made."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.specs.about import AboutOperator, load_about
from dmlcheck.specs.counterparts import LibraryCounterpart, counterparts
from dmlcheck.specs.lineage import Version, lineage, older_operator, version
from dmlcheck.specs.records import OperatorSpec


class OperatorRecord(NamedTuple):
    """An operator's spec, its texts for readers, and the facts that follow from both.

    `formula` is how the reference engine computes it, in words; `older` is the operator that it comes after; `version`
    is the change since then, and `versions` has all of a line.
    """

    spec: OperatorSpec
    about: AboutOperator
    formula: tuple[str, ...]
    counterparts: tuple[LibraryCounterpart, ...]
    older: str | None
    version: Version
    versions: tuple[Version, ...]


def operator_record(spec: OperatorSpec) -> OperatorRecord:
    """Return the record of an operator."""
    from dmlcheck.inspection.formulas import formula_texts

    about = load_about(spec.operator)
    return OperatorRecord(
        spec=spec,
        about=about,
        formula=tuple(formula_texts(spec.operator)),
        counterparts=tuple(counterparts(spec, about)),
        older=older_operator(spec),
        version=version(spec),
        versions=lineage(spec),
    )
