"""An operator of DirectML with its values as a case, or why it takes none of them."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.case import case_of
from dmlcheck.onnx.descs.node import Counterpart, Unmapped


def test_what_the_operator_does_not_take_is_refused() -> None:
    whole = TensorRef.of(np.array([1, 4], np.int32))
    with pytest.raises(Unmapped, match="DML_OPERATOR_ELEMENT_WISE_SQRT does not take it: InputTensor is INT32"):
        case_of(Counterpart("ELEMENT_WISE_SQRT", {"InputTensor": whole, "OutputTensor": whole}))
    zero = TensorRef.of(np.zeros(2, np.float32))
    fields = {"InputTensor": TensorRef.of(np.zeros(2, np.uint8)), "ScaleTensor": zero, "OutputTensor": zero}
    with pytest.raises(Unmapped, match="does not take it: ScaleTensor"):
        case_of(Counterpart("ELEMENT_WISE_DEQUANTIZE_LINEAR", {**fields, "ZeroPointTensor": fields["InputTensor"]}))
