"""ONNX's own tests of operators: what the provider was seen to make of them, and what it is said to make.

Without graph optimizations nothing is folded, so that every node counts, with each desc that it has. By default the
descs of compiled graphs are those that users have; only models of one node that nothing is fused to are compared.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.model import nodes as found_nodes
from dmlcheck.onnx.model.file import Model
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode
from dmlcheck.onnx.model.values import CONSTANT
from dmlcheck.onnx.provider.registrations import is_registered, registrations
from dmlcheck.validation import minimum_level

FILE = Path(__file__).parent / "recorded_node_tests.json.gz"
ONNX = "1.23.2"


class Recorded(NamedTuple):
    """A row of the file, its descs as text."""

    name: str
    digest: str
    stage: str
    descs: list[str]
    default: list[str] | None
    differences: tuple[float | None, float | None]
    is_on_directml: bool


@cache
def recorded() -> dict[str, Recorded]:
    """Return the rows by the names of their models."""
    document = json.loads(gzip.decompress(FILE.read_bytes()))
    texts = document["descs"]
    rows = [
        Recorded(
            name,
            digest,
            stage,
            [texts[number] for number in plain],
            None if default is None else [texts[number] for number in default],
            (differences[0], differences[1]),
            is_on_directml,
        )
        for name, digest, stage, plain, default, differences, is_on_directml in document["models"]
    ]
    return {row.name: row for row in rows}


def digest_of(model: Any) -> str:
    """Return the beginning of a digest of a graph and the opsets of a model."""
    parts = [model.graph.SerializeToString(deterministic=True)]
    parts += [each.SerializeToString(deterministic=True) for each in model.opset_import]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def text_of(made: Counterpart) -> str:
    """Return an operator as the text that a desc of the file has."""
    return desc_text(made.operator, fields_of(made.fields))


def desc_text(operator: str, fields: Mapping[str, Any]) -> str:
    """Return a desc as text: its fields by name, without those that are left out."""
    given = (f"{name}={_text(value)}" for name, value in sorted(fields.items()) if value not in (None, []))
    return f"{operator} {'; '.join(given)}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and "Sizes" in value:
        return _tensor(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}={_text(each)}" for name, each in sorted(value.items())) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """Return a number with the digits of its FLOAT32, or as a whole number."""
    if not np.isfinite(value) or value != int(value):
        return str(np.float32(value))
    return str(int(value) if isinstance(value, int) else int(np.float32(value)))


def _tensor(given: Mapping[str, Any]) -> str:
    """Return a tensor with the strides of what has more than one element, if they are not those of packed elements."""
    sizes = given["Sizes"]
    own, packed = given.get("Strides") or _packed(sizes), _packed(sizes)
    strides = [step for step, size in zip(own, sizes, strict=True) if size > 1]
    is_packed = strides == [step for step, size in zip(packed, sizes, strict=True) if size > 1]
    return f"{given['DataType']} {_numbers(sizes)}" + ("" if is_packed else f" by {_numbers(strides)}")


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


def _packed(sizes: list[int]) -> list[int]:
    return [int(np.prod(sizes[place + 1 :], dtype=np.int64)) for place in range(len(sizes))]


onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.slow

COPIES = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}  # without optimizations no operator copies
LARGEST_ROUNDING = 1e-3
SMALL = 64  # elements of an input whose numbers are known, where sizes follow from them
OF_SIZES = (6, 7)  # INT32, INT64
IN_A_RUN = "how many there are, and what is done to them, is known when it has run"
BRANCHES = "the branch of an If that is taken, and its sizes, are known when it has run"
OF_CPU = "ONNX Runtime's CPU refuses it in the run"
EXPLAINED = {
    "test_affine_grid_2d_align_corners_expanded": BRANCHES,
    "test_affine_grid_2d_expanded": BRANCHES,
    "test_affine_grid_3d_align_corners_expanded": BRANCHES,
    "test_affine_grid_3d_expanded": BRANCHES,
    "test_attention_4d_diff_heads_mask4d_padded_kv": OF_CPU,
    "test_loop11": IN_A_RUN,
    "test_nonzero_example": IN_A_RUN,
}
# A session that is created without optimizations is not by default, of which the reason is not known ("narrowing_error"
# of two graphs with If), or one that a known deviation tells ("invalid unordered_map key", a Split without elements).
ONLY_BY_DEFAULT = {"test_affine_grid_3d_align_corners_expanded", "test_affine_grid_3d_expanded"}


class Case(NamedTuple):
    """A model with the row of the file, and its nodes: as they stand, and as they are when it is loaded."""

    seen: Recorded
    model: Any
    plain: list[ModelNode]
    loaded: list[ModelNode]

    @property
    def is_refused(self) -> bool:
        return any(isinstance(node.found, UnusableNode) and node.found.is_error for node in self.plain)

    @property
    def is_refused_by_directml(self) -> bool:
        made = [each for node in self.plain if not isinstance(node.found, UnusableNode) for each in node.found]
        return None in [minimum_level(read_desc(each.operator, fields_of(each.fields))) for each in made]

    @property
    def has_deviation(self) -> bool:
        return any(node.deviation for node in self.plain)


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    collect = pytest.importorskip("onnx.backend.test.case.node").collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the values that onnx makes
        made = {case.name: case for case in collect(None) if case.model is not None}
    same = [row for name, row in recorded().items() if name in made and digest_of(made[name].model) == row.digest]
    assert len(same) == len(recorded()) or onnx.__version__ != ONNX
    assert len(same) > 1000
    return [Case(row, made[row.name].model, *nodes_of_case(made[row.name])) for row in same]


def nodes_of_case(case: Any) -> tuple[list[ModelNode], list[ModelNode]]:
    with pytest.MonkeyPatch.context() as patch:
        place, origin = found_nodes.place_of, found_nodes.origin_of_outputs
        patch.setattr(found_nodes, "place_of", lambda *of: place(*of).replace(CONSTANT, ""))
        patch.setattr(
            found_nodes, "origin_of_outputs", lambda *of, is_taken, **_: origin(*of, is_taken=is_taken, is_static=False)
        )
        plain = nodes_with_numbers(case)
    return plain, nodes_with_numbers(case)


def nodes_with_numbers(case: Any) -> list[ModelNode]:
    """Return the nodes, the numbers known that the provider reads on the CPU, and if need be all few whole numbers."""
    read = set(read_on_cpu(case.model))
    found = list(found_nodes.nodes_of(with_numbers(case, read)))
    if not any(isinstance(node.found, UnusableNode) and node.found.rule == "unknown-sizes" for node in found):
        return found
    whole = {info.name for info in case.model.graph.input if info.type.tensor_type.elem_type in OF_SIZES}
    return list(found_nodes.nodes_of(with_numbers(case, read | whole)))


def read_on_cpu(model: Any) -> Iterator[str]:
    for node in model.graph.node:
        rows = registrations().rows.get(node.op_type, ())
        yield from (node.input[index] for row in rows[-1:] for index in row.on_cpu if index < len(node.input))


def with_numbers(case: Any, names: Collection[str]) -> Model:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    given = zip(model.graph.input, case.data_sets[0][0], strict=True)
    known = [onnx.numpy_helper.from_array(np.asarray(values), info.name) for info, values in given
             if info.name in names and np.size(values) <= SMALL]  # fmt: skip
    model.graph.initializer.extend(known)
    return Model(model, frozenset())


# ---- as they stand


def descs_as_they_stand(case: Case) -> list[str]:
    """Return the descs of a model's nodes, without copies that only change sizes."""
    return [
        text
        for node in case.plain
        if not isinstance(node.found, UnusableNode)
        for text in texts_of(node, node.found)
        if not (is_copy(text) and (node.operator.rpartition("-")[0] in COPIES or is_inlined(node)))
    ]


def is_inlined(node: ModelNode) -> bool:
    return not is_registered(node.operator.rpartition("-")[0])


def texts_of(node: ModelNode, found: Any) -> list[str]:
    """Return the descs of a node: steps that follow each other and are alike are one operator, which is used again."""
    texts = [text_of(without_constant(each)) for each in found]
    return texts if is_inlined(node) else [text for text, _ in groupby(texts)]


def without_constant(made: Counterpart) -> Counterpart:
    """Return a power of a constant exponent as one of a tensor, which it is without graph optimizations."""
    if made.operator != "ELEMENT_WISE_CONSTANT_POW":
        return made
    x = made.fields["InputTensor"]
    exponent = x.view(x.shape, (0,) * x.ndim)
    tensors = {"InputTensor": x, "ExponentTensor": exponent, "OutputTensor": made.fields["OutputTensor"]}
    return Counterpart("ELEMENT_WISE_POW", tensors)


def is_copy(text: str) -> bool:
    return text.startswith("ELEMENT_WISE_IDENTITY ") and " by " not in text


def explained(case: Case) -> str:
    """Return how a model agrees with what was seen, or "" if it does not."""
    if case.seen.stage != "done":
        is_refused = case.is_refused or case.is_refused_by_directml
        return "refused" if is_refused else EXPLAINED.get(case.seen.name, "")
    if case.is_refused:
        return ""
    made, seen = Counter(descs_as_they_stand(case)), Counter(case.seen.descs)
    if made == seen:
        return "same"
    if any(is_inlined(node) for node in case.plain) and made == Counter(t for t in case.seen.descs if not is_copy(t)):
        return "same but for copies"
    return EXPLAINED.get(case.seen.name, "a known deviation" if case.has_deviation else "")


def test_every_model_is_as_it_was_seen_or_has_a_reason(cases: list[Case]) -> None:
    how = {case.seen.name: explained(case) for case in cases}
    assert [name for name, reason in how.items() if not reason] == []
    counts = Counter(how.values())
    numbers = counts["same"] + counts["same but for copies"], counts["refused"], counts["a known deviation"]
    assert numbers == (1308, 64, 2) or onnx.__version__ != ONNX  # as the guide has them


def test_reasons_are_only_of_models_that_need_them(cases: list[Case]) -> None:
    needed = {case.seen.name for case in cases if explained(case) == EXPLAINED.get(case.seen.name)}
    assert needed == EXPLAINED.keys() & {case.seen.name for case in cases}


# ---- as users have them


def descs_by_default(case: Case) -> set[str]:
    return {text_of(each) for node in case.loaded if not isinstance(node.found, UnusableNode) for each in node.found}


def test_descs_of_compiled_graphs_are_those_that_were_seen(cases: list[Case]) -> None:
    compared = [
        case
        for case in cases
        if len(case.loaded) == 1 and not is_inlined(case.loaded[0]) and case.seen.default is not None
    ]
    others = [case for case in compared if descs_by_default(case) != set(case.seen.default or ())]
    assert len(compared) > 700 or onnx.__version__ != ONNX
    assert [case.seen.name for case in others if not case.has_deviation and case.seen.name not in EXPLAINED] == []


def test_a_power_of_a_constant_is_seen_by_default_alone(cases: list[Case]) -> None:
    with_constant = [
        case for case in cases if any(text.startswith("ELEMENT_WISE_CONSTANT_POW ") for text in descs_by_default(case))
    ]
    assert [case.seen.name for case in with_constant] == ["test_mvn_expanded", "test_mvn_expanded_ver18"]
    assert all(descs_by_default(case) & set(case.seen.default or ()) for case in with_constant)
    assert not any("CONSTANT_POW" in text for case in with_constant for text in case.seen.descs)


def test_models_that_are_refused_by_default_alone_have_a_known_deviation(cases: list[Case]) -> None:
    refused = [case for case in cases if case.seen.stage == "done" and case.seen.default is None]
    assert len(refused) == len(ONLY_BY_DEFAULT) + 5 or onnx.__version__ != ONNX
    assert {case.seen.name for case in refused if not case.has_deviation} <= ONLY_BY_DEFAULT


# ---- results


def test_wrong_results_of_the_provider_are_known_deviations(cases: list[Case]) -> None:
    wrong = [case for case in cases if case.seen.is_on_directml and is_wrong(case)]
    assert len(wrong) > 10
    assert [case.seen.name for case in wrong if not case.has_deviation] == []


def is_wrong(case: Case) -> bool:
    """Whether an output is off by more than rounding, FLOAT16's as well."""
    return any(each is not None and each > LARGEST_ROUNDING for each in case.seen.differences)
