"""The reference engine as an implementation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck import __version__
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations.reference import Reference


def described(operator: str, fields: dict[str, Any]) -> OperatorDesc:
    desc = read_desc(operator, fields).desc
    assert desc is not None
    return desc


TENSOR = {"DataType": "FLOAT16", "Sizes": [2]}


def test_it_computes_what_has_a_kernel() -> None:
    desc = described("ACTIVATION_RELU", {"InputTensor": TENSOR, "OutputTensor": TENSOR})
    assert Reference().unsupported(desc) is None
    found = Reference().run(desc, {"InputTensor": np.array([-1, 3], np.float16)})
    assert found.keys() == {"OutputTensor"}
    assert found["OutputTensor"].dtype == np.float16
    assert found["OutputTensor"].tolist() == [0, 3]


def test_it_says_which_version_it_is_and_what_it_runs_on() -> None:
    assert Reference().about == (__version__, f"NumPy {np.__version__}", "")
    assert Reference().name == "reference"
