"""What the acceptance suite expects: right ways that only --strict refuses, faults that are not noticed, and why."""

from __future__ import annotations

from fnmatch import fnmatchcase

_ONE_PASS = "a variance in one pass loses digits that other ways keep: it is in the hard limit, not in the likely one"
_INTEGERS = "products of dequantized numbers are rounded, where sums of integers are exact: in the hard limit only"
_POLE = "one of 34,023 angles is so near a pole that the rounding of x * Scale + Bias may cross it: it has no tolerance"
# The operator and the number of the way, with why a run with --strict refuses it in some cases; all others pass.
STRICTLY_REFUSED = {
    ("BATCH_NORMALIZATION_TRAINING", 3): _ONE_PASS,
    ("MEAN_VARIANCE_NORMALIZATION", 3): _ONE_PASS,
    ("MEAN_VARIANCE_NORMALIZATION1", 3): _ONE_PASS,
    ("MEAN_VARIANCE_NORMALIZATION2", 3): _ONE_PASS,
    ("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", 0): _INTEGERS,
    **dict.fromkeys((("ELEMENT_WISE_TAN", way) for way in range(3)), _POLE),
}
# The fault and patterns of operators, with why no case notices it.
MISSED: dict[tuple[str, str], str] = {
    ("relative-1e-4", "ELEMENT_WISE_ATAN*"): "the polynomial of HLSL's compiler is off by 1.34e-4, and right",
    ("sin-1e-6", "ELEMENT_WISE_SIN"): "twice the error of CUDA's intrinsics, which is likely",
    ("sin-1e-6", "ELEMENT_WISE_TAN"): "twice the error of CUDA's intrinsics, which is likely",
    ("tanh-fraction", "MEAN_VARIANCE_NORMALIZATION"): "one case has TANH, of normalized values, which are too small",
    (
        "ignored:Epsilon",
        "LP_NORMALIZATION",
    ): "a larger norm is the divisor where that is the larger of both, a right reading",
    ("root-5e-6", "BATCH_NORMALIZATION_TRAINING"): "one root a channel, whose error is less than that of the variance",
    ("root-5e-6", "MEAN_VARIANCE_NORMALIZATION*"): "one root a channel, whose error is less than that of the variance",
    (
        "root-5e-6",
        "LP_POOLING",
    ): "only sums of 65,536 terms have roots, whose error is less than that of the sum",
    ("exp-4e-6", "REDUCE"): "in LOG_SUM_EXP the errors of the powers cancel, and the logarithm makes them less",
}


def why_missed(fault: str, operator: str) -> str | None:
    """Return why no case notices a fault of an operator, None where one must."""
    found = (why for (name, glob), why in MISSED.items() if name == fault and fnmatchcase(operator, glob))
    return next(found, None)
