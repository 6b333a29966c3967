"""Known deviations: results that versions of DirectML get wrong for descs like a given one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dmlcheck.descs.read import Reading
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.specs.names import RELEASES, level_of_release, parse_version, release_of, releases_do, releases_with
from dmlcheck.specs.records import INPUT, OUTPUT, Deviation, Peer
from dmlcheck.validation.conditions import evaluate
from dmlcheck.validation.levels import untold

PROVIDER = "ONNX Runtime's DirectML provider"
_RELEASE = "1.24.4"  # of ONNX Runtime, whose provider was run
_EVERY_ELEMENT = "expected == expected"  # as rows mark it
# What an expression over values calls them, besides the names of inputs.
_VALUES = {"expected", "finite", "may_overflow", "x"}
_RUN = "seen with DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29"
_SOURCE = "by its source; this was not run"


class Unrun(str):
    """The text of a deviation that is known from the provider's source alone."""

    __slots__ = ()


def of_provider(text: str) -> Deviation:
    """Return a deviation of ONNX Runtime's DirectML provider, which it has on any device."""
    return Deviation(text, _RELEASE, _SOURCE if isinstance(text, Unrun) else _RUN)


def known_deviations(
    desc: OperatorDesc, version: str | None = None, device: str = "", *, in_graph: bool = False
) -> tuple[Deviation, ...]:
    """Return the known deviations that apply to a desc; deviations of compiled graphs only if it is `in_graph`.

    With a version (`1.8.0`) or a device, only its deviations; with an unknown one, all.
    """
    return tuple(
        row
        for row in desc.spec.known_deviations
        if (in_graph or not row.is_of_graphs)
        and _is_about(row, desc)
        and _is_in(row, version)
        and (not device or _is_on(row, device))
    )


def of_peer(desc: OperatorDesc, peer: Peer | None) -> tuple[Deviation, ...]:
    """Return the deviations of an implementation other than DirectML, in its version, that apply to a desc."""
    rows = () if peer is None else desc.spec.deviations_of.get(peer.name, ())
    return tuple(row for row in rows if _is_about(row, desc) and _is_in(row, None if peer is None else peer.version))


def foretold(rows: tuple[Deviation, ...], device: str = "") -> tuple[Deviation, ...]:
    """Return the deviations that make a case fail on a device; for "", an unknown device, none of a single device."""
    return tuple(row for row in rows if _is_on(row, device))


def notes(desc: OperatorDesc, version: str | None = None, *, in_graph: bool = False) -> list[Finding]:
    """Return the notes of a valid desc: its deviations, of one version if it is given.

    There is none about what only some values show, or one device refuses.
    """
    rows = known_deviations(desc, version, in_graph=in_graph)
    return [note(row) for row in rows if _is_of_desc(row, desc) and (row.refusal is None or row.device is None)]


def _is_of_desc(row: Deviation, desc: OperatorDesc) -> bool:
    """Whether a desc has the tensors that a deviation is about, and shows it for any values."""
    if row.values is None or row.values == _EVERY_ELEMENT:
        return True
    named = set(re.findall(r"\w+", row.values))
    inputs = {field.name for field in desc.spec.fields.values() if field.kind == INPUT}
    tensors = inputs | {field.name for field in desc.spec.fields.values() if field.kind == OUTPUT}
    return (named | {*(row.as_if or {})}).isdisjoint(tensors - desc.values.keys()) and named.isdisjoint(
        inputs | _VALUES
    )


def note(row: Deviation) -> Finding:
    """Return the note about a deviation."""
    return Finding("known-deviation", ("operator",), {"of": "DirectML", **row.words})


def _is_about(row: Deviation, desc: OperatorDesc) -> bool:
    if not desc.matches(row.when) or (row.where is not None and evaluate(row.where, desc) is not True):
        return False
    if any(name in desc.values for name in row.absent):
        return False
    strided = {part.path[0] for part in desc.tensors() if part.tensor.strides is not None}
    return not row.strided or not strided.isdisjoint(row.strided)


def _is_in(row: Deviation, version: str | None) -> bool:
    """Whether a version has a deviation; one that is not known may."""
    asked, since, until = (parse_version(text or "") for text in (version, row.since, row.until))
    return asked is None or ((since is None or asked >= since) and (until is None or asked < until))


def _is_on(row: Deviation, device: str) -> bool:
    return row.device is None or row.device.casefold() in device.casefold()


# ---- the answers of CreateOperator of releases of DirectML, as the rows of the specs foresee them


def is_accepted(reading: Reading, version: str) -> bool:
    """Whether a release takes a desc: every finding at the release's level is one that it does not refuse for.

    `version` stands for the nearest release, no later, that was asked; ValueError below the first, 1.4.0.
    """
    release = release_of(version)
    return reading.desc is not None and are_taken(untold(reading, level_of_release(version)), release)


def asked_release(version: str) -> str | None:
    """Return the release that a version stands for, None below the first that was asked: nothing is foreseen of it."""
    try:
        return release_of(version)
    except ValueError:
        return None


def are_taken(findings: Iterable[Finding], release: str | None) -> bool:
    """Whether a release takes a desc with these findings."""
    return all(release in finding.taken_by for finding in findings)


def difference(reading: Reading, findings: Iterable[Finding]) -> str | None:
    """Return in a sentence which releases do otherwise than the documentation has it for a desc with these findings."""
    found = list(findings)
    if reading.desc is not None and any(finding.is_measured for finding in found):
        having = releases_with(reading.desc.spec.introduced)
        refusing = [release for release in having if not is_accepted(reading, release)]
        return f"{releases_do(refusing, 'refuse')} this desc" if refusing else None
    if any(finding.taken_by for finding in found):
        taking = accepted_by(reading)
        return f"{releases_do(taking, 'accept')} this desc" if taking else None
    return None


def accepted_by(reading: Reading) -> tuple[str, ...]:
    """Return the releases that take a desc, oldest first."""
    return tuple(release for release in RELEASES if is_accepted(reading, release))
