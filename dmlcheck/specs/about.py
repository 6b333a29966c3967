"""The texts of an operator's page that stand before its tables: `specs/about/*.yaml` to About, read only for pages.

Equations are in a subset of LaTeX in which a word of two letters or more is a name, and is set upright. A tensor is
named after its field, without `Tensor`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.files import yaml
from dmlcheck.specs.load import data_folder
from dmlcheck.specs.names import short_operator
from dmlcheck.specs.recipes import Recipe, recipes_of

FAMILIES: dict[str, str] = {
    "activations": "Activations",
    "arithmetic": "Element-wise arithmetic",
    "functions": "Element-wise functions",
    "rounding": "Rounding and limits",
    "comparisons": "Comparisons and logic",
    "bits": "Bit operations",
    "matrices": "Matrix products",
    "convolution": "Convolution",
    "pooling": "Pooling",
    "normalization": "Normalization",
    "softmax": "Softmax and hardmax",
    "reduction": "Reduction and sorting",
    "scans": "Scans and sequences",
    "indexing": "Gather and scatter",
    "layout": "Slices, joins and layout",
    "fills": "Fills and diagonals",
    "types": "Copies and data types",
    "quantization": "Quantization",
    "resampling": "Resampling",
    "regions": "Regions of interest",
    "recurrent": "Recurrent networks",
    "attention": "Attention",
    "training": "Training",
    "random": "Random numbers",
}
LIBRARIES = ("PyTorch", "TensorFlow")  # ONNX's and WebNN's names are in the spec itself

_COMMANDS = """
    alpha approx bar begin beta bmod bullet cases cdot cdots end epsilon exp frac gamma ge hat in infty land lceil ldots
    left le lfloor ln lnot log lor max min mu ne odot oplus partial pi prod quad rceil rfloor right sigma sqrt sum text
    times to top vert
"""
COMMANDS = frozenset(re.findall("[a-z]+", _COMMANDS))

# The meanings of symbols that many operators have, by the names in `symbols`.
SYMBOLS = {
    "x": "an element of InputTensor",
    "y": "the element of OutputTensor at the same place",
    "z": "x after ScaleBias; x itself where ScaleBias is left out",
    "a": "an element of ATensor",
    "b": "the element of BTensor at the same place",
    "g": "the element of InputGradientTensor at the same place",
    "lo": "the least number of OutputTensor's data type",
    "hi": "the largest number of OutputTensor's data type",
    "i": "a position of InputTensor along each dimension of the window; outside it are padding elements",
    "o": "a position of OutputTensor along each dimension of the window",
    "w": "a position in the window along each of its dimensions",
}


class AboutOperator(NamedTuple):
    """The purpose of an operator, its names in other libraries, its equations, and the case that is its example.

    `names` has the names in LIBRARIES, `where` the meanings of the equations' symbols. `example` is the id of a case
    after the operator's folder, `changes` tells the changes since the version before, `typical` has usual values of
    fields, `recipes` answer questions that people have.
    """

    purpose: str
    family: str
    keywords: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    equations: tuple[str, ...]
    where: Mapping[str, str]
    example: str
    changes: str
    typical: Mapping[str, Any]
    recipes: tuple[Recipe, ...]


def has_about(operator: str) -> bool:
    """Whether an operator has a file of texts, by its full name."""
    return os.path.isfile(_path(operator))


@cache
def load_about(operator: str) -> AboutOperator:
    """Return the texts of an operator by its full name; ValueError if its file has an error."""
    path = _path(operator)
    document = yaml.read(path)
    if document.problems:
        raise ValueError(f"{path}: {document.problems[0].message}")
    try:
        return _about(document.value)
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(f"{path}: {wrong!r}") from wrong
    except ValueError as wrong:
        raise ValueError(f"{path}: {wrong}") from wrong


def _path(operator: str) -> str:
    return os.path.join(data_folder("specs"), "about", short_operator(operator).lower() + ".yaml")


_KEYS = frozenset((*AboutOperator._fields, "symbols"))


def _about(raw: dict[str, Any]) -> AboutOperator:
    if unknown := sorted(raw.keys() - _KEYS):
        raise ValueError(f"unknown key {unknown[0]}; write one of {', '.join(sorted(_KEYS))}")
    if raw["family"] not in FAMILIES:
        raise ValueError(f"unknown family {raw['family']}; write one of {', '.join(FAMILIES)}")
    names = {library: _texts(library, own) for library, own in raw.get("names", {}).items()}
    if unknown := sorted(names.keys() - {*LIBRARIES}):
        raise ValueError(f"names has {unknown[0]}; write one of {', '.join(LIBRARIES)}")
    equations = _texts("equations", raw["equations"])
    for equation in equations:
        _check_equation(equation)
    return AboutOperator(
        purpose=_text("purpose", raw["purpose"]),
        family=raw["family"],
        keywords=_texts("keywords", raw["keywords"]),
        names=names,
        equations=equations,
        where=_where(raw),
        example=_text("example", raw["example"]),
        changes=_text("changes", raw["changes"]) if "changes" in raw else "",
        typical=raw.get("typical", {}),
        recipes=recipes_of(raw.get("recipes", [])),
    )


def _where(raw: dict[str, Any]) -> dict[str, str]:
    """Return the meanings of the equations' symbols: first the common ones, which `symbols` names."""
    common = raw.get("symbols", [])
    if unknown := sorted({*common} - SYMBOLS.keys()):
        raise ValueError(f"symbols has {unknown[0]}; write one of {', '.join(SYMBOLS)}, or add it to where")
    own = {symbol: _text(f"where, {symbol}", meaning) for symbol, meaning in raw.get("where", {}).items()}
    return {**{symbol: SYMBOLS[symbol] for symbol in common}, **own}


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} must be a text, and is {value!r}")
    return value


def _texts(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{key} must be a list of texts, and is {value!r}")
    return tuple(_text(key, part) for part in value)


def _check_equation(equation: str) -> None:
    """Raise ValueError for an equation with a command that is not in the subset, or with a brace that has no other."""
    for command in re.findall(r"\\([a-zA-Z]+)", equation):
        if command not in COMMANDS:
            raise ValueError(f"{equation}: \\{command} is not in the subset of LaTeX; see COMMANDS in specs/about.py")
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", equation):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            break
    if depth:
        raise ValueError(f"{equation}: the braces do not match")
