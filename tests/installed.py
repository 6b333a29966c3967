"""Rows of the kernels' tables that tests put in, and descs of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import bindings
from dmlcheck.reference.rows import Kernel

Array = np.ndarray[Any, Any]
Install = Callable[[str, Any], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return what makes a row the kernel of an operator, whether or not it has one."""
    rows: dict[str, Kernel] = {}

    def imported(name: str) -> Any:
        own = {} if name.endswith(".None") else import_module(name).KERNELS
        return SimpleNamespace(KERNELS={**own, **rows})

    def add(operator: str, row: Kernel) -> None:
        rows[operator] = row
        bindings.row.cache_clear()

    monkeypatch.setattr(bindings, "import_module", imported)
    bindings.row.cache_clear()
    yield add
    bindings.row.cache_clear()


def described(operator: str, **fields: Any) -> OperatorDesc:
    """Return a desc; a tensor is given as its data type and sizes."""

    def tensor(value: Any) -> Any:
        if isinstance(value, tuple):
            return {"DataType": value[0], "Sizes": list(value[1:])}
        return [tensor(part) for part in value] if isinstance(value, list) else value

    given = {name: tensor(value) for name, value in fields.items()}
    return valid(operator, given)


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


TOP_K: dict[str, Any] = {
    "InputTensor": ("FLOAT32", 2, 3),
    "OutputValueTensor": ("FLOAT32", 2, 2),
    "OutputIndexTensor": ("UINT32", 2, 2),
    "Axis": 1,
    "K": 2,
}
MAX_POOLING: dict[str, Any] = {
    "InputTensor": ("FLOAT32", 1, 1, 2, 2),
    "OutputTensor": ("FLOAT32", 1, 1, 2, 2),
    "Strides": [1, 1],
    "WindowSize": [1, 1],
    "StartPadding": [0, 0],
    "EndPadding": [0, 0],
    "Dilations": [1, 1],
}
GEMM: dict[str, Any] = {
    "ATensor": ("FLOAT32", 1, 1, 2, 2),
    "BTensor": ("FLOAT32", 1, 1, 2, 2),
    "OutputTensor": ("FLOAT32", 1, 1, 2, 2),
    "TransA": "NONE",
    "TransB": "TRANSPOSE",
    "Alpha": 0.1,
    "Beta": 1,
}
