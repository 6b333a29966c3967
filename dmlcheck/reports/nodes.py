"""The nodes of a model in reports: their origins, the first failure, and the nodes that make NaN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dmlcheck.diagnostics.wording import counted, figure, first_few, is_or_are, visible
from dmlcheck.reports.records import is_failure, level_text
from dmlcheck.running.results import (
    MISSING,
    NO_ELEMENTS,
    PASSED,
    SKIPPED,
    Bisected,
    CaseResult,
    ModelOutput,
    NodeOfCase,
    NotFinite,
)
from dmlcheck.specs.names import short_operator

_SKIPPED = {NO_ELEMENTS: "without elements", MISSING: "that the implementation did not give"}
_MOST_LISTED = 10  # tensors, or nodes
_MEANINGS = {"onnx": "judged by ONNX's meaning", "provider": "judged by the descs of ONNX Runtime's DirectML provider"}
_LARGEST = 65504.0  # of FLOAT16


def _why_skipped(result: CaseResult) -> str:
    """Return why an output is not judged, as the end of a count."""
    reason = result.reason or ""
    return next((said for begin, said in _SKIPPED.items() if reason.startswith(begin)), "without a usable tolerance")


def model_facts(result: CaseResult) -> Iterator[tuple[str, str]]:
    """Yield the texts about a case that is a node of a model, or an output, each with its kind."""
    if result.node is not None:
        yield from node_facts(result.node)
    if result.output is not None:
        yield from output_facts(result.output)
    if result.together is not None:
        nodes = [
            f"{name} ({operator})"
            for name, operator in zip(result.together.names, result.together.operators, strict=False)
        ]
        operators = [short_operator(operator) for operator in result.together.dml_operators]
        becomes = f" -> {first_few(operators, _MOST_LISTED, ' + ')}" if operators else ""
        yield "nodes", visible(f"{first_few(nodes, _MOST_LISTED)}{becomes}")


def node_facts(node: NodeOfCase) -> Iterator[tuple[str, str]]:
    """Yield the texts about a node that failed, besides its failures, each with its kind."""
    becomes = f" -> {' + '.join(map(short_operator, node.dml_operators))}" if node.dml_operators else ""
    level = f", valid from {level_text(node.level)}" if node.level else ""
    judged = f"; {_MEANINGS[node.meaning]}" if node.meaning in _MEANINGS else ""
    yield "node", visible(f"{node.name} ({node.operator}){becomes}{level}{judged}")
    if node.module:
        yield "module", visible(node.module)
    if node.line:
        yield "program", visible(node.line)


def output_facts(output: ModelOutput) -> Iterator[tuple[str, str]]:
    """Yield how far an output of a model is off, and which nodes add the most to that."""
    error, tolerance = ("infinite" if value is None else figure(value) for value in (output.error, output.tolerance))
    yield "output", visible(f"{output.name}: error {error}, tolerance {tolerance}, both of its largest element")
    if output.choice is not None:
        yield "chain", _choice_text(output.choice)
    if output.shares:
        yield "errors", _shares_text(output)


def _choice_text(node: str) -> str:
    return visible(f"errors may decide the results of {node}, and the reference went on with the implementation's")


def _shares_text(output: ModelOutput) -> str:
    """Return which nodes add the most to the errors of a model."""
    listed = ", ".join(f"{node} {100 * share:.3g} %" for node, share in output.shares)
    return visible(f"of the squared relative errors that nodes add, the largest shares: {listed}")


class NodesOverview:
    """The nodes of a run as they go by: the first failure, and the observations about tensors."""

    def __init__(self) -> None:
        self.total = self.judged = self.failed = 0
        self.by_provider = 0
        self.first: tuple[str, NodeOfCase] | None = None
        self.not_finite: list[tuple[NodeOfCase, NotFinite]] = []
        self.largest: list[tuple[float, str, NodeOfCase]] = []
        self.outputs: list[tuple[CaseResult, ModelOutput]] = []

    def add(self, result: CaseResult) -> None:
        """Take a result in."""
        node = result.node
        if result.output is not None:
            self.outputs.append((result, result.output))
        if node is None:
            return
        self.total += 1
        self.judged += bool(node.meaning)
        self.by_provider += node.meaning == "provider"
        self.failed += is_failure(result)
        if is_failure(result) and self.first is None:
            self.first = result.case.id, node
        self.not_finite += [(node, found) for found in node.not_finite]
        self.largest += [(magnitude, tensor, node) for tensor, magnitude in node.largest.items()]

    def lines(self, bisected: Bisected | None = None) -> Iterator[str]:
        """Yield the number of nodes, the first that failed, and those that make NaN or come close to overflow.

        `bisected` is the result of the search for nodes that are wrong only together.
        """
        if not self.total:
            return
        yield f"{counted(self.total, 'node')}: {self.judged:,} judged, {self.total - self.judged:,} not judged"
        if 0 < self.by_provider < self.judged:
            number = counted(self.by_provider, "node")
            yield f"{number} judged by the descs of ONNX Runtime's DirectML provider, the others by ONNX's meaning"
        yield from self._output_lines()
        yield from self._not_finite_lines()
        yield from self._headroom_lines()
        if bisected is not None:
            yield visible(bisected.text)
        if self.first is not None:
            case_id, node = self.first
            where = node.line or node.module
            yield visible(
                f"the first node that fails: {case_id} ({node.operator})" + (f", from {where}" if where else "")
            )

    def _output_lines(self) -> Iterator[str]:
        """Yield how many outputs of the whole model are right, and why others are not."""
        if not self.outputs:
            return
        right = sum(result.outcome == PASSED for result, _ in self.outputs)
        why = Counter(_why_skipped(result) for result, _ in self.outputs if result.outcome == SKIPPED)
        more = "".join(f"; {count:,} {reason}" for reason, count in why.items())
        total = len(self.outputs)
        said = f"the model's {counted(total, 'output')} {is_or_are(total)} right"
        if right < total:
            said = f"of the model's {counted(total, 'output')}, {right:,} {is_or_are(right)} right"
        yield f"{said}, computed end to end{more}"
        choice = next((one.choice for result, one in self.outputs if one.choice and result.outcome == PASSED), None)
        if choice is not None:
            yield _choice_text(choice)
        others = [output for result, output in self.outputs if result.outcome != PASSED]
        yield from (_shares_text(output) for output in others[:1] if output.shares)

    def _not_finite_lines(self) -> Iterator[str]:
        for number, (node, found) in enumerate(self.not_finite[:_MOST_LISTED]):
            what = " and ".join(
                text for text in (found.nan and f"{found.nan:,} NaN", found.infinite and f"{found.infinite:,} infinite")
                if text
            )  # fmt: skip
            first = "the first node that makes NaN or infinities of finite inputs" if number == 0 else "so does"
            yield visible(f"{first}: {node.name} ({node.operator}): {what} in {found.tensor}")
        if len(self.not_finite) > _MOST_LISTED:
            yield f"and {len(self.not_finite) - _MOST_LISTED:,} more tensors with NaN or infinities"

    def _headroom_lines(self) -> Iterator[str]:
        if not self.largest:
            return
        yield f"{counted(len(self.largest), 'FLOAT16 tensor')} close to overflow, which is at {_LARGEST:,.0f}:"
        for magnitude, tensor, node in sorted(self.largest, key=lambda entry: -entry[0])[:_MOST_LISTED]:
            yield visible(f"  {figure(magnitude)} in {tensor} of {node.name} ({node.operator})")
        if len(self.largest) > _MOST_LISTED:
            yield f"  and {len(self.largest) - _MOST_LISTED:,} more"
