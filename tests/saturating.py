"""Whether ONNX Runtime's products of UINT8 and INT8 are wrong here: without VNNI it adds pairs in 16 bits."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

OF_8_BITS = ("matrix_multiply_integer", "quantized_linear_convolution", "quantized_linear_matrix_multiply")  # in ids


@cache
def saturates() -> bool:
    """Whether the sum of four products of 255 and 127 is not what it should be on this processor."""
    types = {"a": (TensorProto.UINT8, [1, 4]), "b": (TensorProto.INT8, [4, 1])}
    inputs = [helper.make_tensor_value_info(name, *of) for name, of in types.items()]
    output = helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["a", "b"], ["y"])], "products", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    values = {"a": np.full((1, 4), 255, np.uint8), "b": np.full((4, 1), 127, np.int8)}
    return int(session.run(None, values)[0].item()) != 4 * 255 * 127
