"""Operators whose tolerances depend on the sums in their formulas."""

from __future__ import annotations

# The operators whose formula has sums of products of two float tensors, or of their results.
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

# Those whose likely errors are computed in one pass with the others.
WITH_TWINS = frozenset(["CONVOLUTION", "GEMM", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"])

# The operators with a variance. One that is computed in one pass is right, but its error is not a likely one.
WITH_VARIANCE = frozenset(
    [
        "BATCH_NORMALIZATION_TRAINING",
        "MEAN_VARIANCE_NORMALIZATION",
        "MEAN_VARIANCE_NORMALIZATION1",
        "MEAN_VARIANCE_NORMALIZATION2",
    ]
)
