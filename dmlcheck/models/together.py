"""A model run once as a whole with only its outputs kept, which are compared with those of its separate nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.comparison.compare import has_form
from dmlcheck.diagnostics.record import NOTE, Diagnostic, Finding
from dmlcheck.diagnostics.wording import figure
from dmlcheck.models.cases import Loaded, ModelOrigin
from dmlcheck.models.chain import Chain, OutputVerdict
from dmlcheck.models.process import tensors_of
from dmlcheck.models.whole_model import as_given, takes_paths
from dmlcheck.onnx.model.parts import join_weights
from dmlcheck.running.computed import NoOutputs
from dmlcheck.running.results import FAILED, PASSED, SKIPPED, CaseResult
from dmlcheck.values.number_formats import have_equal_bytes

NAME = "together"
_HELP = "run with --bisect: it finds the smallest group of nodes that is wrong only together"


def together_case(file: str) -> Case:
    """Return the case of a model that runs as a whole."""
    return Case(f"{file}::{NAME}", NAME, file, "", None, {}, origin=ModelOrigin(file))


def outputs_together(model: Loaded, path: str, names: list[str], implementation: Any) -> Mapping[str, Any] | NoOutputs:
    """Return outputs of a model that runs as a whole: of its file, or, for who takes no paths, of its bytes."""
    if takes_paths(implementation):
        return tensors_of(path, model.inputs, names, implementation, is_optimized=True)
    whole = model.proto if model.proto.graph.initializer else join_weights(model.proto, model.constants)
    with as_given(whole) as given:
        if isinstance(given, str):
            return NoOutputs("it takes models of up to 2 GiB")
        return tensors_of(given, model.inputs, names, implementation, is_optimized=True)


def together_result(
    case: Case, model: Loaded, found: Mapping[str, Any] | NoOutputs, alone: Mapping[str, Any], chain: Chain
) -> CaseResult:
    """Compare the outputs of a model that ran as a whole with those of its separate nodes.

    A difference within the tolerance of the chain is none. `alone` are the outputs that the nodes gave, by name.
    """
    if isinstance(found, NoOutputs):
        why = found.finding.message if found.finding else found.reason
        return not_together(case, f"the whole model does not run: {why}")
    if not found:
        return not_together(case, "none of its outputs can be compared")
    reasons = []
    for name, actual in found.items():
        judged = _judged(case, name, actual, alone[name], chain, len(model.nodes))
        if isinstance(judged, CaseResult):
            return judged
        reasons += [judged] if judged else []
    return not_together(case, "; ".join(reasons)) if reasons else CaseResult(case, PASSED)


def _judged(case: Case, name: str, actual: Any, alone: Any, chain: Chain, nodes: int) -> CaseResult | str:
    """Return the failure of an output, or the reason why it is not judged; "" where it is as that of the nodes."""
    if not (isinstance(actual, np.ndarray) and isinstance(alone, np.ndarray)):
        return f"{name} is no tensor"
    if not has_form(actual, alone):
        problem = f"is {_form(actual)} when the whole model runs; the nodes alone give {_form(alone)}"
        return _failed(case, name, problem)
    if have_equal_bytes(alone, actual):
        return ""
    distance = f"differs by {_difference(actual, alone)} when the whole model runs"
    if name not in chain.held:
        return f"{name} {distance}"
    return _by_the_chain(case, name, distance, *(chain.output(name, values, nodes) for values in (actual, alone)))


def _by_the_chain(case: Case, name: str, distance: str, whole: OutputVerdict, alone: OutputVerdict) -> CaseResult | str:
    """Judge an output that differs, as `_judged` does; within the tolerance of the chain it need not be equal."""
    if whole.reason is not None:
        return f"{name} {distance}, and {whole.reason}"
    if not whole.verdict.findings:
        return ""
    if alone.verdict.findings:
        return f"{name} {distance}, and is wrong when each node runs alone, too"
    return _failed(case, name, f"{distance}: it is right when each node runs alone", whole)


def _form(values: Any) -> str:
    return f"{values.dtype} {list(values.shape)}"


def _difference(actual: Any, alone: Any) -> str:
    """Return the largest difference of two outputs as a share of the largest element, in words."""
    if actual.dtype.kind not in "fiub":
        return "its values"
    with np.errstate(all="ignore"):
        one, other = (values.astype(np.float64) for values in (actual, alone))
        off, size = np.abs(one - other), np.abs(other)
        largest = float(size[np.isfinite(size)].max(initial=0.0))
        most = float(off[np.isfinite(off)].max(initial=0.0))
    if not np.isfinite(off).all() and not most:
        return "values that are not finite"
    return f"{figure(most / largest)} of the largest element" if largest else figure(most)


def _failed(case: Case, name: str, problem: str, output: OutputVerdict | None = None) -> CaseResult:
    finding = Finding("output-mismatch", (), {"tensor": name, "problem": problem}, help=_HELP)
    found = () if output is None else output.verdict.findings
    outputs = {} if output is None else output.verdict.outputs
    return CaseResult(case, FAILED, "output mismatch", tuple(map(case.origin.diagnostic, (finding, *found))), outputs)


def not_together(case: Case, reason: str) -> CaseResult:
    """Return the case of a model that is not judged as a whole."""
    return CaseResult(case, SKIPPED, reason, (Diagnostic("unlimited-tolerance", reason, NOTE, case.file),))
