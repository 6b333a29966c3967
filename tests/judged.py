"""One case and an implementation that a test makes: a fake that computes, gives or raises what the test says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.implementations.protocol import Reference
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

Arrays = dict[str, Any]


class Fake:
    """An implementation that calls a function with each desc and its inputs, or has a reason why it cannot.

    Further attributes, such as `is_directml` and `validates`, describe it.
    """

    name = "fake"

    def __init__(self, compute: Callable[[Any, Any], Any], reason: str | None = None, **attributes: Any) -> None:
        self.compute, self.reason = compute, reason
        vars(self).update(attributes)

    def unsupported(self, _: Any) -> str | None:
        return self.reason

    def run(self, desc: Any, inputs: Any) -> Any:
        return self.compute(desc, inputs)


def answering(answer: Any, reason: str | None = None, **attributes: Any) -> Any:
    """Return an implementation that gives one answer, or raises it; `asked` has the descs and inputs that it got."""
    asked: list[tuple[OperatorDesc, Arrays]] = []

    def compute(desc: OperatorDesc, inputs: Arrays) -> Any:
        asked.append((desc, inputs))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return Fake(compute, reason, asked=asked, **attributes)


def giving(values: Any, **attributes: Any) -> Any:
    """Return an implementation that gives each output these values in its type and sizes, or one for all elements."""

    def compute(desc: OperatorDesc, _: Arrays) -> Arrays:
        return {part.label: _array(values, part.tensor) for part in desc.tensors(OUTPUT)}

    return Fake(compute, **attributes)


def _array(values: Any, tensor: TensorDesc) -> Any:
    array = np.array(values, NUMPY_TYPES[tensor.data_type])
    return array.reshape(tensor.sizes) if array.ndim else np.full(tensor.sizes, array)


def like_reference(change: Callable[[Arrays], Arrays] = dict, **attributes: Any) -> Any:
    """Return an implementation that gives what the reference does, with a change, and is judged by it."""
    return Fake(lambda desc, inputs: change(Reference().run(desc, inputs)), **attributes)


def zeros() -> Any:
    """Return an implementation that takes every desc, and gives zeros."""
    return giving(0, validates=True)


def refusing() -> Any:
    """Return an implementation that refuses every desc."""
    return answering(ValueError("E_INVALIDARG"), validates=True)


def unable() -> Any:
    """Return an implementation that can run nothing."""
    return answering(None, "nothing at all", validates=True)


def case_of(operator: str, desc: Any, inputs: Any = None, outputs: Any = None, **fields: Any) -> Case:
    """Return a case that no file has."""
    level = fields.pop("feature_level", None)
    return Case("f.yaml::one", "one", "f.yaml", operator, level, desc, inputs, outputs, **fields)


def result_of(case: Case, implementation: Any = None, **settings: Any) -> CaseResult:
    """Run one case on an implementation, or on the reference."""
    return run_case(case, Run(implementation or Reference(), Settings(**settings)))
