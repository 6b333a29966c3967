"""The smallest group of nodes of a model that is wrong only when its nodes run together, as one model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import counted, cut
from dmlcheck.models.cases import Loaded, ModelOrigin, ModelRequest, NodeCase
from dmlcheck.models.chain import Chain, follow_node, is_of_sizes, known_arrays, mapped_with
from dmlcheck.models.node_files import FailedGroup, NodeFiles
from dmlcheck.models.node_values import NodeTensors
from dmlcheck.models.node_verdict import Unjudged
from dmlcheck.models.process import tensors_of
from dmlcheck.models.whole_model import as_given, takes_paths
from dmlcheck.onnx.model.parts import model_of_nodes, read_from_outside
from dmlcheck.running.computed import NoOutputs
from dmlcheck.running.results import ERRORED, FAILED, PASSED, Bisected, CaseResult, Together
from dmlcheck.running.verdict import Limits, Verdict

_MOST_NAMED = 10  # nodes in a message
_MOST_NAME = 500  # characters of the name of a node in an id
_NO_SEARCH = "no search for nodes that are wrong together"
_JOINT = ".."  # between the names of the first and the last node


Group = tuple[int, ...]  # positions of nodes, in order
Check = Callable[[Group], "bool | None"]  # whether a group is wrong, None where that is not known

_MOST_PIECES = 64  # of a group, into which its inner nodes are divided to leave out one piece after the other


class Smallest:
    """A search through the groups of some nodes, each of which is right alone.

    A group is checked once. There are at most `most` checks; after those, the smallest group so far is the result.
    Groups of fewer than `least` nodes count as right.
    """

    def __init__(self, count: int, check: Check, least: int = 2) -> None:
        """Search among the nodes 0 to `count` - 1."""
        self.count = count
        self.check = check
        self.least = least
        self.most = count * max(1, count.bit_length()) + 16
        self.known: dict[Group, bool | None] = {}

    @property
    def checks(self) -> int:
        """The number of groups that were checked."""
        return len(self.known)

    def found(self) -> Group | None:
        """Return the smallest group that is wrong, or None if none is found: no node of it can be left out.

        Of a large group this is only known of the nodes at its ends, and of pieces between them.
        """
        group = self._first()
        if group is None:
            return None
        group = self._halved(group)
        while True:
            smaller = self._without_inner(self._without_end(self._without_start(group)))
            if smaller == group:
                return group
            group = smaller

    def _is_wrong(self, group: Group) -> bool:
        return self._found_of(group) is True

    def _found_of(self, group: Group) -> bool | None:
        if len(group) < self.least:
            return False
        if group not in self.known:
            if len(self.known) >= self.most:
                return None
            self.known[group] = self.check(group)
        return self.known[group]

    def _first(self) -> Group | None:
        """Return a group to begin with: all nodes, or the first smaller group that is wrong if all cannot be judged."""
        right: list[Group] = []
        for group in self._windows():
            if any(other[0] <= group[0] and group[-1] <= other[-1] for other in right):
                continue
            found = self._found_of(group)
            if found:
                return group
            if found is False:
                right.append(group)
        return None

    def _windows(self) -> Iterator[Group]:
        """Yield all nodes, and then ever smaller groups of nodes in a row, each of which shares half with the next."""
        size = self.count
        while size >= 2:
            for start in range(0, self.count - size + size // 2, size // 2):
                yield tuple(range(start, min(start + size, self.count)))
            size = (size + 1) // 2 if size > 2 else 0

    def _halved(self, group: Group) -> Group:
        while len(group) > 1:
            middle = len(group) // 2
            half = next((half for half in (group[:middle], group[middle:]) if self._is_wrong(half)), None)
            if half is None:
                return group
            group = half
        return group

    def _without_start(self, group: Group) -> Group:
        return group[self._most_left_out(len(group), lambda number: group[number:]) :]

    def _without_end(self, group: Group) -> Group:
        return group[: len(group) - self._most_left_out(len(group), lambda number: group[: len(group) - number])]

    def _most_left_out(self, count: int, rest: Callable[[int], Group]) -> int:
        """Return the largest number of nodes at an end that can be left out so that the rest is still wrong."""
        wrong, right = 0, count
        while right - wrong > 1:
            middle = (wrong + right) // 2
            if self._is_wrong(rest(middle)):
                wrong = middle
            else:
                right = middle
        return wrong

    def _without_inner(self, group: Group) -> Group:
        """Return a group without the nodes between its ends that can be left out: all, then ever smaller pieces."""
        size = len(group) - 2
        while size > 0 and len(group) <= _MOST_PIECES * size:
            at = 1
            while at < len(group) - 1:
                rest = group[:at] + group[min(at + size, len(group) - 1) :]
                if self._is_wrong(rest):
                    group = rest
                else:
                    at += size
            size //= 2
        return group


class Submodel(NamedTuple):
    """Nodes of a model as a model of their own: the onnx.ModelProto, its inputs, and the names of its outputs."""

    proto: Any
    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]


class ModelBisection:
    """The tensors and verdicts of a model's nodes one by one, and then the search for nodes wrong only together.

    Groups run on the tensors that the nodes gave before, and keep the tensors that nodes outside of them read.
    """

    def __init__(
        self, model: Loaded, file: str, implementation: Any, limits: Limits, asked: ModelRequest, *, is_directml: bool
    ) -> None:
        """Keep up to `asked.keep_bytes` of tensors; without memory for all of them nothing is searched."""
        self.model = model
        self.file = file
        self.implementation = implementation
        self.limits = limits
        self.most = asked.keep_bytes
        self.first_step = "without --whole each runs alone" if asked.is_whole else "look there first"
        self.is_directml = is_directml
        self.tensors: dict[str, Any] = dict(model.inputs)
        self.outputs = {value.name for value in model.proto.graph.output}
        self.readers: dict[str, set[str]] = {}
        for node in model.nodes:
            for name in node.reads:
                self.readers.setdefault(name, set()).add(node.case.name)
        self.bytes = 0
        self.runs = self.unjudged = 0
        self.failed = 0
        self.judged: set[str] = set()
        self.has_wrong_output = False
        self.dml_operators: dict[str, tuple[str, ...]] = {}
        self.wrong: dict[Group, Verdict] = {}

    # ---- what goes by

    def follow(self, values: NodeTensors) -> None:
        """Keep the tensors of a node."""
        new = {name: x for name, x in values.tensors.items() if name not in self.tensors}
        self.bytes += sum(getattr(x, "nbytes", 0) for x in new.values())
        if self.bytes > self.most:
            self.tensors.clear()
        else:
            self.tensors.update(new)

    def note(self, result: CaseResult) -> None:
        """Take the result of a node, or of an output."""
        if result.output is not None:
            self.has_wrong_output = self.has_wrong_output or result.outcome == FAILED
        elif result.node is not None:
            self.failed += result.outcome in (FAILED, ERRORED)
            self.dml_operators[result.case.name] = result.node.dml_operators
            if result.outcome == PASSED:
                self.judged.add(result.case.name)

    # ---- the search

    def searched(
        self, begin: Callable[[str], object], files: NodeFiles | None = None
    ) -> tuple[CaseResult | None, Bisected]:
        """Return the case of the group that is wrong, None without one, and the search's result in words.

        `begin` is called with each group before it runs; the group that is found is written to `files`.
        """
        if self.failed:
            return None, Bisected(f"{_NO_SEARCH}: {counted(self.failed, 'node')} failed; {self.first_step}")
        if self.bytes > self.most:
            return None, Bisected(f"{_NO_SEARCH}: all tensors take more than --keep-memory")
        start = time.perf_counter()

        def check(group: Group) -> bool | None:
            begin(f"{self._id(group)}, run {self.runs + 1:,} of nodes together")
            return self._is_wrong(group)

        search = Smallest(len(self.model.nodes), check)
        group = search.found()
        if group is None:
            return None, Bisected(self._nothing_text(search), self.runs)
        runs = f"found in {counted(self.runs, 'run')} of nodes together"
        text = f"{counted(len(group), 'node')} right alone and wrong together: {self._id(group)}, {runs}"
        return self._result(group, files, time.perf_counter() - start), Bisected(text, self.runs)

    def _nothing_text(self, search: Smallest) -> str:
        if not self.runs:
            return "no nodes were run together: the tensors that they need are not there"
        runs = f"{counted(self.runs, 'run')} of nodes together"
        whole = search.known.get(tuple(range(len(self.model.nodes))))
        if whole is False and not self.has_wrong_output:
            return f"outputs are right also when only they are kept; {runs}"
        unjudged = f", {self.unjudged:,} of which cannot be judged" if self.unjudged else ""
        return f"no nodes are wrong together; {runs}{unjudged}"

    def _id(self, group: Group) -> str:
        return f"{self.file}::{self._name(group)}"

    def _name(self, group: Group) -> str:
        first, last = (self.model.nodes[at].case.name for at in (group[0], group[-1]))
        return f"{cut(first, _MOST_NAME)}{_JOINT}{cut(last, _MOST_NAME)}"

    # ---- one group

    def _is_wrong(self, group: Group) -> bool | None:
        """Return whether nodes are wrong together, or None if that is unknown."""
        nodes = [self.model.nodes[at] for at in group]
        part = self._part(nodes)
        if part is None:
            return None
        found = self._run(part)
        if isinstance(found, NoOutputs):
            self.unjudged += 1
            return None
        if all(_is_same(found[name], self.tensors[name]) for name in part.outputs):
            return False  # each node is right alone, and these are the same tensors
        verdict = self._verdict(nodes, part, found)
        if verdict is not None and verdict.findings:
            self.wrong[group] = verdict
            return True
        self.unjudged += verdict is None
        return None if verdict is None else False

    def _part(self, nodes: list[NodeCase]) -> Submodel | None:
        """Return nodes as a model, or None if a tensor is missing or has a type that no model takes."""
        reads = [name for name in read_from_outside(node.node for node in nodes) if name not in self.model.constants]
        gives = {name for node in nodes for name in node.node.output if name}
        if not gives.union(reads) <= self.tensors.keys():
            return None
        inputs = {name: self.tensors[name] for name in reads}
        inside = {node.case.name for node in nodes}
        outputs = tuple(name for name in self.tensors if name in gives and self._is_read_outside(name, inside))
        try:
            made = model_of_nodes(
                [node.node for node in nodes], self.model.proto, self.model.constants, inputs, outputs
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return Submodel(made, inputs, outputs)

    def _is_read_outside(self, name: str, inside: set[str]) -> bool:
        """Whether a tensor is an output of the model, or a node outside of some nodes reads it."""
        return name in self.outputs or not inside.issuperset(self.readers.get(name, ()))

    def _run(self, part: Submodel) -> Mapping[str, Any] | NoOutputs:
        if not part.outputs:
            return {}
        self.runs += 1
        with as_given(part.proto) as given:
            if isinstance(given, str) and not takes_paths(self.implementation):
                return NoOutputs("it takes models of up to 2 GiB")
            return tensors_of(given, part.inputs, list(part.outputs), self.implementation, is_optimized=True)

    def _verdict(self, nodes: list[NodeCase], part: Submodel, found: Mapping[str, Any]) -> Verdict | None:
        """Compare the outputs of nodes run together with the reference's chain through them; None if there is no bound.

        Of several outputs the first that is wrong has the verdict.
        """
        chain = Chain(known_arrays(part.inputs), self.limits)
        last = {name: node.case.name for node in nodes for name in node.reads}
        for node in nodes:
            self._take(chain, node)
            done = (name for name in (*node.reads, *node.node.output) if last.get(name) == node.case.name)
            chain.drop(name for name in done if name not in part.outputs)
        is_unclear = False
        right = None
        for name, actual in found.items():
            if name not in chain.held or not isinstance(actual, np.ndarray):
                is_unclear = True
                continue
            if not _is_alike(actual, self.tensors[name]):
                alone = self.tensors[name]
                problem = (
                    f"is {actual.dtype} {list(actual.shape)}; the nodes alone give {alone.dtype} {list(alone.shape)}"
                )
                return Verdict({}, (Finding("output-mismatch", (), {"tensor": name, "problem": problem}),))
            output = chain.output(name, actual, len(nodes))
            is_wrong = bool(output.verdict.findings)
            if is_wrong and not chain.output(name, self.tensors[name], len(nodes)).verdict.findings:
                return output.verdict
            # Nodes that run alone are wrong too: the group is not the cause.
            is_unclear = is_unclear or is_wrong or output.reason is not None
            right = output.verdict
        return None if is_unclear else right

    def _take(self, chain: Chain, node: NodeCase) -> None:
        """Take a node into a chain.

        Its own output stands for its output together with others only if roundings cannot change that.
        """
        actual = known_arrays({name: self.tensors[name] for name in node.node.output if name in self.tensors})
        mapped = mapped_with(node, self.tensors, self.model, is_directml=self.is_directml)
        is_rounded = any(array.dtype.kind == "f" for array in actual.values())
        if isinstance(mapped, Unjudged) and is_rounded and not is_of_sizes(node):
            chain.give_up(actual, f"{node.case.name} is not computed: {mapped.reason}")
        else:
            follow_node(chain, node, mapped, actual, self.model)

    # ---- what is told

    def _result(self, group: Group, files: NodeFiles | None, seconds: float) -> CaseResult:
        nodes = [self.model.nodes[at] for at in group]
        names = tuple(node.case.name for node in nodes)
        verdict = self.wrong[group]
        origin = ModelOrigin(self.file)
        case = Case(self._id(group), self._name(group), self.file, "", None, {}, origin=origin)
        first, *others = verdict.findings
        listed = ", ".join(names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        alone = "each right alone" if self.judged.issuperset(names) else "none of those judged is wrong alone"
        tensor = first.params.get("tensor", "an output")
        about = f"{listed}{more}: {alone}, and wrong together: {tensor}"
        diagnostics = tuple(map(origin.diagnostic, (first._replace(params={**first.params, "tensor": about}), *others)))
        operators = tuple(operator for name in names for operator in self.dml_operators.get(name, ()))
        together = Together(names, tuple(node.operator for node in nodes), operators)
        kept = ""
        part = self._part(nodes)
        if files is not None and part is not None:
            kept = files.write_group(FailedGroup(case.name, names, part.proto, part.inputs))
        return CaseResult(
            case, FAILED, "output mismatch", diagnostics, verdict.outputs, seconds, kept=kept, together=together
        )


def _is_same(one: Any, other: Any) -> bool:
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    return _is_alike(one, other) and one.tobytes() == other.tobytes()


def _is_alike(one: Any, other: Any) -> bool:
    return bool(one.dtype == other.dtype and one.shape == other.shape)
