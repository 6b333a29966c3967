"""`eval` of ONNX models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commandline import GOOD, dmlcheck, write
from run_models import perceptron
from whole_models import model, node, save

pytestmark = pytest.mark.usefixtures("folder")


def test_the_outputs_of_a_model_are_printed_after_remarks() -> None:
    save(model([node("Cast", "x", "z", to=3), node("Neg", "x", "y")], {"x": [2]}, {"y": [2]}))
    np.savez("in.npz", x=np.array([300, 4], np.float32))
    result = dmlcheck("eval", "model.onnx", "--inputs", "in.npz")
    assert (result.exit_code, result.stdout) == (
        0,
        '# the inputs are from in.npz\nmodel:\n  "y": [-300, -4]\n',
    )


def test_undefined_elements_are_any() -> None:
    made = model([node("Cast", "x", "z", to=3)], {"x": [2]}, {})
    made.graph.output.add(name="z").type.tensor_type.elem_type = 3
    save(made)
    np.savez("in.npz", x=np.array([300, 4], np.float32))
    assert "\n  z: [any, 4]\n" in dmlcheck("eval", "model.onnx", "--inputs", "in.npz").stdout


def test_sizes_and_a_seed_make_random_inputs() -> None:
    save(perceptron())
    first, again, other = (dmlcheck("eval", "model.onnx", "--dim", "batch=2", *more).stdout
                           for more in ((), ("--seed", "0"), ("--seed", "1")))  # fmt: skip
    assert first.startswith("# the inputs are random, with the seed 0\nmodel:\n")
    assert first == again
    assert other.startswith("# the inputs are random, with the seed 1\nmodel:\n")
    assert first.splitlines()[1:] != other.splitlines()[1:]


def test_a_model_is_known_without_its_ending() -> None:
    save(perceptron())
    Path("model.onnx").rename("network")
    assert "\nnetwork:\n" in dmlcheck("eval", "network", "--dim", "batch=2").stdout


def test_a_node_that_is_not_computed_fails() -> None:
    save(model([node("Gadget", "x", "y", "gadget", domain="own")], {"x": [2]}, {"y": [2]}))
    result = dmlcheck("eval", "model.onnx")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "model.onnx: error[not-mapped]: the node gadget (own.Gadget) is not computed: " in result.stderr


@pytest.mark.parametrize(("name", "rule"), [("broken.onnx", "onnx-syntax"), ("absent.onnx", "file-not-found")])
def test_what_is_no_model_is_wrong_input(name: str, rule: str) -> None:
    write("broken.onnx", "no model")
    result = dmlcheck("eval", name)
    assert (result.exit_code, f"{name}: error[{rule}]: " in result.stderr) == (2, True)


def test_a_size_of_no_name_is_wrong_input() -> None:
    save(perceptron())
    result = dmlcheck("eval", "model.onnx", "--dim", "bacth=2")
    assert (result.exit_code, "no size has that name; did you mean batch?" in result.stderr) == (2, True)


@pytest.mark.parametrize("option", [["-k", "a"], ["--implementation", "onnxruntime"]])
def test_options_for_cases_are_not_for_models(option: list[str]) -> None:
    save(perceptron())
    result = dmlcheck("eval", "model.onnx", *option)
    assert result.exit_code == 2
    assert f"{option[0]} is for case files; model.onnx is an ONNX model" in result.output


def test_a_single_node_is_not_evaluated() -> None:
    save(perceptron())
    assert "Error: PATH::NAME is for case files; model.onnx is an" in dmlcheck("eval", "model.onnx::up").output


@pytest.mark.parametrize("option", [["--dim", "batch=2"], ["--seed", "1"]])
def test_options_for_models_are_not_for_cases(option: list[str]) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("eval", "a.yaml", *option)
    assert result.exit_code == 2
    assert f"{option[0]} is for ONNX models (.onnx); a.yaml is a case file" in result.output


def test_without_onnx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    save(perceptron())
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    result = dmlcheck("eval", "model.onnx")
    assert (result.exit_code, "onnx" in result.output) == (2, True)
