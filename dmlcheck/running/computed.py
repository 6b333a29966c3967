"""What an implementation computes for a desc, or why it computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.implementations import Failure, TimedOut, Unsupported
from dmlcheck.running.open_elements import Masks, masks_of

_UNSUPPORTED = "unsupported-by-implementation"  # how the reason of a skipped case begins


class Computed(NamedTuple):
    """What an implementation gave, by output; with that of the reference, masks of what it leaves open."""

    values: Mapping[str, Any]
    is_open: Masks | None = None


class Nothing(NamedTuple):
    """Why an implementation gave nothing: it failed, as the finding says, or without one it cannot run the desc."""

    reason: str
    finding: Finding | None = None


def is_reference(implementation: Any) -> bool:
    """Whether an implementation is the reference engine."""
    return bool(implementation.name == "reference")


def why_unsupported(desc: OperatorDesc, implementation: Any) -> str | None:
    """Return why an implementation cannot run a desc, as far as the desc tells, or None."""
    reason = implementation.unsupported(desc)
    return None if reason is None else f"{_UNSUPPORTED}: {reason}"


def computed(
    desc: OperatorDesc, inputs: dict[str, Any], labels: Iterable[str], implementation: Any
) -> Computed | Nothing:
    """Return what an implementation computes, an array for each of the labels; raise MemoryError where memory ends."""
    try:
        given = _run(desc, inputs, implementation)
        problem = _not_outputs(given.values, labels)
    except MemoryError:
        raise
    except Unsupported as reason:
        return Nothing(f"{_UNSUPPORTED}: {reason}")
    except TimedOut as error:
        return Nothing("timed out", Finding("timeout", (), {"seconds": str(error)}))
    except Failure as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the run goes on
        problem = f"raised {type(error).__name__}: {error}"
    return given if problem is None else failed(implementation, problem)


def failed(implementation: Any, problem: str) -> Nothing:
    """Return that an implementation failed; the problem is the rest of a sentence about it."""
    params = {"implementation": implementation.name, "problem": problem}
    return Nothing("the implementation failed", Finding("implementation-error", (), params))


def _run(desc: OperatorDesc, inputs: dict[str, Any], implementation: Any) -> Computed:
    if not is_reference(implementation):
        return Computed(implementation.run(desc, inputs))
    outputs = implementation.evaluate(desc, inputs)
    return Computed({name: output.values for name, output in outputs.items()}, masks_of(outputs))


def _not_outputs(given: Any, labels: Iterable[str]) -> str | None:
    """Return why what an implementation returned is not an array for each of the labels, or None."""
    import numpy as np

    if not isinstance(given, Mapping):
        return f"returned {type(given).__name__} instead of its outputs by name"
    for label in labels:
        if label not in given:
            return f"returned no {label}"
        if not isinstance(given[label], np.ndarray):
            return f"returned {type(given[label]).__name__} for {label} instead of an array"
    return None
