"""What reports say of the nodes of a model: where they come from, which failed first, and which make NaN."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.diagnostics.wording import counted, figure, visible
from dmlcheck.reports.records import level_text
from dmlcheck.running.results import CaseResult, NodeOfCase, NotFinite
from dmlcheck.specs.names import short_operator

_MOST_LISTED = 10  # tensors
_MEANINGS = {"onnx": "judged by ONNX's meaning", "provider": "judged by the descs of ONNX Runtime's DirectML provider"}
_LARGEST = 65504.0  # of FLOAT16


def node_facts(node: NodeOfCase) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a node that failed, beside what failed, each with what it is."""
    becomes = f" -> {' + '.join(map(short_operator, node.dml_operators))}" if node.dml_operators else ""
    level = f", valid from {level_text(node.level)}" if node.level else ""
    judged = f"; {_MEANINGS[node.meaning]}" if node.meaning in _MEANINGS else ""
    yield "node", visible(f"{node.name} ({node.operator}){becomes}{level}{judged}")
    if node.module:
        yield "module", visible(node.module)
    if node.line:
        yield "program", visible(node.line)


class NodesOverview:
    """The nodes of a run as they go by: which was the first to fail, and what is to be said of the tensors."""

    def __init__(self) -> None:
        """Begin with none."""
        self.total = self.judged = self.failed = 0
        self.by_provider = 0
        self.first: tuple[str, NodeOfCase] | None = None
        self.not_finite: list[tuple[NodeOfCase, NotFinite]] = []
        self.largest: list[tuple[float, str, NodeOfCase]] = []

    def add(self, result: CaseResult) -> None:
        """Take a result in."""
        node = result.node
        if node is None:
            return
        self.total += 1
        self.judged += bool(node.meaning)
        self.by_provider += node.meaning == "provider"
        self.failed += result.is_failure
        if result.is_failure and self.first is None:
            self.first = result.case.id, node
        self.not_finite += [(node, found) for found in node.not_finite]
        self.largest += [(magnitude, tensor, node) for tensor, magnitude in node.largest.items()]

    def lines(self) -> Iterator[str]:
        """Yield the number of nodes, the first that failed, and what makes NaN or comes close to overflow."""
        if not self.total:
            return
        yield f"{counted(self.total, 'node')}: {self.judged:,} judged, {self.total - self.judged:,} not judged"
        if 0 < self.by_provider < self.judged:
            number = counted(self.by_provider, "node")
            yield f"{number} judged by the descs of ONNX Runtime's DirectML provider, the others by ONNX's meaning"
        yield from self._not_finite_lines()
        yield from self._headroom_lines()
        if self.first is not None:
            case_id, node = self.first
            where = node.line or node.module
            yield visible(
                f"the first node that fails: {case_id} ({node.operator})" + (f", from {where}" if where else "")
            )

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
