"""The descs that ONNX Runtime's DirectML provider makes: operator, sizes and fields as its source has them.

Each row is worked out from DmlOperator<Name>.cpp and the helper of that name in OperatorHelper.cpp, release 1.24.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx_nodes import four_bits, node, zeros
from provider_descs import Made, Sized, differences

from dmlcheck.onnx.descs.node import OnnxNode

X = zeros(3, 4)
BYTES = zeros(3, 4, dtype="uint8")
IMAGE = zeros(2, 3, 8, 6)
SIGNAL = zeros(2, 3, 9)
LARGEST = 3.4028235e38  # of FLOAT32
SCALED = {"QuantizationType": "SCALE"}
POINTED = {"QuantizationType": "SCALE_ZERO_POINT"}


def numbers(*values: float, dtype: str = "int64") -> Any:
    return np.array(values, dtype)


def both(sizes: tuple[int, ...]) -> dict[str, Any]:
    return {"InputTensor": sizes, "OutputTensor": sizes}


ROWS: dict[str, tuple[OnnxNode, list[Made]]] = {
    # ---- element by element
    "an element-wise operator has four dimensions": (
        node("Add", [X, zeros(4)], X),
        [("ELEMENT_WISE_ADD", {"ATensor": (1, 1, 3, 4), "BTensor": Sized((1, 1, 3, 4), None, (0, 0, 0, 1)),
                               "OutputTensor": (1, 1, 3, 4)}, {})],
    ),
    "the magnitude of what has no sign is a copy": (
        node("Abs", [zeros(4, dtype="uint8")], zeros(4, dtype="uint8")),
        [("ELEMENT_WISE_IDENTITY", both((1, 1, 1, 4)), {})],
    ),
    "Clip before opset 11 has FLOAT32 limits": (
        node("Clip", [zeros(4, dtype="float16")], zeros(4, dtype="float16"), opset=10),
        [("ELEMENT_WISE_CLIP", both((1, 1, 1, 4)), {"Min": -LARGEST, "Max": LARGEST})],
    ),
    "Clip of INT64 has not the least number": (
        node("Clip", [zeros(4, dtype="int64")], zeros(4, dtype="int64")),
        [("ELEMENT_WISE_CLIP1", both((1, 1, 1, 4)),
          {"MinMaxDataType": "INT64", "Min": 1 - 2**63, "Max": 2**63 - 1})],
    ),
    "Clip of INT8 has all numbers": (
        node("Clip", [zeros(4, dtype="int8")], zeros(4, dtype="int8")),
        [("ELEMENT_WISE_CLIP1", both((1, 1, 1, 4)), {"MinMaxDataType": "INT8", "Min": -128, "Max": 127})],
    ),
    "IsInf that finds neither finds either": (
        node("IsInf", [X], zeros(3, 4, dtype="bool"), detect_negative=0, detect_positive=0),
        [("ELEMENT_WISE_IS_INFINITY", both((1, 1, 3, 4)), {"InfinityMode": "EITHER"})],
    ),
    "Cast to truth values is clipped": (
        node("Cast", [X], zeros(3, 4, dtype="bool")),
        [("CAST", both((1, 1, 3, 4)), {}),
         ("ELEMENT_WISE_CLIP1", both((1, 1, 3, 4)), {"MinMaxDataType": "UINT8", "Min": 0, "Max": 1})],
    ),
    "scales before opset 21 repeat along their axis": (
        node("QuantizeLinear", [SIGNAL, zeros(3)], zeros(2, 3, 9, dtype="int8"), opset=19, axis=1),
        [("ELEMENT_WISE_QUANTIZE_LINEAR",
          {**both((1, 2, 3, 9)), "ScaleTensor": Sized((1, 2, 3, 9), None, (0, 0, 1, 0))}, {})],
    ),
    "scales of onnxruntime's own operator are along axis 0": (
        node("com.microsoft.DequantizeLinear", [zeros(3, 4, dtype="int8"), zeros(3)], X),
        [("ELEMENT_WISE_DEQUANTIZE_LINEAR",
          {**both((1, 1, 3, 4)), "ScaleTensor": Sized((1, 1, 3, 4), None, (0, 0, 1, 0))}, {})],
    ),
    "signed numbers need no zero point from opset 21 on": (
        node("QuantizeLinear", [X, zeros()], zeros(3, 4, dtype="int8"), opset=21),
        [("QUANTIZE", {**both((1, 1, 3, 4)), "QuantizationTensors": [Sized((1, 1, 3, 4), None, (0, 0, 0, 0))]},
          SCALED)],
    ),
    "unsigned numbers have a zero point of 0 from opset 21 on": (
        node("DequantizeLinear", [four_bits(zeros(3, 4, dtype="uint8"), "UINT4"), zeros(4)], X, opset=21, axis=-1),
        [("FILL_VALUE_CONSTANT", {"OutputTensor": Sized((1, 1, 1, 1), "UINT8")},
          {"ValueDataType": "UINT8", "Value": 0}),
         ("DEQUANTIZE", {**both((1, 1, 3, 4)), "QuantizationTensors": [
             Sized((1, 1, 3, 4), "FLOAT32", (0, 0, 0, 1)), Sized((1, 1, 3, 4), "UINT4", (0, 0, 0, 0))]}, POINTED)],
    ),
    "a zero point that is there is used": (
        node("DequantizeLinear", [zeros(3, 4, dtype="uint8"), zeros(), zeros(dtype="uint8")], X, opset=21),
        [("DEQUANTIZE", {**both((1, 1, 3, 4)), "QuantizationTensors": [
            Sized((1, 1, 3, 4), "FLOAT32", (0, 0, 0, 0)), Sized((1, 1, 3, 4), "UINT8", (0, 0, 0, 0))]}, POINTED)],
    ),
    "a constant exponent is a field": (
        node("Pow", [X, numbers(3, dtype="float32")], X),
        [("ELEMENT_WISE_CONSTANT_POW", both((1, 1, 3, 4)), {"Exponent": 3})],
    ),
    "more than two inputs are combined one by one": (
        node("Max", [X, zeros(4), X], X),
        [("ELEMENT_WISE_MAX", {"ATensor": (1, 1, 3, 4), "BTensor": Sized((1, 1, 3, 4), None, (0, 0, 0, 1)),
                               "OutputTensor": (1, 1, 3, 4)}, {}),
         ("ELEMENT_WISE_MAX", dict.fromkeys(["ATensor", "BTensor", "OutputTensor"], (1, 1, 3, 4)), {})],
    ),
    "the sign of a remainder goes by fmod": (
        node("Mod", [X, X], X, fmod=1),
        [("ELEMENT_WISE_MODULUS_TRUNCATE", dict.fromkeys(["ATensor", "BTensor", "OutputTensor"], (1, 1, 3, 4)), {})],
    ),
    "Dropout is a copy": (node("Dropout", [X], X), [("ACTIVATION_IDENTITY", both((1, 1, 3, 4)), {})]),
    # ---- made from numbers
    "ones on a diagonal are DIAGONAL_MATRIX": (
        node("EyeLike", [X], X, k=1),
        [("DIAGONAL_MATRIX", {"OutputTensor": (1, 1, 3, 4)}, {"Offset": 1, "Value": 1})],
    ),
    "a constant has four dimensions": (
        node("ConstantOfShape", [numbers(5)], zeros(5), value=numbers(7, dtype="float32")),
        [("FILL_VALUE_CONSTANT", {"OutputTensor": (1, 1, 1, 5)}, {"ValueDataType": "FLOAT32", "Value": 7})],
    ),
    # ---- by indices
    "ScatterND keeps the largest number of dimensions": (
        node("ScatterND", [X, zeros(2, 1, dtype="int64"), zeros(2, 4)], X),
        [("SCATTER_ND", {**both((3, 4)), "IndicesTensor": (2, 1), "UpdatesTensor": (2, 4)},
          {"InputDimensionCount": 2, "IndicesDimensionCount": 2})],
    ),
    "the values of OneHot have as many dimensions as the others, as the page asks": (
        node("OneHot", [zeros(5, dtype="int64"), numbers(3), zeros(2)], zeros(5, 3)),
        [("ONE_HOT", {"IndicesTensor": (5, 1), "ValuesTensor": (1, 2), "OutputTensor": (5, 3)}, {"Axis": 1})],
    ),
    "TopK is sorted also where it need not be": (
        node("TopK", [X, numbers(2)], zeros(3, 2), zeros(3, 2, dtype="int64"), sorted=0),
        [("TOP_K1", {"InputTensor": (1, 1, 3, 4), "OutputValueTensor": (1, 1, 3, 2),
                     "OutputIndexTensor": Sized((1, 1, 3, 2), "UINT64")},
          {"Axis": 3, "K": 2, "AxisDirection": "DECREASING"})],
    ),
    "the coordinates of NonZero lie as columns of INT64": (
        node("NonZero", [X], None),
        [("NONZERO_COORDINATES", {"InputTensor": (3, 4), "OutputCountTensor": (1,),
                                  "OutputCoordinatesTensor": Sized((12, 2), "UINT32", (2, 24))}, {})],
    ),
    "the lengths of ReverseSequence have the input's sizes": (
        node("ReverseSequence", [zeros(7, 2, 5), zeros(2, dtype="int64")], zeros(7, 2, 5), batch_axis=1, time_axis=0),
        [("REVERSE_SUBSEQUENCES", {**both((1, 7, 2, 5)), "SequenceLengthsTensor": Sized((1, 1, 2, 5), "UINT64")},
          {"Axis": 1})],
    ),
    "ScatterElements of no updates is a copy": (
        node("ScatterElements", [X, zeros(0, 4, dtype="int64"), zeros(0, 4)], X),
        [("ELEMENT_WISE_IDENTITY", both((1, 1, 3, 4)), {})],
    ),
    "Concat has no parts without elements": (
        node("Concat", [X, zeros(3, 0), zeros(3, 2)], zeros(3, 6), axis=1),
        [("JOIN", {"InputTensors": [(1, 1, 3, 4), (1, 1, 3, 2)], "OutputTensor": (1, 1, 3, 6)}, {"Axis": 3})],
    ),
    # ---- moved
    "SpaceToDepth is the older operator": (
        node("SpaceToDepth", [zeros(1, 1, 4, 4)], zeros(1, 4, 2, 2), blocksize=2),
        [("SPACE_TO_DEPTH", {"InputTensor": (1, 1, 4, 4), "OutputTensor": (1, 4, 2, 2)}, {"BlockSize": 2})],
    ),
    "DepthToSpace has its order": (
        node("DepthToSpace", [zeros(1, 4, 2, 2)], zeros(1, 1, 4, 4), blocksize=2),
        [("DEPTH_TO_SPACE1", {"InputTensor": (1, 4, 2, 2), "OutputTensor": (1, 1, 4, 4)},
          {"BlockSize": 2, "Order": "DEPTH_COLUMN_ROW"})],
    ),
    # ---- along axes
    "a reduction along no axes has none": (
        node("ReduceL2", [X], X, opset=18, noop_with_empty_axes=1),
        [("REDUCE", both((3, 4)), {"Function": "L2", "Axes": []})],
    ),
    "Softmax before opset 13 has all axes from one on": (
        node("Softmax", [SIGNAL], SIGNAL, opset=11, axis=1),
        [("ACTIVATION_SOFTMAX1", both((1, 2, 3, 9)), {"Axes": [2, 3]})],
    ),
    # ---- normalizations
    "BatchNormalization has new dimensions last": (
        node("BatchNormalization", [SIGNAL, *[zeros(3)] * 4], SIGNAL, epsilon=0.5),
        [("BATCH_NORMALIZATION",
          {**both((2, 3, 9, 1)), **dict.fromkeys(["ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor"],
                                                (1, 3, 1, 1))},
          {"Spatial": 1, "Epsilon": 0.5})],
    ),
    "BatchNormalization by element": (
        node("BatchNormalization", [SIGNAL, *[zeros(3, 9)] * 4], SIGNAL, opset=7, spatial=0, epsilon=0.5),
        [("BATCH_NORMALIZATION",
          {**both((2, 3, 9, 1)), **dict.fromkeys(["ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor"],
                                                (1, 3, 9, 1))},
          {"Spatial": 0, "Epsilon": 0.5})],
    ),
    "InstanceNormalization has new dimensions last, among its axes": (
        node("InstanceNormalization", [SIGNAL, zeros(3), zeros(3)], SIGNAL, epsilon=0.5),
        [("MEAN_VARIANCE_NORMALIZATION1",
          {**both((2, 3, 9, 1)), "ScaleTensor": (1, 3, 1, 1), "BiasTensor": (1, 3, 1, 1)},
          {"Axes": [2, 3], "NormalizeVariance": 1, "Epsilon": 0.5})],
    ),
    "LayerNormalization has new dimensions last, among its axes": (
        node("LayerNormalization", [SIGNAL, zeros(9), zeros(9)], SIGNAL, epsilon=0.5),
        [("MEAN_VARIANCE_NORMALIZATION2",
          {**both((2, 3, 9, 1)), "ScaleTensor": (1, 1, 9, 1), "BiasTensor": (1, 1, 9, 1)},
          {"Axes": [2, 3], "UseMean": 1, "UseVariance": 1, "Epsilon": 0.5})],
    ),
    "LayerNormalization of FLOAT16 with other factors is in FLOAT32": (
        node("LayerNormalization", [X.astype("float16"), zeros(4)], X, epsilon=0.5),
        [("CAST", {"InputTensor": Sized((3, 4, 1, 1), "FLOAT16"), "OutputTensor": Sized((3, 4, 1, 1), "FLOAT32")}, {}),
         ("MEAN_VARIANCE_NORMALIZATION2",
          {"InputTensor": Sized((3, 4, 1, 1), "FLOAT32"), "ScaleTensor": (1, 4, 1, 1), "OutputTensor": (3, 4, 1, 1)},
          {"Axes": [1, 2, 3], "UseMean": 1, "UseVariance": 1, "Epsilon": 0.5})],
    ),
    "LayerNormalization with factors of FLOAT16 is in FLOAT32": (
        node("LayerNormalization", [X, zeros(4, dtype="float16")], zeros(3, 4, dtype="float16"), epsilon=0.5),
        [("CAST", {"InputTensor": Sized((1, 4, 1, 1), "FLOAT16"), "OutputTensor": Sized((1, 4, 1, 1), "FLOAT32")}, {}),
         ("MEAN_VARIANCE_NORMALIZATION2",
          {**both((3, 4, 1, 1)), "ScaleTensor": Sized((1, 4, 1, 1), "FLOAT32")},
          {"Axes": [1, 2, 3], "UseMean": 1, "UseVariance": 1, "Epsilon": 0.5}),
         ("CAST", {"InputTensor": Sized((3, 4, 1, 1), "FLOAT32"), "OutputTensor": Sized((3, 4, 1, 1), "FLOAT16")}, {})],
    ),
    "LpNormalization has a small number": (
        node("LpNormalization", [X], X, p=1),
        [("LP_NORMALIZATION", both((1, 1, 3, 4)), {"Axis": 3, "Epsilon": 1e-5, "P": 1})],
    ),
    "MeanVarianceNormalization across channels has all axes": (
        node("MeanVarianceNormalization", [IMAGE], IMAGE, opset=8, across_channels=1, normalize_variance=0),
        [("MEAN_VARIANCE_NORMALIZATION1", both((2, 3, 8, 6)),
          {"Axes": [0, 1, 2, 3], "NormalizeVariance": 0, "Epsilon": 1e-5})],
    ),
    # ---- quantized operators
    "a quantized product has scales of rows and of columns": (
        node("QLinearMatMul",
             [BYTES, zeros(3), zeros(3, dtype="uint8"), zeros(4, 5, dtype="uint8"), zeros(5), zeros(5, dtype="uint8"),
              zeros(), zeros(dtype="uint8")], zeros(3, 5, dtype="uint8")),
        [("QUANTIZED_LINEAR_MATRIX_MULTIPLY",
          {"ATensor": (1, 1, 3, 4), "AScaleTensor": (1, 1, 3, 1), "AZeroPointTensor": (1, 1, 3, 1),
           "BTensor": (1, 1, 4, 5), "BScaleTensor": (1, 1, 1, 5), "BZeroPointTensor": (1, 1, 1, 5),
           "OutputScaleTensor": (1, 1, 1, 1), "OutputZeroPointTensor": (1, 1, 1, 1), "OutputTensor": (1, 1, 3, 5)},
          {})],
    ),
    "a product of integers to floats has a bias of its output's sizes": (
        node("com.microsoft.MatMulIntegerToFloat",
             [BYTES, zeros(4, 5, dtype="uint8"), zeros(), zeros(5), zeros(dtype="uint8"), None, zeros(5)], zeros(3, 5)),
        [("MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
          {"ATensor": (1, 1, 3, 4), "AScaleTensor": (1, 1, 1, 1), "AZeroPointTensor": (1, 1, 1, 1),
           "BTensor": (1, 1, 4, 5), "BScaleTensor": (1, 1, 1, 5),
           "BiasTensor": Sized((1, 1, 3, 5), None, (0, 0, 0, 1)), "OutputTensor": (1, 1, 3, 5)}, {})],
    ),
    "a quantized convolution has scales of channels": (
        node("QLinearConv",
             [zeros(2, 3, 9, dtype="uint8"), zeros(), zeros(dtype="uint8"), zeros(4, 3, 3, dtype="uint8"), zeros(4),
              zeros(4, dtype="uint8"), zeros(), zeros(dtype="uint8"), zeros(4, dtype="int32")],
             zeros(2, 4, 7, dtype="uint8")),
        [("QUANTIZED_LINEAR_CONVOLUTION",
          {"InputTensor": (2, 3, 1, 9), "InputScaleTensor": (1, 1, 1, 1), "InputZeroPointTensor": (1, 1, 1, 1),
           "FilterTensor": (4, 3, 1, 3), "FilterScaleTensor": (1, 4, 1, 1), "FilterZeroPointTensor": (1, 4, 1, 1),
           "BiasTensor": (1, 4, 1, 1), "OutputScaleTensor": (1, 1, 1, 1), "OutputZeroPointTensor": (1, 1, 1, 1),
           "OutputTensor": (2, 4, 1, 7)},
          {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0], "GroupCount": 1})],
    ),
    "a quantized sum repeats its addends": (
        node("com.microsoft.QLinearAdd",
             [BYTES, zeros(), zeros(dtype="uint8"), zeros(4, dtype="uint8"), zeros(), None, zeros(), None], BYTES),
        [("ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
          {"ATensor": (1, 1, 3, 4), "BTensor": Sized((1, 1, 3, 4), "UINT8", (0, 0, 0, 1)), "OutputTensor": (1, 1, 3, 4),
           **dict.fromkeys(["AScaleTensor", "AZeroPointTensor", "BScaleTensor", "OutputScaleTensor"], (1, 1, 1, 1))},
          {})],
    ),
    "a quantized average has new dimensions first": (
        node("com.microsoft.QLinearAveragePool",
             [zeros(2, 3, 9, dtype="uint8"), zeros(), zeros(dtype="uint8"), zeros(), zeros(dtype="uint8")],
             zeros(2, 3, 7, dtype="uint8"), kernel_shape=[3]),
        [("QUANTIZED_LINEAR_AVERAGE_POOLING",
          {"InputTensor": (1, 2, 3, 9), "OutputTensor": (1, 2, 3, 7),
           **dict.fromkeys(["InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor"],
                           (1, 1, 1, 1))},
          {"WindowSize": [1, 3], "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
           "IncludePadding": 0})],
    ),
    # ---- recurrent networks
    "clip is only for LSTM, and a softplus has no steepness": (
        node("GRU", [zeros(7, 2, 5), zeros(1, 9, 5), zeros(1, 9, 3), zeros(1, 18), zeros(2, dtype="int32"),
                     zeros(1, 2, 3)],
             zeros(7, 1, 2, 3), zeros(1, 2, 3), hidden_size=3, clip=0.5, activations=["Softplus", "HardSigmoid"],
             activation_alpha=[0.25]),
        [("GRU",
          {"InputTensor": (1, 7, 2, 5), "WeightTensor": (1, 1, 9, 5), "RecurrenceTensor": (1, 1, 9, 3),
           "BiasTensor": (1, 1, 1, 18), "SequenceLengthsTensor": Sized((1, 1, 1, 2), "UINT32"),
           "HiddenInitTensor": (1, 1, 2, 3), "OutputSequenceTensor": (7, 1, 2, 3), "OutputSingleTensor": (1, 1, 2, 3)},
          {"Direction": "FORWARD", "LinearBeforeReset": False,
           "ActivationDescs": [{"Type": "ACTIVATION_SOFTPLUS", "Steepness": 0},
                               {"Type": "ACTIVATION_HARD_SIGMOID", "Alpha": 0.25, "Beta": 0.5}]})],
    ),
    "LSTM is clipped": (
        node("LSTM", [zeros(7, 2, 5), zeros(2, 12, 5), zeros(2, 12, 3)], zeros(7, 2, 2, 3), hidden_size=3, clip=0.5,
             direction="bidirectional"),
        [("LSTM",
          {"InputTensor": (1, 7, 2, 5), "WeightTensor": (1, 2, 12, 5), "RecurrenceTensor": (1, 2, 12, 3),
           "OutputSequenceTensor": (7, 2, 2, 3)},
          {"Direction": "BIDIRECTIONAL", "ClipThreshold": 0.5, "UseClipThreshold": True, "CoupleInputForget": False,
           "ActivationDescs": [{"Type": f"ACTIVATION_{name}"} for name in ("SIGMOID", "TANH", "TANH") * 2]})],
    ),
    # ---- windows and products
    "a convolution has new dimensions after the channels": (
        node("Conv", [SIGNAL, zeros(4, 3, 3), zeros(4)], zeros(2, 4, 4), strides=[2], pads=[0, 1]),
        [("CONVOLUTION",
          {"InputTensor": (2, 3, 1, 9), "FilterTensor": (4, 3, 1, 3), "BiasTensor": (1, 4, 1, 1),
           "OutputTensor": (2, 4, 1, 4)},
          {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 2], "Dilations": [1, 1],
           "StartPadding": [0, 0], "EndPadding": [0, 1], "OutputPadding": [0, 0], "GroupCount": 1})],
    ),
    "ConvTranspose has no OutputPadding": (
        node("ConvTranspose", [IMAGE, zeros(3, 5, 3, 3)], zeros(2, 5, 18, 14), strides=[2, 2], output_padding=[1, 1]),
        [("CONVOLUTION",
          {"InputTensor": (2, 3, 8, 6), "FilterTensor": (3, 5, 3, 3), "OutputTensor": (2, 5, 18, 14)},
          {"Mode": "CROSS_CORRELATION", "Direction": "BACKWARD", "Strides": [2, 2], "Dilations": [1, 1],
           "StartPadding": [0, 0], "EndPadding": [0, 0], "OutputPadding": [0, 0], "GroupCount": 1})],
    ),
    "ConvTranspose of one size has the padding of a forward convolution": (
        # Of a stride of 1 a window of 3 has 2 of padding, so that the output has the size of the input.
        node("ConvTranspose", [SIGNAL, zeros(3, 5, 3)], zeros(2, 5, 9), auto_pad="SAME_UPPER"),
        [("CONVOLUTION",
          {"InputTensor": (2, 3, 1, 9), "FilterTensor": (3, 5, 1, 3), "OutputTensor": (2, 5, 1, 9)},
          {"Mode": "CROSS_CORRELATION", "Direction": "BACKWARD", "Strides": [1, 1], "Dilations": [1, 1],
           "StartPadding": [0, 1], "EndPadding": [0, 1], "OutputPadding": [0, 0], "GroupCount": 1})],
    ),
    "ConvTranspose of given sizes is padded as if not dilated": (
        # (9 - 1) * 1 + 3 - 10 = 1, more of it at the start; with its dilation ONNX has 3.
        node("ConvTranspose", [SIGNAL, zeros(3, 5, 3)], zeros(2, 5, 10), dilations=[2], output_shape=[10]),
        [("CONVOLUTION",
          {"InputTensor": (2, 3, 1, 9), "FilterTensor": (3, 5, 1, 3), "OutputTensor": (2, 5, 1, 10)},
          {"Mode": "CROSS_CORRELATION", "Direction": "BACKWARD", "Strides": [1, 1], "Dilations": [1, 2],
           "StartPadding": [0, 1], "EndPadding": [0, 0], "OutputPadding": [0, 0], "GroupCount": 1})],
    ),
    "a pool has new dimensions first": (
        node("AveragePool", [SIGNAL], zeros(2, 3, 7), kernel_shape=[3], count_include_pad=1),
        [("AVERAGE_POOLING", {"InputTensor": (1, 2, 3, 9), "OutputTensor": (1, 2, 3, 7)},
          {"WindowSize": [1, 3], "Strides": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
           "IncludePadding": 1})],
    ),
    "a pool of a whole signal has new dimensions first": (
        node("GlobalMaxPool", [SIGNAL], zeros(2, 3, 1)),
        [("MAX_POOLING", {"InputTensor": (1, 2, 3, 9), "OutputTensor": (1, 2, 3, 1)},
          {"WindowSize": [1, 9], "Strides": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]})],
    ),
    "a size that is rounded up counts a window that begins in the padding": (
        # (1 + 2 + 1 - 3) / 3 is 0.33, up 1, plus 1; the second window begins at 3, where the end of the padding does.
        node("MaxPool", [zeros(1, 1, 2)], zeros(1, 1, 1), kernel_shape=[3], strides=[3], pads=[1, 1], ceil_mode=1),
        [("MAX_POOLING", {"InputTensor": (1, 1, 1, 2), "OutputTensor": (1, 1, 1, 2)},
          {"WindowSize": [1, 3], "Strides": [1, 3], "StartPadding": [0, 1], "EndPadding": [0, 1]})],
    ),
    "indices of MaxPool are UINT64": (
        node("MaxPool", [SIGNAL], zeros(2, 3, 7), zeros(2, 3, 7, dtype="int64"), kernel_shape=[3]),
        [("MAX_POOLING2",
          {"InputTensor": (1, 2, 3, 9), "OutputTensor": (1, 2, 3, 7),
           "OutputIndicesTensor": Sized((1, 2, 3, 7), "UINT64")},
          {"WindowSize": [1, 3], "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0],
           "EndPadding": [0, 0]})],
    ),
    "MaxUnpool is made wherever its indices count": (
        node("MaxUnpool", [zeros(1, 1, 2), zeros(1, 1, 2, dtype="int64"), numbers(1, 1, 7)], zeros(1, 1, 7),
             kernel_shape=[2], strides=[2]),
        [("MAX_UNPOOLING",
          {"InputTensor": (1, 1, 1, 2), "IndicesTensor": Sized((1, 1, 1, 2), "UINT64"), "OutputTensor": (1, 1, 1, 7)},
          {})],
    ),
    "regions and their images have four dimensions, and are by half pixels in every opset": (
        node("RoiAlign", [IMAGE, zeros(5, 4), zeros(5, dtype="int64")], zeros(5, 3, 2, 2), opset=10, mode="max",
             spatial_scale=0.5, sampling_ratio=0),
        [("ROI_ALIGN1",
          {"InputTensor": (2, 3, 8, 6), "ROITensor": (1, 1, 5, 4), "BatchIndicesTensor": Sized((1, 1, 1, 5), "UINT64"),
           "OutputTensor": (5, 3, 2, 2)},
          {"ReductionFunction": "MAX", "InterpolationMode": "LINEAR", "SpatialScaleX": 0.5, "SpatialScaleY": 0.5,
           "InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "OutOfBoundsInputValue": 0,
           "MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 2**32 - 1, "AlignRegionsToCorners": 0})],
    ),
    "MaxRoiPool has regions of four dimensions": (
        node("MaxRoiPool", [IMAGE, zeros(5, 5)], zeros(5, 3, 2, 2), pooled_shape=[2, 2], spatial_scale=0.5),
        [("ROI_POOLING", {"InputTensor": (2, 3, 8, 6), "ROITensor": (1, 1, 5, 5), "OutputTensor": (5, 3, 2, 2)},
          {"SpatialScale": 0.5})],
    ),
    "an addend of GEMM repeats": (
        node("Gemm", [X, zeros(5, 4), zeros(5)], zeros(3, 5), alpha=0.5, beta=2.0, transB=1),
        [("GEMM",
          {"ATensor": (1, 1, 3, 4), "BTensor": (1, 1, 5, 4), "CTensor": Sized((1, 1, 3, 5), None, (0, 0, 0, 1)),
           "OutputTensor": (1, 1, 3, 5)},
          {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 0.5, "Beta": 2})],
    ),
    "a product of vectors is one of matrices": (
        node("MatMul", [zeros(4), zeros(2, 4, 5)], zeros(2, 5)),
        [("GEMM",
          {"ATensor": Sized((1, 2, 1, 4), None, (0, 0, 0, 1)), "BTensor": (1, 2, 4, 5), "OutputTensor": (1, 2, 1, 5)},
          {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})],
    ),
    "a zero point of rows is along them": (
        node("MatMulInteger", [zeros(3, 4, dtype="uint8"), zeros(4, 5, dtype="uint8"), zeros(3, dtype="uint8"),
                               zeros(5, dtype="uint8")], zeros(3, 5, dtype="int32")),
        [("MATRIX_MULTIPLY_INTEGER",
          {"ATensor": (1, 1, 3, 4), "AZeroPointTensor": (1, 1, 3, 1), "BTensor": (1, 1, 4, 5),
           "BZeroPointTensor": (1, 1, 1, 5), "OutputTensor": (1, 1, 3, 5)}, {})],
    ),
}  # fmt: skip


def test_descs_are_those_of_the_provider() -> None:
    assert {name: found for name, row in ROWS.items() if (found := differences(*row))} == {}
