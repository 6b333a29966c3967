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
from dmlcheck.specs.load import data_folder, load_spec, operator_names
from dmlcheck.specs.names import short_operator
from dmlcheck.specs.records import OperatorSpec

_THREAD = re.compile(r"[\w.-]+/[\w.-]+#[1-9][0-9]*")
_RECIPE_KEYS = ("title", "text", "asked", "desc", "inputs", "outputs")


class Recipe(NamedTuple):
    """An answer to a question that people have: how an operator computes something that its name does not say.

    `asked` are the threads in which people ask it, `owner/repository#number` of GitHub. `desc`, `inputs` and `outputs`
    are a case, whose outputs are worked out by hand.
    """

    title: str
    text: str
    asked: tuple[str, ...]
    desc: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def recipes_of(raw: object) -> tuple[Recipe, ...]:
    """Return the recipes of a file in specs/about; ValueError for one that is not whole."""
    if not isinstance(raw, list):
        raise ValueError(f"recipes must be a list, and is {raw!r}")  # noqa: TRY004 - as for any other error of a file
    return tuple(map(_recipe, raw))


def _recipe(raw: dict[str, Any]) -> Recipe:
    where = f"recipes, {raw.get('title')}"
    if unknown := sorted(raw.keys() - {*_RECIPE_KEYS}):
        raise ValueError(f"{where}: unknown key {unknown[0]}; write one of {', '.join(_RECIPE_KEYS)}")
    for key in ("title", "text"):
        if not isinstance(raw.get(key), str) or not raw[key].strip():
            raise ValueError(f"{where}: {key} must be a text")
    if not raw["text"].endswith("."):
        raise ValueError(f"{where}: text must end with a full stop")
    asked = raw.get("asked") or ()
    if not asked or not all(_THREAD.fullmatch(thread) for thread in asked):
        raise ValueError(f"{where}: asked must name threads as owner/repository#number")
    for key in ("desc", "outputs"):
        if not isinstance(raw.get(key), Mapping) or not raw[key]:
            raise ValueError(f"{where}: {key} must have fields")
    return Recipe(raw["title"], raw["text"], tuple(asked), raw["desc"], raw.get("inputs") or {}, raw["outputs"])


def thread_address(thread: str) -> str:
    """Return the address of a thread of GitHub; an issue's leads to a pull request too."""
    repository, _, number = thread.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


# ---- the texts of an operator


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


# ---- the versions of an operator, and the changes of each


_DIGITS = "0123456789"


class Version(NamedTuple):
    """A version of an operator, its changes in words, and the fields that it added and removed."""

    operator: str
    introduced: str
    text: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def older_operator(spec: OperatorSpec) -> str | None:
    """Return the full name of the version before an operator, or of the operator that it supersedes, or None.

    RESAMPLE2 comes after RESAMPLE1, and ARGMAX after REDUCE.
    """
    before = [name for name in _versions(spec.operator) if len(name) <= len(spec.operator) and name < spec.operator]
    if before:
        return before[-1]
    return spec.supersedes[0] if spec.supersedes else None


def lineage(spec: OperatorSpec) -> tuple[Version, ...]:
    """Return all versions of an operator, itself included, the oldest first; nothing where there is only one."""
    names = _versions(spec.operator)
    return tuple(version(load_spec(name)) for name in names) if len(names) > 1 else ()


def version(spec: OperatorSpec) -> Version:
    """Return an operator as a version, with its changes since the one before it, if there is any."""
    older = older_operator(spec)
    if older is None:
        return Version(spec.operator, spec.introduced, "", (), ())
    before = load_spec(older).fields
    added = tuple(name for name in spec.fields if name not in before)
    removed = tuple(name for name in before if name not in spec.fields)
    text = load_about(spec.operator).changes if has_about(spec.operator) else ""
    return Version(spec.operator, spec.introduced, text, added, removed)


def _versions(operator: str) -> list[str]:
    """Return the full names of an operator's versions, which differ by a digit at the end."""
    stem = operator.rstrip(_DIGITS)
    return [name for name in operator_names() if name.rstrip(_DIGITS) == stem]


# ---- where other libraries describe the operators that DirectML's compute


_ONNX = "https://onnx.ai/onnx/operators/onnx__{}.html"
_CONTRIBUTED = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#{}"
_EXPERIMENTAL = "https://github.com/onnx/onnx/blob/v1.3.0/docs/Operators.md#{}"
_OF_ONNX_RUNTIME = (
    "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/graph/contrib_ops/contrib_defs.cc"
)
_WEBNN = "https://www.w3.org/TR/webnn/#dom-mlgraphbuilder-{}"
_PYTORCH = "https://docs.pytorch.org/docs/stable/generated/{}.html"
_TORCHVISION = "https://docs.pytorch.org/vision/stable/generated/{}.html"
_TENSORFLOW = "https://www.tensorflow.org/api_docs/python/{}"

# Operators that ONNX had as experiments up to 1.3, and one that ONNX Runtime has in ONNX's domain without a page.
_ELSEWHERE = {
    **dict.fromkeys(("Affine", "Crop", "ImageScaler", "ParametricSoftplus", "ScaledTanh"), _EXPERIMENTAL),
    "SimplifiedLayerNormalization": _OF_ONNX_RUNTIME,
}

# The packages in which the names in specs/about were found: a test compares them with the list of what they have.
FOUND_IN = {
    "PyTorch": ("torch 2.11.0", "torchvision 0.26.0"),
    "TensorFlow": ("tensorflow 2.21.0", "keras 3.15.1"),
}


class LibraryCounterpart(NamedTuple):
    """An operator of another library that computes the same, or a case of it, and the address that describes it."""

    library: str
    name: str
    source: str


def counterparts(spec: OperatorSpec, about: AboutOperator) -> list[LibraryCounterpart]:
    """Return the counterparts of an operator in ONNX, WebNN, PyTorch and TensorFlow."""
    both = (*spec.names.items(), *about.names.items())
    return [LibraryCounterpart(library, name, _source(library, name)) for library, names in both for name in names]


def _source(library: str, name: str) -> str:
    """Return the address of the page that describes a name."""
    if library == "ONNX":
        contributed = name.startswith("com.microsoft.")
        return (_CONTRIBUTED if contributed else _ELSEWHERE.get(name, _ONNX)).format(name)
    if library == "WebNN":
        return _WEBNN.format(name.lower())
    if library == "PyTorch":
        return (_TORCHVISION if name.startswith("torchvision.") else _PYTORCH).format(name)
    return _TENSORFLOW.format(name.replace(".", "/"))
