"""The limits of errors of an implementation's elementary functions, with their sources.

DirectML computes with the shaders of Direct3D, so its documentation of an instruction comes first, then the code that
the HLSL compiler generates for a function without instruction, then WGSL's limits for implementations on Direct3D. If
these say nothing, or so much that no fault would show, the tables of OpenCL and CUDA follow, or a common way to compute
the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Rounding(NamedTuple):
    """The error of a function: the larger of `ulp` units in the last place of its result and `absolute`.

    It is never more than `at_most`. `operand` is an error of the first operand, in units in its last place, that the
    function carries to its result: the error of reducing large angles, or of multiplying by a constant. A `formula`
    takes the place of the numbers: the errors of its own operations are the function's. `likely` is the row for
    likely errors, if the published limit is much wider than the errors of implementations.
    """

    source: str
    ulp: float = 0.0
    absolute: float = 0.0
    at_most: float = np.inf
    operand: float = 0.0
    formula: Callable[..., Any] | None = None
    likely: Rounding | None = None


_WIDE = 1e-4  # an error that, carried on, leaves no use in the results after it


def has_wide_limit(function: Callable[..., Any]) -> bool:
    """Whether the published limit of a function of FLOAT32 is wide, and far from what implementations give."""
    found = ROUNDINGS.get(getattr(function, "__name__", ""), {}).get("FLOAT32")
    return found is not None and found.likely is not None and found.absolute > _WIDE


def words(row: Rounding) -> str:
    """Return a row as text: `4 ULP, and 1 ULP of the operand (HLSL, ...)`; for a formula its source."""
    return "; likely ".join(f"{limit} ({source})" if limit else source for limit, source in limits_and_sources(row))


def limits_and_sources(row: Rounding) -> list[tuple[str, str]]:
    """Return the limits of all errors and of likely ones, each with its source; a formula has no limit."""
    if row.formula is not None:
        return [("", row.source)]
    parts = [f"{row.ulp:g} ULP"] * bool(row.ulp) + [f"{row.absolute:.3g}"] * bool(row.absolute)
    limit = " or ".join(parts) + ", whichever is larger" * (len(parts) > 1)
    limit += f", at most {row.at_most:g}" * (row.at_most < np.inf)
    limit += f", and {row.operand:g} ULP of the operand" * bool(row.operand)
    return [(limit, row.source), *(limits_and_sources(row.likely) if row.likely is not None else ())]


def rounding(name: str, data_type: str, *, is_likely: bool = False) -> Rounding:
    """Return the row of a function, by its name in NumPy, in the type that an implementation computes in."""
    rows = ROUNDINGS.get(name, _OTHERS)
    row = rows.get(data_type) or _OTHERS[data_type]
    return row.likely if is_likely and row.likely is not None else row


# ---- functions that are computed by others


def _softplus(x: Any) -> Any:
    """Return ln(1 + exp(x)) as written; beyond the range of exp(x) in the type, x."""
    largest = _LOGARITHMS[x.arithmetic.data_type]
    return np.log(1 + np.exp(np.minimum(x, largest))) + np.maximum(x - largest, 0)


_LOGARITHMS = {"FLOAT16": 11.0, "FLOAT32": 88.0, "FLOAT64": 709.0}  # of the largest number of each type


def _arcsinh(x: Any) -> Any:
    size = np.abs(x)
    return np.log(size + np.sqrt(size * size + 1))


def _power(x: Any, y: Any) -> Any:
    least = 2 * x.arithmetic.smallest  # smaller numbers may be 0, whose power is no matter of rounding
    return np.exp2(y * np.log2(np.maximum(np.abs(x), least)))


def _by(text: str, formula: Callable[..., Any]) -> dict[str, Rounding]:
    return {data_type: Rounding(text, formula=formula) for data_type in ("FLOAT32", "FLOAT16")}


def _rows(float32: Rounding, float16: Rounding) -> dict[str, Rounding]:
    return {"FLOAT32": float32, "FLOAT16": float16}


# ---- the table

_EXACTLY_ROUNDED = {
    "FLOAT32": Rounding("Direct3D 11.3 functional spec, 3.1.3: add, subtract and multiply within 0.5 ULP", ulp=0.5),
    "FLOAT16": Rounding("Direct3D 11.3 functional spec, 3.1.5: the rules of 32 bits hold for 16", ulp=0.5),
    "FLOAT64": Rounding("Direct3D 11, floating-point rules: double precision is that of IEEE 754R, 0.5 ULP", ulp=0.5),
}
_DIVIDED = _rows(
    Rounding(
        "HLSL, div (sm4 - asm): a / b, or a * (1 / b), whose rcp (sm5 - asm) is within 2^-21; 0.5 ULP for the product",
        ulp=4.5,
    ),
    Rounding("WGSL, accuracy of floating-point expressions: x / y in f16 2.5 ULP", ulp=2.5),
) | {"FLOAT64": Rounding("HLSL, ddiv (sm5 - asm): 0.5 ULP", ulp=0.5)}
_OTHERS = {
    "FLOAT32": Rounding("OpenCL CTS, math_brute_force/function_list.cpp: most functions within 4 ULP", ulp=4),
    "FLOAT16": Rounding("OpenCL CTS, math_brute_force/function_list.cpp: most functions in half within 2 ULP", ulp=2),
    "FLOAT64": Rounding("NumPy's functions are within 4 ULP; so are CUDA's in double precision", ulp=4),
}

ROUNDINGS: Mapping[str, Mapping[str, Rounding]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "square"), _EXACTLY_ROUNDED),
    **dict.fromkeys(("divide", "true_divide"), _DIVIDED),
    "reciprocal": _rows(
        Rounding("HLSL, rcp (sm5 - asm): within 2^-21 of the result", ulp=4),
        Rounding("WGSL, accuracy of floating-point expressions: x / y in f16 2.5 ULP", ulp=2.5),
    ),
    "sqrt": _rows(
        Rounding("HLSL, sqrt (sm4 - asm): 1 ULP", ulp=1),
        Rounding("WPT, webnn/resources/utils.js: sqrt 1 ULP in float16", ulp=1),
    ),
    "exp2": _rows(
        Rounding("HLSL, exp (sm4 - asm): 2^x within 2^-21 of the result", ulp=4),
        Rounding("WGSL, accuracy of floating-point expressions: exp2 in f16 1 + 2 * |x| ULP", ulp=1, operand=2),
    ),
    "exp": _rows(
        Rounding(
            "HLSL, exp (sm4 - asm): 2^x within 2^-21 of the result; x * log2(e) rounds the product and the constant, "
            "as in CUDA's __expf, 2 + 1.173 * |x| ULP. DirectML was seen to be 22 ULP off at 25 "
            "(webmachinelearning/webnn#288)",
            ulp=4,
            operand=1,
        ),
        Rounding("WGSL, accuracy of floating-point expressions: exp in f16 1 + 2 * |x| ULP", ulp=1, operand=2),
    ),
    "expm1": _by("as exp(x) - 1: HLSL has no other way", lambda x: np.exp(x) - 1),
    "log2": _rows(
        Rounding(
            "HLSL, log (sm4 - asm): 2^-21, absolute for x in [0.5, 2] and relative elsewhere", ulp=4, absolute=2.0**-21
        ),
        Rounding(
            "WGSL, accuracy of floating-point expressions: log2 in f16 3 ULP outside [0.5, 2]; for the inside, where "
            "WGSL has 2^-7, WPT, webnn/resources/utils.js: log within 1/1024 in float16",
            ulp=3,
            absolute=2.0**-10,
        ),
    ),
    "log": _rows(
        Rounding(
            "HLSL, log (sm4 - asm): log2 within 2^-21, absolute for x in [0.5, 2] and relative elsewhere; times ln 2, "
            "with 1 ULP for the product and the constant",
            ulp=5,
            absolute=4.2e-7,
        ),
        Rounding(
            "WGSL, accuracy of floating-point expressions: log in f16 3 ULP outside [0.5, 2]; for the inside, where "
            "WGSL has 2^-7, WPT, webnn/resources/utils.js: log within 1/1024 in float16",
            ulp=3,
            absolute=2.0**-10,
        ),
    ),
    "log1p": _by("as log(1 + x): HLSL has no other way", lambda x: np.log(1 + x)),
    "ln_1_exp": _by("as log(1 + exp(x)), with x itself where exp(x) is beyond the type", _softplus),
    "logaddexp": _by("as x + log(1 + exp(y - x))", lambda x, y: x + _softplus(y - x)),
    "power": _by(
        "WGSL, accuracy of floating-point expressions: pow as exp2(y * log2(x))",
        _power,
    ),
    **dict.fromkeys(
        ("sin", "cos"),
        _rows(
            Rounding(
                "HLSL, sincos (sm4 - asm): within 0.0008 in [-100 pi, 100 pi]; beyond, nothing is published; the angle "
                "may be off by a rounding or two",
                absolute=8e-4,
                operand=1,
                at_most=2,
                likely=Rounding(
                    "CUDA C++ Programming Guide, intrinsic functions: __sinf within 2^-21.41 and __cosf within "
                    "2^-21.19 in [-pi, pi]; twice that, and one more rounding of the angle",
                    absolute=2.0**-20,
                    operand=2,
                    at_most=2,
                ),
            ),
            Rounding(
                "WPT, webnn/resources/utils.js: sin and cos within 1/512 in float16, where WGSL has 2^-7 in [-pi, pi]; "
                "the angle may be off by a rounding or two",
                absolute=2.0**-9,
                operand=1,
                at_most=2,
            ),
        ),
    ),
    "tan": _by("DXC, DxilExpandTrigIntrinsics.cpp: as sin(x) / cos(x); so does WGSL", lambda x: np.sin(x) / np.cos(x)),
    "arcsin": _rows(
        Rounding("WGSL, accuracy of floating-point expressions: asin within 6.81e-5, seen with DXC", absolute=6.81e-5),
        Rounding("WGSL, accuracy of floating-point expressions: asin in f16 within 3.91e-3", absolute=3.91e-3),
    ),
    "arccos": _rows(
        Rounding("WGSL, accuracy of floating-point expressions: acos within 6.77e-5, as DXC has it", absolute=6.77e-5),
        Rounding("WGSL, accuracy of floating-point expressions: acos in f16 within 3.91e-3", absolute=3.91e-3),
    ),
    "arctan": _rows(
        Rounding(
            "DXC, DxilExpandTrigIntrinsics.cpp: a polynomial (Abramowitz and Stegun, 4.4.49) that is off by 1.34e-4 of "
            "the result, and 1.16e-5 at most; WGSL has 4096 ULP, OpenCL 5",
            ulp=1130,
            at_most=1.2e-5,
        ),
        Rounding("WGSL, accuracy of floating-point expressions: atan in f16 5 ULP", ulp=5),
    ),
    "arctan2": _rows(
        Rounding(
            "DXC: as atan(y / x), whose polynomial is off by 1.34e-4 of the result, and 1.16e-5 at most, and some "
            "roundings; WGSL has 4096 ULP, OpenCL 6",
            ulp=1140,
            at_most=1.3e-5,
        ),
        Rounding("WGSL, accuracy of floating-point expressions: atan2 in f16 5 ULP", ulp=5),
    ),
    "sinh": _by(
        "DXC, DxilExpandTrigIntrinsics.cpp: as (exp(x) - exp(-x)) / 2; so does WGSL",
        lambda x: (np.exp(x) - np.exp(-x)) * 0.5,
    ),
    "cosh": _by(
        "DXC, DxilExpandTrigIntrinsics.cpp: as (exp(x) + exp(-x)) / 2; so does WGSL",
        lambda x: (np.exp(x) + np.exp(-x)) * 0.5,
    ),
    "tanh": _rows(
        Rounding(
            "WGSL, accuracy of floating-point expressions: tanh within 1e-5, as NVIDIA computes it for Direct3D "
            "(gpuweb/gpuweb#5206; microsoft/hlsl-specs#601 saw 117 ULP)",
            absolute=1e-5,
            likely=Rounding(
                "as (exp(x) - exp(-x)) / (exp(x) + exp(-x)), whose exp is within 2^-21 near 0; the quotient is off by "
                "some ULP",
                ulp=16,
                absolute=5e-7,
            ),
        ),
        Rounding(
            "WPT, webnn/resources/utils.js: tanh 16 ULP in float16; near 0 two roundings of 2^-11, where DXC takes "
            "exp(-x) off exp(x)",
            ulp=16,
            absolute=2.0**-10,
        ),
    ),
    "arcsinh": _by(
        "WGSL, accuracy of floating-point expressions: as log(|x| + sqrt(x * x + 1)), with the sign", _arcsinh
    ),
    "arccosh": _by(
        "WGSL, accuracy of floating-point expressions: as log(x + sqrt(x * x - 1))",
        lambda x: np.log(x + np.sqrt(x * x - 1)),
    ),
    "arctanh": _by(
        "WGSL, accuracy of floating-point expressions: as log((1 + x) / (1 - x)) / 2",
        lambda x: np.log((1 + x) / (1 - x)) * 0.5,
    ),
    "hypot": _by("as sqrt(x * x + y * y)", lambda x, y: np.sqrt(x * x + y * y)),
    "erf": _rows(
        Rounding(
            "Abramowitz and Stegun, 7.1.26, which shaders use (ONNX Runtime WebGPU, TensorFlow.js): 1.4e-7, and in "
            "FLOAT32, with exp within 2^-21, 9.5e-7; OpenCL C asks for 16 ULP, CUDA gives 2. WPT allows 1/1024",
            absolute=1e-6,
        ),
        Rounding("WPT, webnn/resources/utils.js: erf within 1/512 in float16", absolute=2.0**-9),
    ),
    "erfc": _rows(
        Rounding("as 1 - erf(x): its 1e-6 and a rounding of the difference", absolute=1.1e-6),
        Rounding("as 1 - erf(x): its 1/512 and a rounding of the difference", absolute=2.4e-3),
    )
    | {"FLOAT64": Rounding("dmlcheck's own is within 2^-44", ulp=256)},
    "fmod": _by(
        "WGSL, accuracy of floating-point expressions: x % y as x - y * trunc(x / y)",
        lambda x, y: x - y * np.trunc(x / y),
    ),
    "remainder": _by("as x - y * floor(x / y), like WGSL's x % y", lambda x, y: x - y * np.floor(x / y)),
    "floor_divide": _by("as floor(x / y)", lambda x, y: np.floor(x / y)),
}
