"""The answers of CreateOperator of releases of DirectML, as the rows of the specs foresee them."""

from __future__ import annotations

from collections.abc import Iterable

from dmlcheck.descs.read import Reading
from dmlcheck.diagnostics.record import Finding
from dmlcheck.specs.names import RELEASES, level_of_release, release_of, releases_do, releases_with
from dmlcheck.validation.levels import untold


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
