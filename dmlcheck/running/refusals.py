"""Negative cases as tests of implementations: one that refuses descs must refuse invalid ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.implementations import LibraryAnswer
from dmlcheck.specs.names import DATA_TYPES, level_name
from dmlcheck.specs.records import INPUT, c_type
from dmlcheck.validation import check
from dmlcheck.validation.constraint_rows import is_for_none

_SEEN = ("tensor", "feature level", "operator")  # groups of rules about the meaning of a desc, not its notation
_MOST_BYTES = 64 * 2**20  # that the tensors of a desc may take together
_MOST_NAMED = 3  # mistakes


class InvalidDesc(NamedTuple):
    """A desc that is not valid at a level, for an implementation to refuse, and the findings about it."""

    desc: OperatorDesc
    findings: list[Finding]
    level: str


def wrong_desc(case: Case, level: str, *, is_asked: bool = False) -> InvalidDesc | None:
    """Return the desc of a negative case, or None if an implementation at a level has nothing to refuse in it.

    None for a desc that is valid at the level, one with a mistake in its notation, and one that is for no
    implementation. An implementation that is not DirectML's library is known by no release and gets tensors: then None
    also for a desc that some releases take anyway, and one whose tensors do not exist or are large.
    """
    reading = read_desc(case.operator, case.desc)
    findings = check(reading, level)
    if reading.desc is None or not findings or any(RULES[found.rule].group not in _SEEN for found in findings):
        return None
    if is_asked:
        return InvalidDesc(reading.desc, findings, level) if can_be_asked(reading) else None
    if is_for_none(reading.desc) or any(finding.taken_by for finding in findings):
        return None
    if not _can_be_made(reading.desc) or not _says_the_same(reading.desc, findings, level):
        return None
    return InvalidDesc(reading.desc, findings, level)


def can_be_asked(reading: Reading) -> bool:
    """Whether a desc can be said in C with all its mistakes, none of which is for no implementation.

    A tensor, for one, has as many strides as sizes there, arrays share their count, and no number is missing.
    """
    desc = reading.desc
    if desc is None or desc.broken or is_for_none(desc):
        return False
    if any(_is_unsaid(finding, desc) for finding in reading.findings):
        return False
    if not reading.findings:
        return True
    return _kinds(read_desc(desc.spec.operator, notation(desc)).findings) == _kinds(reading.findings)


def _is_unsaid(finding: Finding, desc: OperatorDesc) -> bool:
    """Whether a mistake of notation is none in C: arrays of different lengths, and a number that is left out."""
    field = desc.spec.fields.get(str(finding.path[-1])) if finding.rule == "missing-field" else None
    return finding.rule == "count-mismatch" or (field is not None and not c_type(field).endswith("*"))


def _can_be_made(desc: OperatorDesc) -> bool:
    tensors = [part.tensor for part in desc.tensors()]
    is_known = all(DATA_TYPES[tensor.data_type].kind != "none" for tensor in tensors)
    sizes = (max(tensor.implied_bytes, tensor.element_count, tensor.total_size or 0) for tensor in tensors)
    return is_known and sum(sizes) <= _MOST_BYTES


def _says_the_same(desc: OperatorDesc, findings: Iterable[Finding], level: str) -> bool:
    """Whether a desc still has all its mistakes: parts that could not be read are missing from it."""
    again = check(read_desc(desc.spec.operator, notation(desc)), level)
    return _kinds(again) == _kinds(findings)


def _kinds(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    return sorted((found.rule, found.constraint or "") for found in findings)


def zeros(desc: OperatorDesc) -> dict[str, Any]:
    """Return the inputs for an invalid desc: zeros, as an array by field, or a list of them."""
    import numpy as np

    from dmlcheck.values.number_formats import NUMPY_TYPES

    tensors = {part.label: part.tensor for part in desc.tensors(INPUT)}
    return desc.by_field({name: np.zeros(one.sizes, NUMPY_TYPES[one.data_type]) for name, one in tensors.items()})


def accepted(case: Case, wrong: InvalidDesc, implementation: Any) -> Finding:
    """Return the finding that an implementation accepts a desc, at the place of its first mistake."""
    pairs = [(case.origin.diagnostic(finding), finding) for finding in wrong.findings]
    pairs.sort(key=lambda pair: pair[0].place())
    told = [_told(diagnostic) for diagnostic, _ in pairs[:_MOST_NAMED]]
    more = f"; and {len(pairs) - _MOST_NAMED:,} more" if len(pairs) > _MOST_NAMED else ""
    params = {
        "implementation": implementation.name,
        "level": level_name(wrong.level),
        "mistakes": "; ".join(told) + more,
    }
    first = pairs[0][1]
    return Finding("invalid-desc-accepted", first.path, params, at_key=first.at_key)


def unforeseen(answer: LibraryAnswer) -> Finding:
    """Return the finding that DirectML's own answer is another than dmlcheck foresees for the release."""
    foreseen = "refuses" if answer.is_accepted else "accepts"
    return Finding(
        "unforeseen-answer", ("desc",), {"answer": f"DirectML {answer.version} {answer.text}", "foreseen": foreseen}
    )


def _told(found: Diagnostic) -> str:
    """Return a mistake with its rule and its line."""
    row = f" ({found.constraint})" if found.constraint else ""
    line = "" if found.line is None else f" at line {found.line}"
    return f"{found.rule}{row}{line}: {found.message}"
