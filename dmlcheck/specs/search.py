"""The search for a name, which commands and messages use: what it is, or which operator or data type it may mean.

A name may be misspelt or shortened, be one of ONNX, WebNN, PyTorch or TensorFlow, or be no operator's but a field's,
an enumeration's or a data type's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from dmlcheck.diagnostics.wording import closest, counted, did_you_mean
from dmlcheck.specs.about import has_about, load_about
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.names import (
    DATA_TYPE_PREFIX,
    DATA_TYPES,
    ENUMS,
    OPERATOR_PREFIX,
    OTHER_NAMES,
    enum_prefix,
    short_operator,
)

_SHORTEST_PREFIX = 3  # letters
_SHORTEST_TAIL = 4
_NEAR = 0.75  # of a misspelt name, as difflib measures it


class ForeignName(NamedTuple):
    """An operator of another library as it is spelt there, and DirectML's that compute it, without their prefix."""

    library: str
    name: str
    operators: tuple[str, ...]


def foreign_names(name: str) -> tuple[ForeignName, ...]:
    """Return the operators of ONNX and WebNN with a name: an exact match, or else a match in any case.

    The domain of an ONNX operator may be left out: `FastGelu` for `com.microsoft.FastGelu`. Where neither library has
    the name, names of PyTorch and TensorFlow are found.
    """
    key = name.casefold()
    found = _by_foreign_name().get(key) or _by_framework_name().get(key, ())
    exact = tuple(one for one in found if name in (one.name, _bare(one.name)))
    return exact or found


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


@cache
def _by_foreign_name() -> dict[str, tuple[ForeignName, ...]]:
    return _by_name({operator: load_spec(operator).names for operator in operator_names()})


@cache
def _by_framework_name() -> dict[str, tuple[ForeignName, ...]]:
    return _by_name({operator: load_about(operator).names for operator in operator_names() if has_about(operator)})


def _by_name(names_of: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, tuple[ForeignName, ...]]:
    """Return names of operators by their spelling in lower case, with and without a domain."""
    operators: dict[tuple[str, str], list[str]] = {}
    for operator, names_by_library in names_of.items():
        for library, names in names_by_library.items():
            for name in names:
                operators.setdefault((library, name), []).append(short_operator(operator))
    found: dict[str, list[ForeignName]] = {}
    for (library, name), own in sorted(operators.items()):
        for key in {name.casefold(), _bare(name).casefold()}:
            found.setdefault(key, []).append(ForeignName(library, name, tuple(own)))
    return {key: tuple(each) for key, each in found.items()}


@lru_cache(maxsize=1024)  # a file may spell a name wrong in any number of ways
def closest_operator(name: str) -> str | None:
    """Return the operator that a name most likely means, spelt in full or short as the name was, or None."""
    return next(_meant(name), None)


def nearest_operators(name: str, most: int = 3) -> list[str]:
    """Return the operators that a name may mean, spelt in full or short as the name was, the most likely first."""
    return list(dict.fromkeys(_meant(name)))[:most]


def _meant(name: str) -> Iterator[str]:
    """Yield operators that end like a name (ADD1 is ELEMENT_WISE_ADD1), else begin like it, or are spelt nearly so.

    RELU is ACTIVATION_RELU, not ACTIVATION_LEAKY_RELU. A name of ONNX or WebNN has no prefix of DirectML's.
    """
    if name.upper().startswith(OPERATOR_PREFIX):
        yield from (OPERATOR_PREFIX + short for short in _near(name[len(OPERATOR_PREFIX) :].upper(), ()))
    else:
        yield from _near(name.upper(), foreign_names(name))


def _near(bare: str, foreign: tuple[ForeignName, ...]) -> Iterator[str]:
    known = [*map(short_operator, operator_names()), *OTHER_NAMES]
    ends_so = [operator for operator in known if bare and operator.endswith("_" + bare)]
    if ends_so:
        yield min(ends_so, key=len)
        return
    yield from (operator for one in foreign for operator in one.operators)
    if len(bare) >= _SHORTEST_PREFIX:
        yield from sorted((operator for operator in known if operator.startswith(bare)), key=len)
    if not foreign:
        yield from _misspelt(bare, known)


def _misspelt(bare: str, known: Sequence[str]) -> Iterator[str]:
    """Yield the operators whose names, or names in other libraries, are spelt nearly so; a part of a name may do."""
    from difflib import get_close_matches

    meant: dict[str, list[str]] = {name: [name] for name in known}
    for name in sorted(known, key=len):
        steps = name.split("_")
        for number in range(1, len(steps)):
            tail = "_".join(steps[number:])
            if len(tail) >= _SHORTEST_TAIL:
                meant.setdefault(tail, [name])
    found: list[str] = []
    if len(bare) <= _LONGEST:
        for name in get_close_matches(bare, meant, n=2, cutoff=_NEAR):
            found += (*meant[name], *(own for one in foreign_names(name) for own in one.operators))
        lower = get_close_matches(bare.casefold(), [*_by_foreign_name(), *_by_framework_name()], n=1, cutoff=_NEAR)
        found += (own for name in lower for one in foreign_names(name) for own in one.operators)
    yield from found or filter(None, [closest(bare, known)])


_LONGEST = 60  # letters of a name that is compared with all others


# ---- what a name is, and what it may mean


def meant_operator(name: str, most: int = 3) -> str:
    """Return the help for a name that is no operator's: what it is, or the operators that it may mean."""
    foreign = foreign_names(name)
    if foreign and full_name(name.upper()) is None:
        own = dict.fromkeys(operator for one in foreign for operator in one.operators)
        return f"{foreign_text(foreign)}: write {' or '.join(own)}"
    near = nearest_operators(name, most)
    other = f"did you mean {' or '.join(near)}?" if near else "`dmlcheck show` lists the operators"
    return meaning(name) or other


def foreign_text(names: Sequence[ForeignName]) -> str:
    """Return whose names some are: `Conv is ONNX's name`."""
    return " and ".join(f"{name.name} is {name.library}'s name" for name in names)


def meaning(name: str) -> str | None:
    """Return the kind of thing that a name is if it is no operator's, as a sentence without its end, or None."""
    if name.removeprefix(DATA_TYPE_PREFIX) in DATA_TYPES:
        return f"{name} is a data type"
    having = [operator for operator in operator_names() if name in load_spec(operator).fields]
    if having:
        more = f" and of {counted(len(having) - 1, 'other operator')}" if len(having) > 1 else ""
        return f"{name} is a field of {short_operator(having[0])}{more}"
    for enum, values in ENUMS.items():
        if name == enum or name.removeprefix(enum_prefix(enum)) in values:
            owner = _owner(enum)
            return f"{name} is {'an enumeration' if name == enum else f'a value of {enum}'}{owner}"
    return other_type(name)


def _owner(enum: str) -> str:
    """Return where an enumeration is used first, as the end of a sentence."""
    for operator in operator_names():
        for field in load_spec(operator).fields.values():
            if field.enum == enum:
                return f", of {field.name} of {short_operator(operator)}"
    return ""


def type_help(name: str) -> str | None:
    """Return the help for a name that is no data type's: what there is for it, or the closest; None if nothing is."""
    bare = name.removeprefix(DATA_TYPE_PREFIX)
    known = [data_type for data_type in DATA_TYPES if data_type != "UNKNOWN"]
    return other_type(bare) or did_you_mean(bare, known)


def other_type(name: str) -> str | None:
    """Return the help for a data type of another system, as a sentence; None if it is none."""
    upper = name.upper()
    short = re.fullmatch(r"(?:(FP?)|(BF)|([IS])|(U))(4|8|16|32|64)", upper, re.ASCII)
    if short is not None:
        kind = "FLOAT" if short[1] else "BFLOAT" if short[2] else "INT" if short[3] else "UINT"
        upper = f"{kind}{short[5]}"
    said = _OTHER_TYPES.get(upper)
    return said or (f"did you mean {upper}?" if short is not None and upper in DATA_TYPES else None)


_OTHER_TYPES = {
    "BFLOAT16": "DirectML has no BFLOAT16; cast to FLOAT32",
    "BOOL": "DirectML has no BOOL; its logical operators use UINT8",
    "BOOLEAN": "DirectML has no BOOLEAN; its logical operators use UINT8",
    "DOUBLE": "did you mean FLOAT64?",
    "FLOAT": "did you mean FLOAT32?",
    "HALF": "did you mean FLOAT16?",
    "INT": "did you mean INT32?",
    "LONG": "did you mean INT64?",
    "UINT": "did you mean UINT32?",
    **dict.fromkeys(
        ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8"),
        "DirectML has no 8-bit floats; cast to FLOAT16",
    ),
}
