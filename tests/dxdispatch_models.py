"""A small DxDispatch model for tests, and what is wrong with others."""

from __future__ import annotations

import json
from typing import Any

from dmlcheck.files import yaml
from dmlcheck.formats.dxdispatch.model import DxModel
from dmlcheck.formats.dxdispatch.read import read_model

DESC = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 3]},
    "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3]},
    "Axes": [0],
    "AxisDirection": "INCREASING",
}
RESOURCES = {
    "in": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
    "out": {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 3, "value": 0}},
}
ARGMAX = {"type": "DML_OPERATOR_ARGMAX", "desc": DESC}
DISPATCH = {"type": "dispatch", "dispatchable": "argmax", "bindings": {"InputTensor": "in", "OutputTensor": "out"}}
# As the DxDispatch guide writes models: comments, trailing commas, names of any kind.
TEXT = """\
{
    "$schema": "./_schema.json",
    // What is read and written.
    "resources": {
        "in": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
        "out": {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 3, "value": 0}}, /* zeros */
    },
    "dispatchables": {
        "the first": {
            "type": "DML_OPERATOR_ARGMAX",
            "desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 3]},
                "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3]},
                "Axes": [0],
                "AxisDirection": "INCREASING",
            },
            "dmlCompileType": "DmlCompileOp",
        },
        "shader": {"type": "HLSL", "sourcePath": "shader.hlsl"},
    },
    "commands": [
        {"type": "dispatch", "dispatchable": "the first", "bindings": {"InputTensor": "in", "OutputTensor": "out"}},
        {"type": "Print", "resource": "out"},
        {"type": "writeFile", "resource": "out", "targetPath": "out.npy", "dimensions": [1, 3]},
    ],
}
"""


def model_of(**parts: Any) -> DxModel:
    """Read the good model with some of its sections replaced."""
    sections = {"resources": RESOURCES, "dispatchables": {"argmax": ARGMAX}, "commands": [DISPATCH], **parts}
    return read_model(yaml.parse(json.dumps(sections).encode(), "folder/model.json", is_json=True))


def problems_of(model: DxModel) -> list[tuple[str, str | None]]:
    """Return the rule and the pointer of everything that is wrong with a model."""
    return [(problem.rule, problem.pointer) for problem in model.problems]
