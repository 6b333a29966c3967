"""`eval` of ONNX models: what is said, and what is printed of each output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_models import constant, onnx, ort, perceptron
from whole_models import model, node, save

from dmlcheck.formats.registry import opened
from dmlcheck.implementations import make
from dmlcheck.models.cases import unknown_size
from dmlcheck.models.values import evaluated_model
from dmlcheck.running.evaluate import Evaluated, EvaluationRequest

pytestmark = pytest.mark.usefixtures("folder")

helper = onnx.helper
OF_SIZES = "Shape gives sizes, which DirectML has in descs only"


def evaluated(made: Any, **wanted: Any) -> list[Evaluated]:
    save(made)
    return list(evaluated_model(opened("model.onnx"), EvaluationRequest(make("reference"), **wanted)))


def remarks(found: list[Evaluated]) -> list[str]:
    return [one.remark for one in found if one.remark is not None]


def giving(nodes: list[Any], constants: list[Any] = [], **kinds: int) -> Any:  # noqa: B006
    """Return a model of x {2} whose outputs are of some kinds."""
    made = model(nodes, {"x": [2]}, {}, constants)
    made.graph.output.extend(helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items())
    return made


def test_the_outputs_are_those_of_the_model_whole() -> None:
    *_, found = evaluated(perceptron(), sizes={"batch": 3}, seed=4)
    x = np.random.default_rng(4).standard_normal((3, 16)).astype(np.float32)
    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    (expected,) = session.run(["y"], {"x": x})
    values, data_type = found.outputs["y"]
    assert (found.name, data_type) == ("model", "FLOAT32")
    np.testing.assert_allclose(values, expected, rtol=1e-5)


def test_inputs_that_are_random_are_said_to_be() -> None:
    made = giving([node("Shape", "x", "y", "size")], y=7)
    assert remarks(evaluated(made, seed=7)) == [
        "the inputs are random, with the seed 7",
        f"Shape-15 (1 node: size) is computed by ONNX's own evaluator: {OF_SIZES}",
    ]


def test_undefined_elements_are_masked() -> None:
    np.savez("in.npz", x=np.array([300, 4], np.float32))
    made = giving([node("Cast", "x", "i", to=3), node("Cast", "i", "y", to=1)], i=3, y=1)
    found = evaluated(made, inputs="in.npz")
    assert "elements of 'i' are undefined, and with them the results that follow from it" in remarks(found)
    assert found[-1].undefined["i"].tolist() == [True, False]


def test_types_that_directml_lacks_are_printed_as_others_or_not() -> None:
    np.savez("in.npz", x=np.array([1, 0], np.float32))
    nodes = [node("Cast", "x", name, to=kind) for name, kind in (("half", 16), ("text", 8), ("truth", 9))]
    found = evaluated(giving(nodes, half=16, text=8, truth=9), inputs="in.npz")
    assert "'half' is bfloat16, and printed as FLOAT32" in remarks(found)
    assert any(remark.startswith("'text' is not printed: it is an array of ") for remark in remarks(found))
    printed = {name: (values.tolist(), kind) for name, (values, kind) in found[-1].outputs.items()}
    assert printed == {"half": ([1, 0], "FLOAT32"), "truth": ([1, 0], "UINT8")}
    assert found[-1].outputs["truth"][0].dtype == np.uint8


def test_the_tensors_of_a_sequence_are_numbered() -> None:
    np.savez("in.npz", x=np.array([1, 2], np.float32))
    made = giving([node("SequenceConstruct", "x two", "s")], [constant("two", [3.0])])
    made.graph.output.append(helper.make_tensor_sequence_value_info("s", 1, None))
    outputs = evaluated(made, inputs="in.npz")[-1].outputs
    assert {name: values.tolist() for name, (values, _) in outputs.items()} == {"s[0]": [1, 2], "s[1]": [3]}


def test_a_node_that_is_not_computed_ends_it() -> None:
    (found,) = evaluated(giving([node("Gadget", "x", "y", "gadget", domain="own")], y=1))
    (wrong,) = found.diagnostics
    text = "the node gadget (own.Gadget) is not computed: DirectML has no operator that computes own.Gadget"
    assert (wrong.rule, wrong.message, wrong.file, found.is_wrong) == ("not-mapped", text, "model.onnx", False)


def test_an_output_that_nothing_gives_is_an_error() -> None:
    *_, found = evaluated(giving([], y=1))
    assert [wrong.message for wrong in found.diagnostics] == ["nothing gives y"]


def test_a_size_for_a_name_is_an_error_if_no_size_has_one() -> None:
    assert unknown_size({"N": 1}, frozenset()) == "--dim N: no size of the model has a name"
    assert unknown_size({"N": 1}, frozenset({"batch"})) == "--dim N: no size has that name; the names are batch"


def test_what_is_wrong_with_the_model_or_its_sizes_is_wrong_input() -> None:
    (found,) = evaluated(perceptron())
    assert (found.diagnostics[0].rule, found.is_wrong) == ("unknown-sizes", True)
    (found,) = evaluated(perceptron(), sizes={"bacth": 3})
    assert "--dim bacth: no size has that name; did you mean batch?" in found.diagnostics[0].message
    Path("broken.onnx").write_bytes(b"no model")
    (found,) = evaluated_model(opened("broken.onnx"), EvaluationRequest(make("reference")))
    assert (found.diagnostics[0].rule, found.is_wrong) == ("onnx-syntax", True)


def test_a_model_without_outputs_has_nothing_to_print() -> None:
    assert evaluated(giving([node("Relu", "x", "y")]))[-1].nothing == "model.onnx has no output to print"
