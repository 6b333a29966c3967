"""The outputs of an implementation for a desc, or the reason why there are none."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import cut, first_few
from dmlcheck.implementations import (
    Failure,
    LibraryAnswer,
    NoDevice,
    Refused,
    TimedOut,
    Unsupported,
    Unusable,
    is_invalid_argument,
)
from dmlcheck.implementations.protocol import Reference, text_of
from dmlcheck.reference.limits.work import OutOfTime, TooMuchWork

if TYPE_CHECKING:
    from dmlcheck.running.undefined_elements import Masks

_UNSUPPORTED = "unsupported-by-implementation"  # how the reason of a skipped case begins


class Computed(NamedTuple):
    """The outputs of an implementation, by name; with the reference's, masks of its undefined elements.

    `is_open` has the elements that the documentation leaves undefined, `is_undefined` only the ones not measured.
    """

    values: Mapping[str, Any]
    is_undefined: Masks | None = None
    is_open: Masks | None = None


class NoOutputs(NamedTuple):
    """The reason why an implementation gave no outputs: a failure with its finding, or a desc that it cannot run.

    `traceback` is that of an exception that it raised, "" without.
    """

    reason: str
    finding: Finding | None = None
    traceback: str = ""

    @property
    def is_unsupported(self) -> bool:
        """Whether the implementation cannot run the desc."""
        return self.reason.startswith(f"{_UNSUPPORTED}: ")


def asked(desc: OperatorDesc, implementation: Any) -> LibraryAnswer | NoOutputs:
    """Return DirectML's own answer to a desc; NoOutputs where it gave none."""
    try:
        answer: LibraryAnswer = implementation.create_operator(desc)
    except BaseException as error:  # noqa: BLE001 - any exception: the run goes on
        return _nothing(error, implementation)
    return answer


def is_reference(implementation: Any) -> bool:
    """Whether an implementation is the reference engine itself: neither its name nor a wrapper counts."""
    return type(implementation) is Reference


def why_unsupported(desc: OperatorDesc, implementation: Any) -> NoOutputs | None:
    """Return why an implementation cannot run a desc, judging by the desc, or that it failed to say; else None."""
    try:
        reason = implementation.unsupported(desc)
    except BaseException as error:  # noqa: BLE001 - any exception: the run goes on
        return _nothing(error, implementation)
    return None if reason is None else NoOutputs(f"{_UNSUPPORTED}: {reason}")


def computed(
    desc: OperatorDesc, inputs: dict[str, Any], labels: Iterable[str], implementation: Any
) -> Computed | NoOutputs:
    """Return the outputs of an implementation, an array for each of the labels; MemoryError if memory ends."""
    try:
        if is_reference(implementation):
            from dmlcheck.reference import engine
            from dmlcheck.running.undefined_elements import masks_of

            outputs = engine.evaluate(desc, inputs)
            own = {name: output.values for name, output in outputs.items()}
            return Computed(own, masks_of(outputs, with_measured=True), masks_of(outputs))
        values = implementation.run(desc, _copies(inputs))
        problem = _not_outputs(values, labels)
    except MemoryError:
        raise
    except TooMuchWork as error:
        return NoOutputs(str(error))
    except BaseException as error:  # noqa: BLE001 - any exception: the run goes on
        return _nothing(error, implementation)
    return Computed(values) if problem is None else failed(implementation, problem)


def tensors_of(
    model: bytes | str, inputs: Mapping[str, Any], names: list[str], implementation: Any
) -> Mapping[str, Any] | NoOutputs:
    """Return the tensors of a model that an implementation gives, each an array, or a list of arrays for a sequence."""
    try:
        given = implementation.run_model(model, _copies(inputs), list(names))
        lists = [name for name in names if isinstance(given, Mapping) and _is_sequence(given.get(name))]
        problem = _not_outputs(given, [name for name in names if name not in lists])
    except MemoryError as error:
        told = failed(implementation, f"ran out of memory: {error}".rstrip(": "))
        return told._replace(traceback=traceback_text(error))
    except BaseException as error:  # noqa: BLE001 - any exception: the run goes on
        return _nothing(error, implementation)
    return failed(implementation, problem) if problem is not None else {name: given[name] for name in names}


def refusal(desc: OperatorDesc, inputs: dict[str, Any], implementation: Any) -> str | NoOutputs | None:
    """Return the words with which an implementation refuses an invalid desc, None where it accepts it.

    NoOutputs where it failed, or cannot run the desc. It refuses by raising Refused or ValueError, or any exception
    that names E_INVALIDARG, as bindings of native code do. Any other exception is no refusal, and no result that it
    returns is looked at.
    """
    try:
        unsupported = why_unsupported(desc, implementation)
        if unsupported is not None:
            return unsupported
        implementation.run(desc, _copies(inputs))
    except Unusable:
        return None
    except (Unsupported, TimedOut, MemoryError) as error:
        return _nothing(error, implementation)
    except (Refused, ValueError) as error:
        return str(error) or type(error).__name__
    except BaseException as error:  # noqa: BLE001 - any exception: the run goes on
        is_refusal = not isinstance(error, Failure) and is_invalid_argument(f"{error} {getattr(error, 'winerror', '')}")
        return str(error) if is_refusal else _nothing(error, implementation)
    return None


def _nothing(error: BaseException, implementation: Any) -> NoOutputs:
    """Return the outcome for an exception of an implementation; raise one that ends the process."""
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        raise error
    if isinstance(error, Unsupported):
        return NoOutputs(f"{_UNSUPPORTED}: {error}")
    if isinstance(error, NoDevice):
        return NoOutputs(str(error))
    if isinstance(error, (TimedOut, OutOfTime)):
        return timed_out(error)
    if isinstance(error, Failure):
        return failed(implementation, str(error))
    told = failed(implementation, f"raised {type(error).__name__}: {text_of(error)}")
    return told._replace(traceback=traceback_text(error))


def timed_out(error: Exception) -> NoOutputs:
    """Return the outcome for a case that took longer than the seconds in an error."""
    return NoOutputs("timed out", Finding("timeout", (), {"seconds": str(error)}))


def failed(implementation: Any, problem: str) -> NoOutputs:
    """Return the failure of an implementation; `problem` goes on after its name in a sentence."""
    params = {"implementation": implementation.name, "problem": problem}
    return NoOutputs("the implementation failed", Finding("implementation-error", (), params))


def _copies(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies of the inputs: an implementation may write to them, and the reference computes from them later."""
    return {name: list(map(_copy, of)) if isinstance(of, list) else _copy(of) for name, of in inputs.items()}


def _copy(array: Any) -> Any:
    import numpy as np

    return array.copy() if isinstance(array, np.ndarray) else array


def _is_sequence(value: Any) -> bool:
    """Whether a value is that of a sequence of ONNX: a list of arrays, and not an array as a list of its elements."""
    import numpy as np

    return isinstance(value, list) and all(isinstance(element, (np.ndarray, type(None))) for element in value)


_MOST_NAME, _MOST_NAMES = 60, 5  # letters of what an implementation calls an output, and such names


def _not_outputs(given: Any, labels: Iterable[str]) -> str | None:
    """Return why an implementation's return value is not an array for each of the labels, or None."""
    import numpy as np

    if not isinstance(given, Mapping):
        return f"returned {type(given).__name__} instead of its outputs by name"
    wanted = [*labels]
    for label in wanted:
        if label not in given:
            others = first_few([cut(str(name), _MOST_NAME) for name in given if name not in wanted], _MOST_NAMES)
            return f"returned no {label}" + (f", but {others}" if others else "")
        if not isinstance(given[label], np.ndarray):
            return f"returned {type(given[label]).__name__} for {label} instead of an array"
        if _is_masked(given[label]):
            return f"returned a masked array for {label}, whose masked elements no comparison sees; return its values"
    return None


def _is_masked(array: Any) -> bool:
    """Whether an array is a masked one of NumPy's; as long as nobody has imported numpy.ma, none is."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


# ---- exceptions of implementations as text


_HERE = os.path.dirname(os.path.abspath(__file__))
_FIRST, _LAST = 10, 30  # lines
_WIDTH = 500  # characters of a line


def traceback_text(error: BaseException) -> str:
    """Return the traceback of an exception without the frames that only led to the implementation."""
    first = error.__traceback__
    while first is not None and os.path.dirname(os.path.abspath(first.tb_frame.f_code.co_filename)) == _HERE:
        first = first.tb_next
    shown = traceback.TracebackException(type(error), error, first or error.__traceback__)
    lines = [cut(line, _WIDTH) for part in shown.format() for line in part.rstrip("\n").split("\n")]
    left = len(lines) - _FIRST - _LAST
    if left > 0:
        lines[_FIRST:-_LAST] = [f"  ... {left:,} lines left out ..."]
    return "\n".join(lines)
