"""Machine-readable reports: dmlcheck-report/1 of a run and dmlcheck-validation/1 of descs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from dmlcheck import __version__
from dmlcheck.comparison.records import LARGEST, Element, OutputResult
from dmlcheck.diagnostics.wording import brief
from dmlcheck.reports.accuracy import Accuracy, Spot, Worst
from dmlcheck.reports.against import difference_entry, kind_of, side_by_side
from dmlcheck.reports.elements import report_value
from dmlcheck.reports.failure import Again, again_by_id
from dmlcheck.reports.files import ReportFile
from dmlcheck.reports.records import RunInfo, Summary, has_drifted
from dmlcheck.running.legality import Validated, WholeCheck
from dmlcheck.running.results import PASSED, SKIPPED, Against, CaseResult, Drift, ModelOutput, NodeOfCase, Together
from dmlcheck.running.settings import EXPECTED_WITHIN
from dmlcheck.specs.load import full_name

if TYPE_CHECKING:
    from dmlcheck.models.graphs import GraphResult
    from dmlcheck.models.legality import FusedNode, ModelResult

MOST = 4000  # characters of a desc
RUN_SCHEMA = "dmlcheck-report/1"
VALIDATION_SCHEMA = "dmlcheck-validation/1"


class JsonReport:
    """A run as JSON, written case by case so that a long run takes no memory, and given its name when it is whole."""

    def __init__(self, path: str, info: RunInfo, *, again: Again = again_by_id) -> None:
        self.file = ReportFile(path)
        self.again = again
        self.first = True
        self.info = info
        self.accuracy = Accuracy()
        self.against = side_by_side(info)
        self.drift: list[dict[str, Any]] = []
        settings = info.settings
        head = {
            "schema": RUN_SCHEMA,
            "tool": {"name": "dmlcheck", "version": __version__},
            "implementation": info.implementation,
            "implementation_version": info.version or None,
            "device": info.device or None,
            "feature_level": settings.feature_level,
            "accumulate": settings.precision.accumulate.lower(),
            "inputs": settings.precision.factors.lower(),
            **({"algorithms": list(settings.precision.algorithms)} if settings.precision.algorithms else {}),
            "strict": settings.is_strict,
            **({} if settings.expected_within == EXPECTED_WITHIN else {"expected_within": settings.expected_within}),
            **({} if settings.directml_version is None else {"directml_version": settings.directml_version}),
            "warn_above": info.warn_above,
            "compared_to": None if info.compared_to is None else info.compared_to._asdict(),
            **({"selection": True} if info.is_selection else {}),
            **({"options": list(info.options)} if info.options else {}),
            **({} if info.against is None else {"against": _named(info.against)}),
        }
        self.file.write(_dump(head)[:-1] + ', "cases": [')

    def case(self, result: CaseResult) -> None:
        """Write one case."""
        self.file.write(
            ("" if self.first else ",") + "\n" + _dump({**case_dict(result), "command": self.again(result)})
        )
        self.first = False
        self.accuracy.add(result)
        if self.against is not None:
            self.against.add(result)
        self.drift.extend({"case": result.case.id, **_drift(drift)} for drift in result.drift)

    def finish(self, summary: Summary) -> None:
        """Write the summary and put the report in place."""
        counts = {
            "total": summary.total,
            **summary.counts,
            "computed": summary.computed,
            "legal": summary.legal,
            "for_implementations": summary.for_implementations,
            "seconds": round(summary.seconds, 6),
        }
        tail: dict[str, Any] = {"summary": counts, "digest": summary.digest}
        tail["accuracy"] = [_worst(worst) for worst in self.accuracy.rows()]
        if self.against is not None:
            tail["side_by_side"] = self.against.entries()
        if self.info.warn_above is not None:
            tail["warned"] = summary.warned
        noted = {name: getattr(summary, name) for name in ("unlikely", "unlimited", "flaky", "inaccurate")}
        tail.update((name, count) for name, count in noted.items() if count)
        if summary.consistent:
            tail["consistent_with"] = {name.lower(): count._asdict() for name, count in summary.consistent.items()}
        if summary.compared is not None:
            tail["compared"] = summary.compared._asdict()
            tail["drift"] = self.drift
        if self.info.shard is not None:
            tail["shard"] = {"index": self.info.shard[0], "count": self.info.shard[1]}
        if summary.bisected is not None:
            tail["bisect"] = {"text": summary.bisected.text, "runs": summary.bisected.runs}
        if summary.not_run:
            tail["not_run"] = summary.not_run
        if summary.interrupted:
            tail["interrupted"] = True
        if summary.running is not None:
            tail["running"] = {"case": summary.running[0], "seconds": round(summary.running[1], 6)}
        self.file.write("\n], " + _dump(tail)[1:] + "\n")
        self.file.close()


def case_dict(result: CaseResult) -> dict[str, Any]:
    """Return a case's part of the report."""
    case = result.case
    return {
        "id": case.id,
        "name": case.name,
        "file": case.file,
        "line": case.position.line,
        "operator": full_name(case.operator) or case.operator,
        "feature_level": result.level,
        "outcome": result.outcome,
        "reason": result.reason,
        "computed": result.is_computed,
        "flaky": result.is_flaky,
        "diagnostics": [diagnostic.as_dict() for diagnostic in result.diagnostics],
        "seconds": round(result.seconds, 6),
        "outputs": {name: output_dict(output) for name, output in result.outputs.items()},
        **({"not_compared": list(result.uncompared)} if result.uncompared else {}),
        **_details(result),
        **({} if result.node is None else _node(result.node)),
        **({} if result.output is None else {"output": _output(result.output)}),
        **({} if result.together is None else _together(result.together)),
        **({"warnings": [_close(name, result.outputs[name]) for name in result.warned]} if result.warned else {}),
        **({"drift": [_drift(drift) for drift in result.drift]} if result.drift else {}),
        **({} if result.consistent is None else {"consistent_with": result.consistent.lower()}),
        **({} if result.ordinal is None else {"ordinal": result.ordinal}),
        **({"malformed": True} if result.is_malformed else {}),
        **({"kept": result.kept} if result.kept else {}),
        **({"traceback": result.traceback} if result.traceback else {}),
        **({} if result.against is None else {"against": _against(result, result.against)}),
    }


def _named(info: RunInfo) -> dict[str, Any]:
    """Return the description of a second implementation, in the form of the first one's."""
    return {
        "implementation": info.implementation,
        "implementation_version": info.version or None,
        "device": info.device or None,
    }


def _against(result: CaseResult, against: Against) -> dict[str, Any]:
    """Return the result of the second implementation for a case, and the differences between the two."""
    other = against.result
    return {
        "kind": kind_of(result, against),
        "outcome": other.outcome,
        "reason": other.reason,
        "computed": other.is_computed,
        "diagnostics": [diagnostic.as_dict() for diagnostic in other.diagnostics],
        "outputs": {name: output_dict(output) for name, output in other.outputs.items()},
        "differences": {name: difference_entry(one) for name, one in against.differences.items()},
    }


def _output(output: ModelOutput) -> dict[str, Any]:
    """Return how far an output of a model is off, and which nodes add the most to that."""
    shares = [{"node": node, "share": share} for node, share in output.shares]
    choice = {} if output.choice is None else {"choice": output.choice}
    return {"name": output.name, "error": output.error, "tolerance": output.tolerance, "shares": shares, **choice}


def _together(together: Together) -> dict[str, Any]:
    """Return the nodes of a model that are wrong only together."""
    return {
        "nodes": list(together.names),
        "onnx_operators": list(together.operators),
        "dml_operators": list(together.dml_operators),
    }


def _node(node: NodeOfCase) -> dict[str, Any]:
    """Return the entry of the model's node that a case is about, without unknown values."""
    more: dict[str, Any] = {
        "judged_by": node.meaning,
        "level": node.level,
        "module": node.module,
        "origin": node.line,
        "not_finite": [found._asdict() for found in node.not_finite],
        "largest": dict(node.largest),
    }
    return {
        "node": node.name,
        "onnx_operator": node.operator,
        "dml_operators": list(node.dml_operators),
        **{key: value for key, value in more.items() if value},
    }


def _details(result: CaseResult) -> dict[str, Any]:
    """Return the further entries of a case that fails a run: its desc, its inputs in brief, and its source."""
    case = result.case
    if result.outcome in (PASSED, SKIPPED) and not has_drifted(result):
        return {}
    inputs = {name: brief(raw) for name, raw in (case.inputs or {}).items()}
    found: dict[str, Any] = {"desc": brief(case.desc, MOST), "inputs": inputs, "source": case.source}
    if result.known:
        found["known_deviations"] = [row.words for row in result.known]
    return found


def _close(name: str, output: OutputResult) -> dict[str, Any]:
    element = output.closest
    place = {"ulp": output.max_ulp, "index": None} if element is None else {"ulp": element.ulp, "index": element.place}
    return {"output": name, "share": output.max_share, **place}


def _drift(drift: Drift) -> dict[str, Any]:
    return {"output": drift.output, "old_ulp": drift.old_ulp, "new_ulp": drift.new_ulp, "failure": drift.is_failure}


def _worst(worst: Worst) -> dict[str, Any]:
    """Return the worst of an operator's outputs of a data type; `closest` is where the share is largest."""
    return {
        "operator": full_name(worst.operator) or worst.operator,
        "data_type": worst.data_type,
        "max_ulp": worst.max_ulp,
        "max_share": worst.max_share,
        **(_spot(worst.of_ulp) or {"case": None, "output": None, "index": None}),
        "closest": _spot(worst.of_share),
    }


def _spot(spot: Spot | None) -> dict[str, Any] | None:
    return None if spot is None else {"case": spot.case, "output": spot.output, "index": list(spot.place)}


def output_dict(output: OutputResult) -> dict[str, Any]:
    """Return an output's part of the report; infinities and NaN are text, as in case files.

    `worst` is the element with the largest error, and `closest` the one with the largest share of its tolerance;
    `unrounded` in them says that the error is measured from the unrounded result, `unlimited` that its tolerance is
    infinite. `likely_share` is the largest share of the likely error, if any element is beyond it, `systematic` the
    root mean square of the errors as a share of it, if that is a systematic error. `unspecified` counts the undefined
    elements, `unlimited` those that differ where the tolerance has no limit.
    """
    found: dict[str, Any] = {
        "data_type": output.data_type,
        "max_ulp": output.max_ulp,
        "max_share": output.max_share,
        "mismatches": output.mismatches,
        "elements": output.elements,
        "unspecified": output.undefined,
        "unlimited": output.unlimited,
        "first": _element(output.first[0] if output.first else None),
        "worst": _worst_element(output.most_off),
        "closest": _element(output.closest, measured=True),
    }
    if output.likely_share is not None:
        found["likely_share"] = output.likely_share
    if output.systematic is not None:
        found["systematic"] = output.systematic
    return {**found, "details": _mismatch(output)} if output.mismatches else found


def _mismatch(output: OutputResult) -> dict[str, Any]:
    """Return the further entries of a wrong output."""
    # By place, as NaN is not itself.
    shown = {element.place: element for element in (*output.first, output.worst) if element is not None}
    return {
        "data_type": output.data_type,
        "sizes": list(output.sizes),
        "shape": output.shape,
        "region": output.region,
        "bound": output.bound,
        "decided_by": output.decided_by,
        "elements": [_element(element, measured=True) for element in shown.values()],
        "profile": list(output.profile),
    }


def _element(element: Element | None, *, measured: bool = False) -> dict[str, Any] | None:
    if element is None:
        return None
    found: dict[str, Any] = {
        "index": list(element.place),
        "expected": report_value(element.expected),
        "actual": report_value(element.actual),
    }
    if measured:
        share = element.share
        found.update(ulp=element.ulp, share=None if share is None else min(share, LARGEST), **_measure(element))
    return found


def _worst_element(element: Element | None) -> dict[str, Any] | None:
    found = _element(element)
    return found if element is None or found is None else {**found, **_measure(element)}


def _measure(element: Element) -> dict[str, bool]:
    """Return the keys that say of an error that it is measured from the unrounded result, or has no limit."""
    said = {"unrounded": element.is_unrounded, "unlimited": element.is_unlimited}
    return {key: True for key, holds in said.items() if holds}


def validation_text(
    descs: Iterable[Validated], wholes: Iterable[WholeCheck] = (), directml_version: str | None = None
) -> str:
    """Return the report of `validate --format json`; the notes are limited to a version of DirectML if there is one."""
    listed = list(descs)
    models = list(map(_whole, wholes))
    return json.dumps(
        {
            "schema": VALIDATION_SCHEMA,
            "valid": not any(desc.errors for desc in listed),
            **({} if directml_version is None else {"directml_version": directml_version}),
            **({"models": models} if models else {}),
            "descs": [
                {
                    "file": desc.file,
                    "name": desc.name,
                    "operator": desc.operator,
                    "feature_level": desc.feature_level,
                    "valid": desc.is_valid,
                    "minimum_feature_level": desc.minimum,
                    "diagnostics": [diagnostic.as_dict() for diagnostic in (*desc.diagnostics, *desc.notes)],
                    "accepted_by": list(desc.accepted_by),
                    **_levels(desc),
                    **_answer(desc),
                    **_source(desc),
                }
                for desc in listed
            ],
        },
        indent=2,
        allow_nan=False,
    )


def _answer(desc: Validated) -> dict[str, Any]:
    """Return the answer of DirectML's library, if it was asked."""
    if desc.answer is None:
        return {}
    version, hresult = desc.answer
    return {"library": {"version": version, "accepted": desc.answer.is_accepted, "hresult": f"0x{hresult:08X}"}}


def _source(desc: Validated) -> dict[str, Any]:
    if desc.node is None:
        return {}
    return {"node": desc.node, "onnx_operator": desc.onnx_operator, "desc": desc.desc}


def _whole(whole: WholeCheck) -> dict[str, Any]:
    from dmlcheck.models.graphs import GraphResult

    return _graph(whole) if isinstance(whole, GraphResult) else _model(cast("ModelResult", whole))


def _graph(graph: GraphResult) -> dict[str, Any]:
    return {
        "file": graph.file,
        "minimum_feature_level": graph.minimum,
        "nodes": list(graph.demanding),
        "checked": graph.checked,
        "constants": graph.constants,
    }


def _model(model: ModelResult) -> dict[str, Any]:
    return {
        "file": model.file,
        "mapping": model.mapping,
        "refusal": model.refusal,
        "minimum_feature_level": model.minimum,
        "fused_feature_level": model.fused_minimum,
        "at_least": model.is_partial,
        "checked": model.checked,
        "no_provider": model.noted("no-provider"),
        "refused": model.noted("provider-refuses"),
        "elsewhere": model.noted("runs-elsewhere"),
        "unknown": model.noted("unknown-sizes"),
        "unknown_roots": [{"root": root, "nodes": number} for root, number in model.roots.items()],
        "unmapped": model.noted("not-mapped"),
        "wrong": model.noted("onnx-syntax"),
        "fusions": [_fusion(model, fusion) for fusion in model.fusions],
        "possible_fusions": [{"onnx_operator": operator, "node": name} for operator, name in model.possible],
    }


def _fusion(model: ModelResult, fusion: FusedNode) -> dict[str, Any]:
    """Return a node that ONNX Runtime makes of others, with their names."""
    return {
        "onnx_operator": fusion.made.operator,
        "nodes": [model.nodes[number].descs[0].name for number in fusion.replaced],
        "operators": [desc.operator for desc in fusion.made.descs if desc.operator is not None],
        "minimum_feature_level": fusion.minimum,
    }


def _levels(desc: Validated) -> dict[str, Any]:
    if not desc.levels:
        return {}
    return {"levels": [{"level": at.level, "valid": at.is_valid, "reason": at.reason} for at in desc.levels]}


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
