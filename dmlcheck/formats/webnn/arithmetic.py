"""Operators of JavaScript on numbers, text and truth values, and numbers as text.

Each takes and returns plain values. TypeError where JavaScript would convert one type into another: no data needs it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from dmlcheck.formats.webnn.literals import BigInt, whole_or_float

_BITS = 2**32
_LEAST_PLAIN, _MOST_PLAIN = 1e-6, 1e21  # between which numbers are written without an exponent


def binary(sign: str, left: Any, right: Any) -> Any:
    """Return the result of an operator on two values; KeyError for an unknown operator."""
    if sign in _SAME:
        return same(left, right) == _SAME[sign]
    if isinstance(left, str) and isinstance(right, str) and sign in _ORDERS:
        return _ORDERS[sign](left, right)
    if sign == "+" and (isinstance(left, str) or isinstance(right, str)):
        return as_text(left) + as_text(right)
    numbers = [float(each) for each in (_number(left), _number(right))]
    if sign in _ORDERS:
        return _ORDERS[sign](*numbers)
    return whole_or_float(_ARITHMETIC[sign](*numbers))


def unary(sign: str, value: Any) -> Any:
    """Return the result of an operator on one value; KeyError for an unknown operator."""
    if sign == "!":
        return not truth(value)
    if isinstance(value, BigInt) and sign == "-":
        return BigInt(-int(value))
    number = _number(value)
    return whole_or_float(_SIGNS[sign](float(number)))


def truth(value: Any) -> bool:
    """Whether a value counts as true."""
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value) if value is None or isinstance(value, (int, float, str)) else True


def as_text(value: Any) -> str:
    """Return a value as JavaScript writes it in text; TypeError for undefined and null, which no name should hold."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if not isinstance(value, float):
        raise TypeError
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return _decimal(value)


def _decimal(value: float) -> str:
    """Return a float with the fewest digits that tell it from others."""
    exact = Decimal(repr(value))
    if not value:
        return "0"
    if _LEAST_PLAIN <= abs(value) < _MOST_PLAIN:
        text = format(exact, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mark, digits, _ = exact.normalize().as_tuple()
    exponent = exact.adjusted()
    rest = "".join(map(str, digits[1:]))
    return f"{'-' * mark}{digits[0]}{'.' * bool(rest)}{rest}e{exponent:+d}"


def _number(value: Any) -> float | int:
    if isinstance(value, (str, bool, BigInt)) or not isinstance(value, (int, float)):
        raise TypeError
    return value


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same, without conversions."""
    if all(each is None or isinstance(each, (int, float, str)) for each in (left, right)):
        return _kind(left) == _kind(right) and bool(left == right)
    return left is right


def _kind(value: Any) -> type:
    """Return the type of a scalar as JavaScript has them: all numbers are float."""
    return next((kind for kind in (bool, str, BigInt) if isinstance(value, kind)), float)


def _divided(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if not left or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)


def _remainder(left: float, right: float) -> float:
    if math.isinf(left) or not right:
        return math.nan
    return math.fmod(left, right)


def _power(left: float, right: float) -> float:
    if abs(left) == 1 and math.isinf(right):
        return math.nan  # where Python has 1
    if left == 1 and math.isnan(right):
        return math.nan
    try:
        return math.pow(left, right)
    except OverflowError:
        return math.inf if left > 0 or right % 2 == 0 else -math.inf
    except ValueError:  # a negative number, or 0 with a negative exponent
        if left:
            return math.nan
        return math.copysign(math.inf, left) if right % 2 == 1 else math.inf


def _signed(value: float) -> int:
    """Return a number in the 32 bits that the operators on bits take."""
    bits = int(value) % _BITS if math.isfinite(value) else 0
    return bits - _BITS if bits >= _BITS // 2 else bits


def _on_bits(made: Callable[[int, int], int]) -> Callable[[float, float], float]:
    return lambda left, right: float(_signed(made(_signed(left), _signed(right))))


def _inverted(value: float) -> float:
    return float(~_signed(value))


_SIGNS: Mapping[str, Callable[[float], float]] = {"-": operator.neg, "+": operator.pos, "~": _inverted}
_SAME = {"===": True, "!==": False}
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _remainder,
    "**": _power,
    "&": _on_bits(operator.and_),
    "|": _on_bits(operator.or_),
    "^": _on_bits(operator.xor),
    "<<": _on_bits(lambda left, right: left << (right & 31)),
    ">>": _on_bits(lambda left, right: left >> (right & 31)),
    ">>>": lambda left, right: float((_signed(left) % _BITS) >> (_signed(right) & 31)),
}
