"""Cases that an implementation fails by a known deviation; a failure that is known of its version is expected."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.running.results import ERRORED, FAILURES, PASSED, XFAILED, CaseResult, Ending
from dmlcheck.specs.records import Deviation, Peer
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
    said = implementation.is_directml
    if said is False or (said is None and version is None):
        return None
    return DirectML(version, implementation.about.device)


def peer_of(implementation: Any) -> Peer | None:
    """Return the implementation as one whose own deviations are known, or None."""
    name = implementation.deviates_as
    return Peer(name, implementation.version) if name else None


def of_values(desc: OperatorDesc, directml: DirectML | None, peer: Peer | None = None) -> tuple[Deviation, ...]:
    """Return the deviations that may explain wrong values of a desc's outputs.

    Of an implementation that is not DirectML these are its own, and those that say what DirectML gives on any device.
    """
    own = tuple(row for row in deviations.of_peer(desc, peer) if row.values is not None)
    version, device = (None, "") if directml is None else directml
    rows = deviations.foretold(deviations.known_deviations(desc, version, device), device)
    theirs = (row for row in rows if row.values is not None and (directml is not None or row.is_given))
    return (*own, *theirs)


def with_known(ended: Ended, desc: OperatorDesc, directml: DirectML | None, peer: Peer | None = None) -> Ended:
    """Return the outcome of a case: xfailed if it failed and a known deviation of the implementation explains it.

    A deviation of one device is expected only if the device is known to be that one. One that the values of the case
    show is expected of any version. An implementation that is not DirectML, and gives what DirectML gives, passes.
    """
    if ended.outcome not in FAILURES:
        return ended
    if directml is None:
        own = (
            *(row for row in ended.known if row.of),
            *(row for row in deviations.of_peer(desc, peer) if _is_refused(ended, row)),
        )
        if own:
            return ended._replace(outcome=XFAILED, reason=" ".join(row.text for row in own), known=())
        return _of_another(ended) if isinstance(ended, Ending) and ended.known else ended
    of_desc = deviations.known_deviations(desc, directml.version, directml.device)
    known = tuple(row for row in of_desc if not row.is_narrow or row in ended.known or _is_refused(ended, row))
    expected = () if directml.version is None else deviations.foretold(known, directml.device)
    expected = expected or ended.known
    if not expected:
        return ended._replace(known=known)
    return ended._replace(outcome=XFAILED, reason=" ".join(row.text for row in expected), known=())


def _is_refused(ended: Ending | CaseResult, row: Deviation) -> bool:
    """Whether a case ended in the code with which DirectML refuses such operators."""
    if ended.outcome != ERRORED or row.refusal is None:
        return False
    found = ended.findings if isinstance(ended, Ending) else ended.diagnostics
    return any(row.refusal.casefold() in one.message.casefold() for one in found)


def _of_another(ended: Ending) -> Ending:
    """Return the ending of a case whose wrong values are what DirectML gives: it passes, with a note."""
    noted = tuple(map(deviations.note, ended.known))
    return ended._replace(outcome=PASSED, reason=None, findings=(), known=(), noted=(*ended.noted, *noted))


def with_known_of_provider(ended: Ended, text: str | None) -> Ended:
    """Return the outcome of a node with the known mistake of ONNX Runtime's DirectML provider, if it failed."""
    if text is None or ended.outcome not in FAILURES:
        return ended
    row = deviations.of_provider(text)
    return ended._replace(known=(*ended.known, row._replace(versions=f"{deviations.PROVIDER} {row.versions}")))
