"""What several operators of ONNX ask of a desc."""

from __future__ import annotations

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import FLOATS, positive, require_type


def test_a_type_that_an_operator_lacks_is_named_with_it() -> None:
    require_type("Elu", GraphValue("x", "FLOAT16", (2,)), FLOATS)
    with pytest.raises(Inexpressible, match=r"^ONNX's Elu has no INT8$"):
        require_type("Elu", GraphValue("x", "INT8", (2,)), FLOATS)


def test_numbers_that_onnx_wants_to_be_positive_are_not_0() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}
    fields = {"InputTensor": tensor, "OutputTensor": tensor, "Strides": [1, 2], "WindowSize": [0, 1]}
    desc = read_desc("AVERAGE_POOLING", fields | {"StartPadding": [0, 0], "EndPadding": [0, 0]}).desc
    assert desc is not None
    assert positive(desc, "Strides") == [1, 2]
    with pytest.raises(Inexpressible, match=r"^WindowSize has a 0$"):
        positive(desc, "WindowSize")
