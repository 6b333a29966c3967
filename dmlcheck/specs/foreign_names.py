"""What ONNX and WebNN call the operators of DirectML, for people who look one up."""

from __future__ import annotations

from functools import cache

# An operator of DirectML, what ONNX calls it, and what WebNN calls it; of its versions the newest.
_ROWS = """
ACTIVATION_CELU | Celu |
ACTIVATION_ELU | Elu | elu
ACTIVATION_GELU | Gelu FastGelu | gelu
ACTIVATION_HARD_SIGMOID | HardSigmoid | hardSigmoid
ACTIVATION_HARD_SWISH | HardSwish | hardSwish
ACTIVATION_HARDMAX1 | Hardmax |
ACTIVATION_LEAKY_RELU | LeakyRelu | leakyRelu
ACTIVATION_LOG_SOFTMAX1 | LogSoftmax |
ACTIVATION_PARAMETERIZED_RELU | PRelu | prelu
ACTIVATION_RELU | Relu | relu
ACTIVATION_SCALED_ELU | Selu |
ACTIVATION_SIGMOID | Sigmoid | sigmoid
ACTIVATION_SOFTMAX1 | Softmax | softmax
ACTIVATION_SOFTPLUS | Softplus | softplus
ACTIVATION_SOFTSIGN | Softsign | softsign
ACTIVATION_SWISH | Swish QuickGelu |
ACTIVATION_THRESHOLDED_RELU | ThresholdedRelu |
AVERAGE_POOLING1 | AveragePool GlobalAveragePool | averagePool2d
BATCH_NORMALIZATION | BatchNormalization | batchNormalization
CONVOLUTION | Conv ConvTranspose FusedConv | conv2d convTranspose2d
CONVOLUTION_INTEGER | ConvInteger |
CUMULATIVE_PRODUCT | CumProd |
CUMULATIVE_SUMMATION | CumSum |
DEPTH_TO_SPACE1 | DepthToSpace |
DEQUANTIZE | DequantizeLinear | dequantizeLinear
DIAGONAL_MATRIX1 | EyeLike Trilu | triangular
ELEMENT_WISE_ADD1 | Sum |
ELEMENT_WISE_CLIP1 | Clip | clamp
ELEMENT_WISE_DIVIDE | Div |
ELEMENT_WISE_IDENTITY | Reshape Squeeze Unsqueeze Flatten Expand Transpose | reshape expand transpose
ELEMENT_WISE_IF | Where | where
ELEMENT_WISE_IS_INFINITY | IsInf |
ELEMENT_WISE_LOGICAL_EQUALS | Equal |
ELEMENT_WISE_LOGICAL_GREATER_THAN | Greater | greater
ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL | GreaterOrEqual | greaterOrEqual
ELEMENT_WISE_LOGICAL_LESS_THAN | Less | lesser
ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL | LessOrEqual | lesserOrEqual
ELEMENT_WISE_MODULUS_FLOOR | Mod |
ELEMENT_WISE_MULTIPLY | Mul |
ELEMENT_WISE_NEGATE | Neg |
ELEMENT_WISE_QUANTIZED_LINEAR_ADD | QLinearAdd |
ELEMENT_WISE_RECIP | Reciprocal | reciprocal
ELEMENT_WISE_SUBTRACT | Sub |
FILL_VALUE_CONSTANT | ConstantOfShape |
FILL_VALUE_SEQUENCE | Range |
FOLD | Col2Im |
GATHER_ND1 | GatherND | gatherND
GEMM | MatMul FusedMatMul | matmul
JOIN | Concat | concat
LOCAL_RESPONSE_NORMALIZATION | LRN |
LP_NORMALIZATION | LpNormalization |
LP_POOLING1 | LpPool GlobalLpPool | l2Pool2d
MATRIX_MULTIPLY_INTEGER | MatMulInteger |
MATRIX_MULTIPLY_INTEGER_TO_FLOAT | MatMulIntegerToFloat DynamicQuantizeMatMul |
MAX_POOLING2 | MaxPool GlobalMaxPool | maxPool2d
MAX_UNPOOLING | MaxUnpool |
MEAN_VARIANCE_NORMALIZATION2 | LayerNormalization InstanceNormalization GroupNorm | layerNormalization
MEAN_VARIANCE_NORMALIZATION2 | | instanceNormalization
MULTIHEAD_ATTENTION1 | Attention GroupQueryAttention |
NONZERO_COORDINATES | NonZero |
PADDING1 | Pad | pad
QUANTIZE | QuantizeLinear | quantizeLinear
QUANTIZED_LINEAR_AVERAGE_POOLING | QLinearAveragePool |
QUANTIZED_LINEAR_CONVOLUTION | QLinearConv |
QUANTIZED_LINEAR_MATRIX_MULTIPLY | QLinearMatMul |
REDUCE | ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp |
REDUCE | ReduceSumSquare | reduceSum reduceMean reduceMax reduceMin reduceProduct
RESAMPLE3 | Resize | resample2d
REVERSE_SUBSEQUENCES | ReverseSequence | reverse
SCATTER | ScatterElements | scatterElements
SCATTER_ND | ScatterND | scatterND
SLICE1 | Crop |
SPACE_TO_DEPTH1 | SpaceToDepth |
TOP_K1 | TopK |
UPSAMPLE_2D | Upsample |
VALUE_SCALE_2D | ImageScaler |
"""


@cache
def _table() -> dict[str, tuple[str, str, str]]:
    """Return by each name without capitals the name as it is written, whose it is, and the operator of DirectML."""
    table: dict[str, tuple[str, str, str]] = {}
    for row in _ROWS.strip().split("\n"):
        operator, *others = (cell.strip() for cell in row.split("|"))
        for names, owner in zip(others, ("ONNX", "WebNN"), strict=True):
            for name in names.split():
                table.setdefault(name.casefold(), (name, owner, operator))
    return table


def foreign_name(given: str) -> tuple[str, str, str] | None:
    """Return a name as ONNX or WebNN writes it, whose name it is, and the operator of DirectML; None for any other."""
    return _table().get(given.casefold())
