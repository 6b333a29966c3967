"""The search for a name, which commands and messages use: what it is, or which operator or data type it may mean.

A name may be misspelt or shortened, be one of ONNX, WebNN, PyTorch or TensorFlow, or be no operator's but a field's,
an enumeration's or a data type's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.wording import counted
from dmlcheck.specs.about import AboutOperator, has_about, load_about
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
from dmlcheck.specs.ranking import Found, IndexEntry, Search
from dmlcheck.specs.records import OperatorSpec


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


# ---- what a name may mean: entries for the search


def operator_entry(spec: OperatorSpec, about: AboutOperator | None) -> IndexEntry:
    """Return an operator to find by its names everywhere, the search words of its page, its constraints and errata.

    `RELU` and `ADD1` are ACTIVATION_RELU and ELEMENT_WISE_ADD1.
    """
    short = spec.short
    plain = [short.removeprefix(family) for family in _FAMILIES if short.startswith(family)]
    others = [other for other, own in OTHER_NAMES.items() if own == short]
    texts = (spec.names, about.names) if about else (spec.names,)
    foreign = [name for names in texts for own in names.values() for name in own]
    names = dict.fromkeys((*plain, *others, *foreign, *map(_bare, foreign)))
    labels = [*(row.id for row in spec.constraints), *(row.id for row in spec.errata)]
    words = about.keywords if about else ()
    return IndexEntry(short, names=" ".join(names), words=" ".join(words), labels=" ".join(labels))


_FAMILIES = ("ACTIVATION_", "ELEMENT_WISE_")


def fields_of(specs: Iterable[OperatorSpec]) -> dict[str, list[str]]:
    """Return the fields of some operators, and the short names of the operators that have each."""
    having: dict[str, list[str]] = {}
    for spec in specs:
        for name in spec.fields:
            having.setdefault(name, []).append(spec.short)
    return having


def enums_of(specs: Iterable[OperatorSpec]) -> dict[str, tuple[str, str]]:
    """Return the enumerations of some operators, and where each is used first: the operator and its field."""
    first: dict[str, tuple[str, str]] = {}
    for spec in specs:
        for field in spec.fields.values():
            if field.enum is not None:
                first.setdefault(field.enum, (spec.short, field.name))
    return first


def type_entry(data_type: str) -> IndexEntry:
    """Return a data type to find by the names that it, and what it can stand for, has in other systems."""
    return IndexEntry(data_type, names=" ".join(_type_names(data_type)))


@cache
def _operators() -> Search:
    texts = {name: load_about(name) for name in operator_names() if has_about(name)}
    return Search(operator_entry(load_spec(name), texts.get(name)) for name in operator_names())


@cache
def _others() -> Search:
    """Return the search among what has a name and is no operator: rules, fields, enumerations, data types."""
    fields, enums = _fields_and_enums()
    with_values = (IndexEntry(name, names=" ".join(ENUMS[name])) for name in enums)
    return Search([*map(IndexEntry, (*RULES, *fields)), *with_values, *map(type_entry, _TYPES)])


@cache
def _fields_and_enums() -> tuple[dict[str, list[str]], dict[str, tuple[str, str]]]:
    specs = list(map(load_spec, operator_names()))
    return fields_of(specs), enums_of(specs)


@cache
def _types() -> Search:
    return Search(map(type_entry, _TYPES))


_SURE = 8  # the rank of a name with all of several words: what has some of them is no suggestion


@lru_cache(maxsize=1024)  # a file may spell a name wrong in any number of ways
def _likeliest(name: str, most: int) -> tuple[str, ...]:
    """Return the meanings of a name, all equally likely: operators, or else rules, fields, types and the like.

    Letters across the words of a rule, as `nope` in `unknown-operator`, are no part of its name.
    """
    operators = _with_the_words(name) or _sure(_operators().find(name), most)
    return operators or _sure([one for one in _others().find(name) if "-" in name or one.name not in RULES], most)


def _with_the_words(name: str) -> tuple[str, ...]:
    """Return the operator whose name has the words of another, in any order: MAX_POOLING for `POOLING_MAX_2D`."""
    words = name.upper().removeprefix(OPERATOR_PREFIX).split("_")
    own = _by_words().get(tuple(sorted(word for word in words if not re.fullmatch("[1-9]D", word))))
    return (own,) if own else ()


@cache
def _by_words() -> dict[tuple[str, ...], str]:
    return {tuple(sorted(short.split("_"))): short for short in map(short_operator, operator_names())}


def _sure(found: Sequence[Found], most: int) -> tuple[str, ...]:
    names = (one.name for one in found if one.rank == found[0].rank and one.rank <= _SURE)
    return tuple(islice(dict.fromkeys(names), most))


def closest_operator(name: str) -> str | None:
    """Return the operator that a name most likely means, spelt in full or short as the name was, or None."""
    return next(iter(nearest_operators(name, 1)), None)


def nearest_operators(name: str, most: int = 3) -> list[str]:
    """Return the operators that a name may mean, spelt in full or short as the name was, the most likely first."""
    prefix = OPERATOR_PREFIX if name.upper().startswith(OPERATOR_PREFIX) else ""
    return [prefix + near for near in _likeliest(name, most) if full_name(near)]


# ---- what a name is, and what it may mean


def meant_operator(name: str, most: int = 3) -> str:
    """Return the help for a name that is no operator's: what it is, or the operators that it may mean."""
    foreign = foreign_names(name)
    if foreign and full_name(name.upper()) is None:
        own = dict.fromkeys(operator for one in foreign for operator in one.operators)
        return f"{foreign_text(foreign)}: write {' or '.join(own)}"
    near = nearest_operators(name, most)
    if near and not meaning(name):
        return f"did you mean {' or '.join(near)}?"
    return meant(name, most) or "`dmlcheck show` lists the operators"


def meant(name: str, most: int = 3) -> str | None:
    """Return the help for a name: its kind, or the operators, rules, constraints, fields and so on that it may mean."""
    near = _likeliest(name, most)
    said = meaning(name) or (meaning(near[0]) if len(near) == 1 else None)
    if near and near[0] != name and not meaning(name):
        return f"did you mean {' or '.join(near)}?{f' {said}' if said else ''}"
    return said


def foreign_text(names: Sequence[ForeignName]) -> str:
    """Return whose names some are: `Conv is ONNX's name`."""
    return " and ".join(f"{name.name} is {name.library}'s name" for name in names)


def meaning(name: str) -> str | None:
    """Return the kind of thing that a name is if it is no operator's, as a sentence without its end, or None."""
    if name.removeprefix(DATA_TYPE_PREFIX) in DATA_TYPES:
        return f"{name} is a data type"
    fields, enums = _fields_and_enums()
    having = fields.get(name)
    if having:
        more = f" and of {counted(len(having) - 1, 'other operator')}" if len(having) > 1 else ""
        return f"{name} is a field of {having[0]}{more}"
    for enum, (operator, field) in enums.items():
        if name == enum or name.removeprefix(enum_prefix(enum)) in ENUMS[enum]:
            kind = "an enumeration" if name == enum else f"a value of {enum}"
            return f"{name} is {kind}, of {field} of {operator}"
    return other_type(name)


def type_help(name: str) -> str | None:
    """Return the help for a name that is no data type's: what there is for it, or the closest; None if nothing is."""
    near = _types().find(name)
    return other_type(name.removeprefix(DATA_TYPE_PREFIX)) or (f"did you mean {near[0].name}?" if near else None)


def other_type(name: str) -> str | None:
    """Return the help for a data type of another system, as a sentence; None if it is none."""
    own = next((own for own in _TYPES if name.upper() in _type_names(own)), None)
    if own is None or name.upper() == own:
        return None
    missing = next((said for others, _, said in _MISSING_TYPES if name.upper() in others), None)
    return missing or f"did you mean {own}?"


def _type_names(data_type: str) -> list[str]:
    """Return the names of a data type in other systems, and of types that DirectML does not have and it stands for."""
    kind, bits = DATA_TYPES[data_type]
    short = [f"{letters}{bits}" for letters in {"float": ("F", "FP"), "uint": ("U",), "int": ("I", "S")}[kind]]
    missing = (other for others, own, _ in _MISSING_TYPES if own == data_type for other in others)
    return [DATA_TYPE_PREFIX + data_type, *short, *_OTHER_TYPES.get(data_type, ()), *missing]


_TYPES = tuple(name for name, kind in DATA_TYPES.items() if kind.bits)
_OTHER_TYPES = {
    "FLOAT64": ("DOUBLE",),
    "FLOAT32": ("FLOAT", "SINGLE"),
    "FLOAT16": ("HALF",),
    "INT64": ("LONG",),
    "INT32": ("INT",),
    "UINT32": ("UINT",),
}
# Types that DirectML does not have, the type that stands for them, and what is said of them.
_MISSING_TYPES = (
    (("BFLOAT16", "BF16"), "FLOAT32", "DirectML has no BFLOAT16; cast to FLOAT32"),
    (("BOOL",), "UINT8", "DirectML has no BOOL; its logical operators use UINT8"),
    (("BOOLEAN",), "UINT8", "DirectML has no BOOLEAN; its logical operators use UINT8"),
    (
        ("FLOAT8", "FP8", "F8", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"),
        "FLOAT16",
        "DirectML has no 8-bit floats; cast to FLOAT16",
    ),
)
