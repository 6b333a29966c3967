"""The answers of CreateOperator of releases of DirectML, as the rows of the specs foresee them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dmlcheck.descs.read import Reading
from dmlcheck.diagnostics.record import Finding
from dmlcheck.specs.names import LEVEL_ORDER, RELEASES, level_of_release, release_of
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


def releases_text(releases: Iterable[str]) -> str:
    """Return releases in words: `DirectML 1.4.0 and 1.7.0 to 1.15.4`."""
    order = list(RELEASES)
    runs: list[list[str]] = []
    for release in sorted(releases, key=order.index):
        if runs and order.index(release) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(release)
        else:
            runs.append([release])
    return "DirectML " + " and ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def difference(reading: Reading, findings: Iterable[Finding]) -> str | None:
    """Return in a sentence which releases do otherwise than the documentation has it for a desc with these findings."""
    found = list(findings)
    if any(finding.is_measured for finding in found):
        refusing = [release for release in _with(reading) if not is_accepted(reading, release)]
        return f"{releases_text(refusing)} refuse{'' if refusing[1:] else 's'} this desc" if refusing else None
    if any(finding.taken_by for finding in found):
        taking = accepted_by(reading)
        return f"{releases_text(taking)} accept{'' if taking[1:] else 's'} this desc" if taking else None
    return None


def _with(reading: Reading) -> Iterator[str]:
    """Yield the releases that have the operator of a desc."""
    if reading.desc is not None:
        since = LEVEL_ORDER[reading.desc.spec.introduced]
        yield from (release for release, level in RELEASES.items() if LEVEL_ORDER[level] >= since)


def accepted_by(reading: Reading) -> tuple[str, ...]:
    """Return the releases that take a desc, oldest first."""
    return tuple(release for release in RELEASES if is_accepted(reading, release))
