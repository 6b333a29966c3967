"""Operators whose tolerances depend on the sums in their formulas."""

from __future__ import annotations

# The operators whose formula has sums of products of two float tensors, or of results of them.
OF_PRODUCTS = frozenset(
    [
        "CONVOLUTION",
        "GEMM",
        "GRU",
        "LSTM",
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        "MULTIHEAD_ATTENTION",
        "MULTIHEAD_ATTENTION1",
        "QUANTIZED_LINEAR_CONVOLUTION",
        "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
        "RNN",
    ]
)

# Those whose likely errors come along with the others: sums of products, and nothing after them that loses these.
WITH_TWINS = frozenset(["CONVOLUTION", "GEMM", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"])

# The operators with a variance, which an implementation may compute in one pass: that is no likely error, but right.
WITH_VARIANCE = frozenset(
    [
        "BATCH_NORMALIZATION_TRAINING",
        "MEAN_VARIANCE_NORMALIZATION",
        "MEAN_VARIANCE_NORMALIZATION1",
        "MEAN_VARIANCE_NORMALIZATION2",
    ]
)
