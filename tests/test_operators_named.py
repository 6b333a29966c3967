"""Facts about operators stand in their specs and in the rows of their kernels: another module needs a reason."""

from __future__ import annotations

import ast
import re

import pytest
from source_trees import trees

from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import short_operator

# Where a name of an operator is the matter itself, by module or folder.
REASONS = {
    "cli/": "examples in the help of a command",
    "comparison/known_faults.py": "ARGMAX and ARGMIN are values of REDUCE's Function",
    "descs/fields.py": "examples in messages",
    "drawing/draft.py": "a desc for each operator that another one may hold",
    "drawing/values.py": "what asks for NaN and infinity gets them, and numbers of quantization are told by its name",
    "formats/dxdispatch/exporter.py": "what DxDispatch lacks",
    "formats/webnn/": "operators of WebNN as operators of DirectML",
    "onnx/descs/": "nodes of ONNX as ONNX Runtime's DirectML provider makes operators of them",
    "onnx/export/": "operators of DirectML as nodes of ONNX",
    "onnx/model/input_uses.py": "ONNX has a GRU, an LSTM and an RNN, too",
    "onnx/operators/": "nodes of ONNX as operators of DirectML",
    "reference/kernels/": "the rows themselves",
    "reports/site/pictures/": "the drawing of an operator's example",
    "specs/": "the specs themselves",
}


def named_in(tree: ast.Module) -> set[str]:
    """Return the operators that the strings of a module name, but for its docstrings."""
    told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and n not in told]
    words = {word for text in strings if isinstance(text, str) for word in re.findall(r"[A-Z][A-Z0-9_]+", text)}
    return words & NAMES


NAMES = {name for operator in operator_names() for name in (operator, short_operator(operator))}


@pytest.mark.slow
def test_no_other_module_names_an_operator() -> None:
    naming = {module for module, tree in trees().items() if named_in(tree)}
    assert sorted(module for module in naming if not module.startswith(tuple(REASONS))) == []
    assert [reason for reason in REASONS if not any(module.startswith(reason) for module in naming)] == []
