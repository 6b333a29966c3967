"""Where the expected results of cases come from, operator by operator, as the sources of the cases say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.onnx.export.mappings import mappings
from dmlcheck.specs.names import short_operator

_PATTERNS = {
    "page": r"_OPERATOR_DESC|\bpage|errat|remark|description|documentation|constraint|support table|\bfield",
    "hand": r"by hand|closed form",
    "program": r"mpmath|fraction|exact|arithmetic|python|numpy|program",
    "standard": r"IEEE 754",
    "onnxruntime": r"onnx ?runtime",
    "onnx": r"onnx's|ReferenceEvaluator|onnx node|\bONNX \d",
    "PyTorch": r"pytorch|torch",
    "vendor": r"DirectML's outputs|on DirectML|DirectML took|published|known.answer|Random123",
    "measured": r"DirectML \d[\d., and]* on ",
    "property": r"property|transpose of|inverse of",
    "open": r"unspecified|left open|open point|no source says|does not say",
}
_FINDERS = {kind: re.compile(pattern, re.IGNORECASE).search for kind, pattern in _PATTERNS.items()}
OTHER = "other"
KINDS: Mapping[str, str] = {
    "page": "an example, a formula or a rule of the operator's page, or an erratum",
    "hand": "worked out by hand",
    "program": "an independent program: exact fractions, mpmath, plain Python or NumPy",
    "standard": "IEEE 754",
    "onnxruntime": "ONNX Runtime",
    "onnx": "the evaluator or the tests of onnx",
    "PyTorch": "PyTorch",
    "vendor": "results that a vendor or an author published",
    "measured": "DirectML itself, executed: the source names releases, device and date",
    "property": "a property that the result must have",
    "open": "the documentation leaves the result open",
    OTHER: "something else that the case names",
}


class Evidence(NamedTuple):
    """The evidence for an operator's results: the number of its cases with results, by kind of source.

    A source may be of several kinds. `sources` are the sources themselves with the number of their cases. `compared`
    counts the cases without results, on which implementations are compared with the reference engine, and `legality`
    the cases that only say whether a desc is valid. `has_onnx` says that ONNX has the operator: its cases then run on
    ONNX Runtime too.
    """

    operator: str
    results: int
    kinds: Mapping[str, int]
    sources: Mapping[str, int]
    compared: int
    legality: int
    has_onnx: bool = False


def evidence(operator: str, cases: Iterable[Case]) -> Evidence:
    """Return the evidence for an operator's results in its cases."""
    sources: dict[str, int] = {}
    compared = legality = 0
    for case in cases:
        if case.is_without_results:
            compared += 1
        elif case.outputs is None:
            legality += 1
        else:
            sources[case.source or ""] = sources.get(case.source or "", 0) + 1
    kinds = dict.fromkeys(KINDS, 0)
    for source, count in sources.items():
        for kind in source_kinds(source):
            kinds[kind] += count
    has_onnx = short_operator(operator) in mappings()
    return Evidence(operator, sum(sources.values()), kinds, sources, compared, legality, has_onnx)


def source_kinds(source: str) -> tuple[str, ...]:
    """Return the kinds of a source, in the order of KINDS."""
    return tuple(kind for kind, found in _FINDERS.items() if found(source)) or (OTHER,)
