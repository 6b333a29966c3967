"""Cases that DirectML fails by a known deviation; a failure that is known of its version is expected."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import about, is_directml
from dmlcheck.running.results import FAILURES, XFAILED, CaseResult, Ending
from dmlcheck.validation import deviations

Ended = TypeVar("Ended", Ending, CaseResult)


class DirectML(NamedTuple):
    """The DirectML under test: its version if the run names it, and its device if it is known."""

    version: str | None
    device: str = ""


def judged_directml(implementation: Any, version: str | None) -> DirectML | None:
    """Return the DirectML under test, or None.

    With a `version` an implementation counts as DirectML unless it denies it.
    """
    said = is_directml(implementation)
    if said is False or (said is None and version is None):
        return None
    return DirectML(version, about(implementation).device)


def with_known(ended: Ended, desc: OperatorDesc, directml: DirectML) -> Ended:
    """Return the outcome of a case: xfailed if it failed and a known deviation of DirectML explains it.

    A deviation of one device is expected only if the device is known to be that one.
    """
    if ended.outcome not in FAILURES:
        return ended
    known = deviations.known_deviations(desc, directml.version, directml.device)
    expected = () if directml.version is None else deviations.foretold(known, directml.device)
    if not expected:
        return ended._replace(known=known)
    return ended._replace(outcome=XFAILED, reason=" ".join(row.text for row in expected))


def with_known_of_provider(ended: Ended, text: str | None) -> Ended:
    """Return the outcome of a node with the known mistake of ONNX Runtime's DirectML provider, if it failed."""
    if text is None or ended.outcome not in FAILURES:
        return ended
    row = deviations.of_provider(text)
    return ended._replace(known=(*ended.known, row._replace(versions=f"{deviations.PROVIDER} {row.versions}")))
