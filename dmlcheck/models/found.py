"""The models among the findings of a folder: each runs after the folder's cases, on the inputs next to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dmlcheck.formats.find import Target, inputs_file_of
from dmlcheck.implementations.protocol import Adapted
from dmlcheck.models.cases import Loaded, ModelRequest, node_cases
from dmlcheck.models.reference_nodes import ReferenceNodes, Uncomputed
from dmlcheck.models.run import ModelExecution, implementation_of
from dmlcheck.running.events import Ended, Event, Plan
from dmlcheck.running.execution import Execution


class ReferenceModels(Adapted):
    """The reference engine as an implementation that runs models, node by node."""

    def run_model(self, model: bytes, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        """Return tensors of a model; ValueError for a node that is not computed."""
        import onnx

        proto = onnx.load_from_string(model)
        constants = {tensor.name: tensor for tensor in proto.graph.initializer}
        nodes = ReferenceNodes(Loaded(proto, constants, node_cases(proto, "", constants), inputs), keep)
        problems = [found.reason for _, found in nodes.nodes() if isinstance(found, Uncomputed)]
        if problems:
            raise ValueError(problems[0])
        return {name: nodes.value(name) for name in keep}


class WithModels:
    """The run of cases, and then of models, each node by node and with its nodes together."""

    def __init__(self, cases: Execution, models: list[Target], plan: Plan) -> None:
        made = implementation_of(plan, is_whole=False)
        self.implementation = ReferenceModels(made) if plan.implementation == "reference" else made
        self.cases = cases
        self.models = [self._model(target, plan) for target in models]
        self._now: ModelExecution | None = None

    def _model(self, target: Target, plan: Plan) -> ModelExecution:
        asked = ModelRequest(inputs=inputs_file_of(target.file), is_bisecting=True)
        return ModelExecution(target, plan, asked, implementation=self.implementation)

    @property
    def total(self) -> int:
        """The number of cases of the run; nodes and outputs of models are cases."""
        return self.cases.total + sum(model.total for model in self.models)

    def events(self) -> Iterator[Event]:
        """Yield the events of the cases, then those of each model."""
        try:
            yield from self.cases.events()
            for model in self.models:
                self._now = model
                for event in model.events():
                    yield event._replace(bisected=None) if isinstance(event, Ended) else event
        finally:
            self.implementation.close()

    def slowest(self) -> tuple[str, float] | None:
        """Return the case or node that has run longest, and for how many seconds."""
        return self.cases.slowest() if self._now is None else self._now.slowest()
