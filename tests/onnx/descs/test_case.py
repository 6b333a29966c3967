"""An operator of DirectML with its values as a case, or why it takes none of them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.case import case_of
from dmlcheck.onnx.descs.node import Counterpart, Unmapped

X, Y = (TensorRef.of(np.array(values, np.float32)) for values in ([1, 4], [1, 2]))


def test_a_case_has_the_values_of_its_tensors() -> None:
    case = case_of(Counterpart("ELEMENT_WISE_SQRT", {"InputTensor": X, "OutputTensor": Y}, note="n"), source="s")
    assert case.desc.spec.operator == "DML_OPERATOR_ELEMENT_WISE_SQRT"
    assert {name: values.tolist() for name, values in case.inputs.items()} == {"InputTensor": [1, 4]}
    assert case.outputs is not None
    assert {name: values.tolist() for name, values in case.outputs.items()} == {"OutputTensor": [1, 2]}
    assert case.more == {"source": "s", "note": "n"}


def test_outputs_that_are_not_compared_are_left_out() -> None:
    found = Counterpart(
        "ELEMENT_WISE_SQRT", {"InputTensor": X, "OutputTensor": Y}, uncompared=frozenset({"OutputTensor"})
    )
    assert case_of(found).outputs == {}


def test_what_the_operator_does_not_take_is_refused() -> None:
    whole = TensorRef.of(np.array([1, 4], np.int32))
    with pytest.raises(Unmapped, match="DML_OPERATOR_ELEMENT_WISE_SQRT does not take it: InputTensor is INT32"):
        case_of(Counterpart("ELEMENT_WISE_SQRT", {"InputTensor": whole, "OutputTensor": whole}))
    zero = TensorRef.of(np.zeros(2, np.float32))
    fields = {"InputTensor": TensorRef.of(np.zeros(2, np.uint8)), "ScaleTensor": zero, "OutputTensor": zero}
    with pytest.raises(Unmapped, match="does not take it: ScaleTensor"):
        case_of(Counterpart("ELEMENT_WISE_DEQUANTIZE_LINEAR", {**fields, "ZeroPointTensor": fields["InputTensor"]}))
