"""ONNX models of a few lines that ask for gigabytes or for hours: `validate` ends soon and takes little memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_models import INT64, model, node, numbers, save, tensor

onnx = pytest.importorskip("onnx")
helper = onnx.helper

PATIENCE = 120  # seconds, for what would never end if it went wrong
MOST = 192 * 2**20  # bytes of memory; NumPy and onnx take 60 MB of them
# Checks a model in a process with 4 GB where that can be limited; prints the exit code, and the peak where it is known.
VALIDATE = """\
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
except (ImportError, ValueError, OSError):
    pass
from dmlcheck.cli import main
try:
    main(["validate", *sys.argv[1:]], prog_name="dmlcheck")
except SystemExit as end:
    code = end.code
peak = 0
try:
    with open("/proc/self/status", encoding="ascii") as file:
        (peak,) = (int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
except OSError:
    pass
print()
print(int(code), peak)
"""
OPSETS = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]


def with_branch(*nodes: Any) -> list[Any]:
    """Return nodes after an If, for which types inside of it were once inferred of the whole model."""
    branch = helper.make_graph([node("Relu", "x", "z")], "branch", [], [tensor("z", [4])])
    return [node("If", "c", "w", then_branch=branch, else_branch=branch), *nodes]


def chosen(made: Any, *outputs: str) -> Any:
    """Return a model with the condition of its If as an input, and outputs that are whole numbers."""
    made.graph.input.append(tensor("c", [], 9))
    made.graph.output.extend(tensor(name, [4], INT64) for name in outputs)
    return made


def doubling_numbers() -> Any:
    nodes = with_branch(*(node("Concat", f"n{i} n{i}", f"n{i + 1}", axis=0) for i in range(34)))
    return chosen(model(nodes, {"x": [4]}, {}, [numbers("n0", [1])]), "n34")


def doubling_dimensions() -> Any:
    nodes = with_branch(*(node("Gather", f"g{i} g{i}", f"g{i + 1}") for i in range(34)))
    made = chosen(model(nodes, {"x": [4]}, {}), "g34")
    made.graph.input.append(tensor("g0", [1, 1], INT64))
    return made


def megabytes_of_sizes() -> Any:
    weight = onnx.TensorProto(name="w", data_type=1, dims=[2**31 - 1] * 200_000)
    nodes = [node("Add", "x w", "y"), *(node("Relu", "x", f"z{i}") for i in range(2000))]
    return model(nodes, {"x": [3] * 200_000}, {"y": [4]}, [weight])


def name_in_a_function() -> Any:
    nodes = [node("Identity", "a", f"b{i}") for i in range(9000)]
    function = helper.make_function("own", "F", ["a"], ["b"], [*nodes, node("Identity", "a", "b")], OPSETS)
    name = "n" * 600_000
    return model([node("F", name, "y", domain="own")], {name: [4]}, {"y": [4]}, functions=[function])


def name_of_a_branch() -> Any:
    nodes = [node("Relu", "x", f"z{i}") for i in range(2000)]
    branch = helper.make_graph(nodes, "branch", [], [tensor("z0", [4])])
    return chosen(model([node("If", "c", "w", "n" * 1_000_000, then_branch=branch)], {"x": [4]}, {"w": [4]}))


def name_of_a_size() -> Any:
    nodes = [node("Relu", f"x{i}", f"x{i + 1}") for i in range(4000)]
    return model(nodes, {"x0": ["n" * 1_000_000]}, {"y": [4]})


def growing_sequence() -> Any:
    nodes = [node("SequenceInsert", f"s{i} x", f"s{i + 1}") for i in range(8000)]
    return model([node("SequenceConstruct", "x", "s0"), *nodes], {"x": [4]}, {"y": [4]})


def nested_functions() -> Any:
    """Return 19 functions, each of which calls the next one twice: half a million nodes."""
    functions = []
    for i in range(18):
        nodes = [node(f"F{i + 1}", names, outputs, domain="own") for names, outputs in (("a", "m"), ("m", "b"))]
        functions.append(helper.make_function("own", f"F{i}", ["a"], ["b"], nodes, OPSETS))
    last = helper.make_function("own", "F18", ["a"], ["b"], [node("Relu", "a", "m"), node("Relu", "m", "b")], OPSETS)
    return model([node("F0", "x", "y", domain="own")], {"x": [4]}, {"y": [4]}, functions=[*functions, last])


def weights() -> Any:
    weight = helper.make_tensor("w", 1, [25_000_000], bytes(100_000_000), raw=True)
    constant = helper.make_tensor("", 1, [12_500_000], bytes(50_000_000), raw=True)
    nodes = [node("Add", "x w", "y"), node("Constant", "", "c", value=constant)]
    return model(nodes, {"x": [25_000_000]}, {"y": [4]}, [weight])


def steps_of_a_scan() -> Any:
    body = helper.make_graph([node("Relu", "e", "z")], "body", [tensor("e", [4])], [tensor("z", [4])])
    return model([node("Scan", "x", "y", body=body, num_scan_inputs=2**62)], {"x": [3, 4]}, {"y": [3, 4]})


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (doubling_numbers, 0, "2 nodes checked"),
        (doubling_dimensions, 1, "of unknown sizes"),
        (megabytes_of_sizes, 5, "the sizes of x are not known; 2,001 nodes depend on the input x"),
        (name_in_a_function, 2, "bytes when its functions are inlined"),
        (name_of_a_branch, 0, "2,000 nodes checked"),
        (name_of_a_size, 5, "the sizes of x0 are not known"),
        (growing_sequence, 5, "8001 run elsewhere"),
        (nested_functions, 2, "has more than 50,000 nodes when its functions are inlined"),
        (weights, 0, "1 node checked"),
        (steps_of_a_scan, 0, "1 node checked"),
    ],
)
def test_a_small_model_asks_for_little(make: Callable[[], Any], code: int, said: str, tmp_path: Path) -> None:
    path = save(make(), str(tmp_path / "model.onnx"))
    command = [sys.executable, "-c", VALIDATE, path]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert done.stderr == b""
    text = done.stdout.decode("utf-8")
    found, peak = map(int, text.splitlines()[-1].split())
    assert found == code
    assert said in text
    assert peak < MOST
