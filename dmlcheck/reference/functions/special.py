"""Functions that NumPy does not have, or not as fast, for float64 arrays and balls.

The error functions are Chebyshev series, whose coefficients were computed with 50 digits from the definitions at the
Chebyshev points; the rest of the series is below 2^-56.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly

from dmlcheck.reference.ball.numbers import Array, elementary


def erf(x: Any) -> Any:
    """Return the error function, within a few units of float64's roundoff."""
    return elementary(_erf, "erf", x)


def erfc(x: Any) -> Any:
    """Return 1 - erf(x) without cancellation: its relative error is below 2^-44 down to 2^-150."""
    return elementary(_erfc, "erfc", x)


def ln_1_exp(x: Any) -> Any:
    """Return ln(1 + exp(x)) without overflow, faster than np.logaddexp(0, x)."""
    return elementary(_ln_1_exp, "ln_1_exp", x)


def _ln_1_exp(x: Array) -> Array:
    value: Array = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    return value


# ---- error functions

# erf(x) / x for x in [0, 1], by the Chebyshev polynomials of 2 x^2 - 1.
_ERF = cheb2poly(
    (
        0.9754769393826541,
        -0.14226120510371365,
        0.010035582187599796,
        -0.0005768764699767485,
        2.741993125219606e-05,
        -1.1043175507344507e-06,
        3.8488755420345036e-08,
        -1.1808582533875466e-09,
        3.2334215826050907e-11,
        -7.991015947004549e-13,
        1.7990725113961456e-14,
        -3.718635487818693e-16,
    )
)

# (1 + 2 x) exp(x^2) erfc(x) for x >= 0, in powers of (x - 3.75) / (x + 3.75), as in Shepherd and Laframboise (1981).
_ERFC = cheb2poly(
    (
        1.1775789345674017,
        -0.004590054580646478,
        -0.08424913336651792,
        0.05920993999819189,
        -0.026658668435305753,
        0.009074997670705265,
        -0.002413163540417608,
        0.0004907758365258086,
        -6.916973302501207e-05,
        4.13902798607301e-06,
        7.74038306619849e-07,
        -2.1886401049234397e-07,
        1.0764999465670908e-08,
        4.521959811218285e-09,
        -7.754400208831366e-10,
        -6.318088340886815e-11,
        2.8687950109305697e-11,
        1.9455868545713145e-13,
        -9.654696748435849e-13,
        3.252548148166157e-14,
        3.3478119483444486e-14,
        -1.8645628794792524e-15,
        -1.2507950518270476e-15,
        7.41823540287692e-17,
        5.068149063628963e-17,
    )
)
_CENTRE = 3.75
_FAR = 30.0  # beyond it erfc is 0 and erf 1 in every type


def _erf(x: Array) -> Array:
    size = np.abs(x)
    near = np.minimum(size, 1.0)
    inner: Array = x * _polynomial(2 * near * near - 1, _ERF)
    if (size <= 1).all():
        return inner
    outer: Array = np.copysign(1 - _erfc(size), x)
    return np.where(size <= 1, inner, outer)


def _erfc(x: Array) -> Array:
    size = np.minimum(np.abs(x), _FAR)
    tail: Array = np.exp(-size * size) * _polynomial((size - _CENTRE) / (size + _CENTRE), _ERFC) / (1 + 2 * size)
    return np.where(x < 0, 2 - tail, tail)


def _polynomial(x: Array, coefficients: Array) -> Array:
    """Return a polynomial of x, with the coefficient of the highest power last; twice as fast as polyval."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= x
        value += coefficient
    return value
