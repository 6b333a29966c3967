"""A row of the families' tables: an operator of ONNX with its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck.graphs.tensors import Array
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode
from dmlcheck.validation.deviations import Unrun

Maker = Callable[[OnnxNode], list[Counterpart]]
Query = Callable[[OnnxNode], "str | None"]
Slack = Callable[[OnnxNode], "Mapping[int, Array]"]
OutputSizes = Callable[[Mapping[str, Any], int, Sequence[Any]], "tuple[int, ...] | None"]
Refusal = Callable[[OnnxNode], "RefusedNode | None"]
Rule = Callable[[OnnxNode, Array], "str | None"]

BY_SIZES = "DirectML computes nothing for it: the result follows from sizes, or is one of the inputs"
BY_SHADERS = "the DirectML provider computes it with shaders of its own: DirectML has no operator for it"


class Row(NamedTuple):
    """An operator of ONNX: the steps of its nodes, the provider's conditions, or the reason why there are no steps.

    `make` returns the steps of ONNX's meaning and of the provider. If the two differ, or only one is known, `exact`
    returns the steps of the meaning, for nodes whose values are all known, and `provider` the provider's. `query`
    returns why the provider leaves a node to others; registrations.yaml has the versions in which it asks. `refusal`
    returns why the provider refuses a node that it takes, though sizes may be unknown; `refusal_of_cpu` is the CPU's.
    `reason` is why no steps have the meaning, after the operator's name, and `elsewhere` why the provider has no
    descs. `remark` returns words about the results of a node, None if there is nothing to say, and `deviation` about
    those that the provider gets wrong on any device. `slack` returns how far ONNX lets implementations round the
    elements of some inputs before they compute. `outputs` is the most outputs of the steps, None if they check it
    themselves. `sizes` returns those of the first output where onnx may infer others than ONNX means, by the attributes
    of a node, its opset and the sizes of its inputs. `rule` returns the problem of the values of a node's first output,
    None if they are right; Unmapped if it cannot say. It takes the place of steps in verdicts.
    """

    make: Maker | None = None
    exact: Maker | None = None
    provider: Maker | None = None
    query: Query | None = None
    refusal: Refusal | None = None
    refusal_of_cpu: Refusal | None = None
    reason: str | None = None
    elsewhere: str | None = None
    remark: Query | None = None
    deviation: Query | None = None
    slack: Slack | None = None
    outputs: int | None = 1
    sizes: OutputSizes | None = None
    rule: Rule | None = None
    is_sized_by_inputs: bool = False  # the descs have no sizes of outputs
    leaves_out_empty: bool = False  # the descs leave out inputs that have no elements
    may_be_empty: int | None = None  # an input whose elements, if any, are not computed with
    is_kept: bool = False  # ONNX Runtime does not compute it at load, though all its inputs are constant
    last_opset: int | None = None  # in which onnxruntime has it, though ONNX has it no more
    is_on_cpu: bool = False  # its outputs are on the CPU, whoever computes them

    @property
    def is_mapped(self) -> bool:
        """Whether nodes of the operator become steps at all."""
        return any((self.make, self.exact, self.provider))


def not_taken(node: OnnxNode, what: str) -> str:
    """Return the reason why the provider does not take a node: `what` is the property that it refuses."""
    return f"the DirectML provider does not take {node.type} {what}"


def is_set(node: OnnxNode, *attributes: str) -> str | None:
    """Return the reason why the provider does not take a node in which one of some attributes is not 0; else None."""
    name = next((name for name in attributes if node.get(name, 0)), None)
    return None if name is None else not_taken(node, f"of {name} {node.get(name)}")


def unread(node: OnnxNode, *names: str) -> Unrun | None:
    """Return the deviation of a provider that reads neither of some attributes and inputs, None without any."""
    return Unrun(f"it does not read {' and '.join(names)} of {node.type}") if names else None


def is_given(node: OnnxNode, index: int) -> bool:
    """Whether an output is there, its type known or not."""
    return node.gives(index) or index in node.untyped


def check_sizes(node: OnnxNode, sizes: Sequence[int], help: str, inferred: Sequence[int] | None = None) -> None:
    """Refuse a node for whose output the provider computes other sizes than the model has.

    InferAndVerifyOutputSizes of MLOperatorAuthorImpl.cpp compares them when a session is created. `inferred` are those
    that ONNX Runtime infers, if they are not the output's.
    """
    own = node.output().shape if inferred is None else inferred
    if list(sizes) != list(own):
        raise RefusedNode(
            f"the DirectML provider computes the sizes {list(sizes)} for {node.type}, where ONNX Runtime infers"
            f" {list(own)}, and refuses it",
            help,
        )
