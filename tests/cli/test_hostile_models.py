"""ONNX models that could grow in onnx or in dmlcheck: `validate` ends soon and takes little memory.

What could grow in onnx is small here, and the limit that stops it is lower than it is for users.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck
from whole_models import model, node, numbers, save, tensor

from dmlcheck.onnx.model import file, values

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


def doubling_numbers() -> Any:
    """Return sizes that are joined to themselves: y has eight dimensions."""
    nodes = [node("Concat", f"n{i} n{i}", f"n{i + 1}", axis=0) for i in range(3)]
    nodes += [node("Reshape", "x n3", "y"), node("Relu", "y", "z")]
    return model(nodes, {"x": [1]}, {"z": ["a"] * 8}, [numbers("n0", [1])])


def doubling_dimensions() -> Any:
    """Return indices whose dimensions add up: g3 has nine."""
    made = model([node("Gather", f"g{i} g{i}", f"g{i + 1}") for i in range(3)], {}, {"g3": ["a"] * 9}, kind=7)
    made.graph.input.append(tensor("g0", [1, 1], 7))
    return made


def many_sizes() -> Any:
    weight = onnx.TensorProto(name="w", data_type=1, dims=[3] * 20)
    nodes = [node("Add", "x w", "y"), *(node("Relu", "x", f"z{i}") for i in range(3))]
    return model(nodes, {"x": [3] * 20}, {"y": [4]}, [weight])


def name_in_a_function() -> Any:
    nodes = [node("Identity", "a", f"b{i}") for i in range(9)]
    function = helper.make_function("own", "F", ["a"], ["b"], [*nodes, node("Identity", "a", "b")], OPSETS)
    name = "n" * 600
    return model([node("F", name, "y", domain="own")], {name: [4]}, {"y": [4]}, functions=[function])


def name_of_a_size() -> Any:
    nodes = [node("Relu", f"x{i}", f"x{i + 1}") for i in range(4)]
    return model(nodes, {"x0": ["n" * 300]}, {"y": [4]})


def nested_functions() -> Any:
    """Return three functions, each of which calls the next one twice: eight nodes."""
    functions = []
    for i in range(2):
        nodes = [node(f"F{i + 1}", names, outputs, domain="own") for names, outputs in (("a", "m"), ("m", "b"))]
        functions.append(helper.make_function("own", f"F{i}", ["a"], ["b"], nodes, OPSETS))
    last = helper.make_function("own", "F2", ["a"], ["b"], [node("Relu", "a", "m"), node("Relu", "m", "b")], OPSETS)
    return model([node("F0", "x", "y", domain="own")], {"x": [4]}, {"y": [4]}, functions=[*functions, last])


@pytest.mark.parametrize(
    ("make", "limit", "lowered", "code", "said"),
    [
        (doubling_numbers, (values, "MOST_VALUES"), 4, 0, f"the sizes of y are [{', '.join('?' * 8)}]"),
        (doubling_dimensions, (values, "_MOST_FOLLOWED"), 4, 0, "the sizes of g2 are not known"),
        (many_sizes, (values, "_MOST_FOLLOWED"), 10, 5, "the sizes of x are not known; 4 nodes depend on the input x"),
        (name_of_a_size, (values, "_MOST_BYTES"), 200, 5, "the sizes of x0 are not known"),
        (name_in_a_function, (file, "MOST_BYTES"), 2000, 2, "has more than 2,000 bytes when its functions are inlined"),
        (nested_functions, (file, "MOST_INLINED"), 7, 2, "has more than 7 nodes when its functions are inlined"),
    ],
)
def test_what_grows_from_node_to_node_is_followed_to_a_limit(
    make: Callable[[], Any],
    limit: tuple[Any, str],
    lowered: int,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = save(make(), str(tmp_path / "model.onnx"))
    assert said not in dmlcheck("validate", path).output
    monkeypatch.setattr(*limit, lowered)
    result = dmlcheck("validate", path)
    assert said in result.output
    assert result.exit_code == code


def test_the_limits_are_far_below_what_onnx_and_memory_bear() -> None:
    assert (values.MOST_VALUES, values._MOST_FOLLOWED, values._MOST_BYTES) == (1024, 100, 4096)
    assert (file.MOST_INLINED, file.MOST_BYTES) == (50_000, 128 * 2**20)


def name_of_a_branch() -> Any:
    nodes = [node("Relu", "x", f"z{i}") for i in range(2000)]
    branch = helper.make_graph(nodes, "branch", [], [tensor("z0", [4])])
    made = model([node("If", "c", "w", "n" * 1_000_000, then_branch=branch)], {"x": [4]}, {"w": [4]})
    made.graph.input.append(tensor("c", [], 9))
    return made


def growing_sequence() -> Any:
    nodes = [node("SequenceInsert", f"s{i} x", f"s{i + 1}") for i in range(8000)]
    return model([node("SequenceConstruct", "x", "s0"), *nodes], {"x": [4]}, {"y": [4]})


def weights() -> Any:
    weight = helper.make_tensor("w", 1, [25_000_000], bytes(100_000_000), raw=True)
    constant = helper.make_tensor("", 1, [12_500_000], bytes(50_000_000), raw=True)
    nodes = [node("Add", "x w", "y"), node("Constant", "", "c", value=constant)]
    return model(nodes, {"x": [25_000_000]}, {"y": [4]}, [weight])


def steps_of_a_scan() -> Any:
    body = helper.make_graph([node("Relu", "e", "z")], "body", [tensor("e", [4])], [tensor("z", [4])])
    return model([node("Scan", "x", "y", body=body, num_scan_inputs=2**62)], {"x": [3, 4]}, {"y": [3, 4]})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (name_of_a_branch, 0, "2,000 nodes checked"),
        (growing_sequence, 5, "8001 run elsewhere"),
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
