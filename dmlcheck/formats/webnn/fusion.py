"""Fusion of a test into one operator of DirectML: Chromium fuses activations and transposes into their neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dmlcheck.diagnostics.wording import cut, visible
from dmlcheck.formats.webnn.graph import GraphTest, Operand, WebnnOperator
from dmlcheck.formats.webnn.operators.elementwise import FUSED
from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.formats.webnn.operators.table import OF_SEVERAL, OPERATORS
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

_FLOATS = ("FLOAT32", "FLOAT16")
_MOST_NAME = 60  # characters
_MOST_NAMED = 10  # operators


def counterpart_call(test: GraphTest) -> tuple[WebnnRow, Call]:
    """Return the operator of a test after fusion; Unmapped if several are left, or Chromium does not map it."""
    for operator in test.operators:
        if operator.name in OF_SEVERAL:
            raise Unmapped(
                f"{operator.name} becomes {' and '.join(OF_SEVERAL[operator.name])}, and a case has one operator"
            )
        if operator.name not in OPERATORS:
            raise Unmapped(f"no operator of DirectML is known for {_shown(operator.name)}")
    uses = Counter([*(name for one in test.operators for name in _read(one)), *test.expected])
    operators = list(test.operators)
    activation = _take_activation(operators, uses, test)
    swapped = _take_transposes(operators, uses)
    if len(operators) != 1:
        names = [_shown(one.name) for one in operators[:_MOST_NAMED]]
        more = "" if len(operators) <= _MOST_NAMED else " ..."
        left = f"{len(operators)} operators are left after fusion"
        raise Unmapped(f"{left}, and a case has one: {', '.join(names)}{more}")
    return _call(test, operators[0], activation, swapped)


def _read(operator: WebnnOperator) -> Iterator[str]:
    """Yield the names of the tensors that an operator reads."""
    for value in (*operator.given, *operator.options.values()):
        yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, Operand))


def _take_activation(operators: list[WebnnOperator], uses: Mapping[str, int], test: GraphTest) -> dict[str, Any] | None:
    """Remove an activation that follows the operator before it, and return its fields."""
    if len(operators) < 2:
        return None
    base, last = operators[-2:]
    is_next = last.name in FUSED and last.given == (*base.outputs,) and uses[base.outputs[0]] == 1
    if not is_next or not OPERATORS[base.name].takes_activation or not _is_float(test, last):
        return None
    operator, fields = FUSED[last.name]
    operators[-2:] = [base._replace(outputs=last.outputs)]
    return {"Type": operator, **fields(Call(last.name, last.options, ()))}


def _is_float(test: GraphTest, operator: WebnnOperator) -> bool:
    return all(test.expected[name].data_type in _FLOATS for name in operator.outputs if name in test.expected)


def _take_transposes(operators: list[WebnnOperator], uses: Mapping[str, int]) -> dict[str, str]:
    """Remove transposes of the last two dimensions before a matmul; return their inputs by their outputs."""
    last = operators[-1] if operators else None
    if last is None or last.name != "matmul":
        return {}
    taken = {}
    for operator in operators[:-1]:
        order = operator.options.get("permutation")
        is_read = operator.name == "transpose" and operator.outputs[0] in last.given and uses[operator.outputs[0]] == 1
        if is_read and len(operator.outputs) == len(operator.given) == 1 and _swaps_last(order):
            taken[operator.outputs[0]] = str(operator.given[0])
    operators[:] = [one for one in operators if one.outputs[:1] == () or one.outputs[0] not in taken]
    return taken


def _swaps_last(order: Any) -> bool:
    if not isinstance(order, list) or len(order) < 2:
        return False
    rank = len(order)
    return order == [*range(rank - 2), rank - 1, rank - 2]


def _call(
    test: GraphTest, operator: WebnnOperator, activation: dict[str, Any] | None, swapped: Mapping[str, str]
) -> tuple[WebnnRow, Call]:
    row = OPERATORS[operator.name]
    if len(operator.given) > len(row.arguments):
        raise Unmapped(f"{operator.name} is called with {len(operator.given)} arguments, and has {len(row.arguments)}")
    named = dict(zip(row.arguments, operator.given, strict=False))
    transposed = frozenset(name for name, value in named.items() if isinstance(value, str) and value in swapped)
    given = {name: _bound(test, value, swapped) for name, value in {**named, **operator.options}.items()}
    missing = next((name for name in operator.outputs if name not in test.expected), None)
    if missing is not None or not operator.outputs:
        raise Unmapped(f"no values are expected of {_shown(missing or 'the output')}")
    outputs = tuple(test.expected[name] for name in operator.outputs)
    return row, Call(operator.name, given, outputs, activation, transposed)


def _bound(test: GraphTest, value: Any, swapped: Mapping[str, str]) -> Any:
    """Return an operator's argument, with tensors in place of their names."""
    if isinstance(value, list):
        return [_bound(test, one, swapped) for one in value]
    if not isinstance(value, Operand):
        return value
    name = swapped.get(value, str(value))
    tensor: TensorRef | None = test.inputs.get(name)
    if tensor is None:
        raise Unmapped(f"{_shown(name)} is no input of the test")
    return tensor


def _shown(name: str) -> str:
    return cut(visible(name), _MOST_NAME)
