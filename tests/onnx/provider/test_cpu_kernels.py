"""What ONNX Runtime's CPU provider takes, and why it does not."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from whole_models import model, node, tensor

from dmlcheck.onnx.provider.cpu_kernels import is_known, kernels, kernels_of, meant, not_taken
from dmlcheck.onnx.provider.registrations import Typed, registrations

X = "input X"
FLOAT, FLOAT16, DOUBLE = 1, 10, 11

# Typed in from "Operators implemented by CPUExecutionProvider" in ONNX Runtime's docs/OperatorKernels.md at the commit
# that registrations.yaml names: an operator, versions of its schema, a type parameter and its types.
LISTED = """
Abs 6,13 T DOUBLE FLOAT INT16 INT32 INT64 INT8 UINT16 UINT32 UINT64 UINT8
Acos 7,22 T FLOAT
Add 14 T DOUBLE FLOAT INT16 INT32 INT64 INT8 UINT16 UINT32 UINT64 UINT8
Add 7,13 T DOUBLE FLOAT INT32 INT64 UINT32 UINT64
AffineGrid 20 T1 DOUBLE FLOAT
And 7 T BOOL
ArgMax 1,11,12,13 T DOUBLE FLOAT INT32 INT64 INT8 UINT8
AveragePool 7,10,11,19,22 T FLOAT
BatchNormalization 7,9 T DOUBLE FLOAT
BitShift 11 T UINT32 UINT64 UINT8
BlackmanWindow 17 T1 INT32 INT64
Ceil 6,13 T DOUBLE FLOAT
Clip 6,11 T FLOAT
Clip 12,13 T DOUBLE FLOAT FLOAT16 INT32 INT64 INT8 UINT32 UINT64 UINT8
Col2Im 18 T FLOAT
Concat 4,11,13 T BFLOAT16 BOOL DOUBLE FLOAT FLOAT16 INT16 INT32 INT64 INT8 STRING UINT16 UINT32 UINT64 UINT8
ConstantOfShape 9 T1 INT64
""".strip().splitlines()


@pytest.mark.parametrize("row", LISTED)
def test_kernels_are_those_that_onnx_runtime_lists(row: str) -> None:
    operator, versions, parameter, *types = row.split()
    for version in map(int, versions.split(",")):
        found = {each for kernel in kernels_of(operator, version) for each in kernel.types[parameter]}
        assert found == set(types), version


@pytest.mark.parametrize(("operator", "version"), [("Add", 6), ("Add", 15), ("Conv", 23), ("Clip", 5), ("Det", 10)])
def test_a_version_that_is_not_registered_has_no_kernel(operator: str, version: int) -> None:
    assert kernels_of(operator, version) == ()


def test_both_tables_are_of_one_release() -> None:
    assert kernels().release == registrations().release


def test_what_is_not_taken_says_what_is() -> None:
    assert not_taken("MatMul", 13, [Typed("T", "FLOAT", "input A")]) is None
    assert not_taken("Conv", 11, [Typed("T", "DOUBLE", X)]) == "the CPU takes FLOAT as input X, not DOUBLE"
    assert not_taken("com.microsoft.SkipGroupNorm", 1, []) == "the CPU has no kernel for it"
    assert not_taken("QGemm", 1, []) == "the CPU has no kernel for it"  # of com.microsoft
    mixed = [Typed("T", "FLOAT", X), Typed("T1", "DOUBLE", "input scale"), Typed("T2", "FLOAT", "input mean")]
    assert not_taken("BatchNormalization", 15, mixed) == "the CPU has no kernel for these types together"


def test_types_are_also_those_of_values_by_name() -> None:
    assert not_taken("GatherND", 13, [Typed("tensor(int64)", "INT64", "input indices")]) is None
    assert not_taken("GatherND", 13, [Typed("tensor(int64)", "INT32", "input indices")]) is not None


def test_inputs_of_float16_become_float_if_they_may() -> None:
    half = [Typed("T", "FLOAT16", X)]
    assert not_taken("Conv", 11, half) is None
    assert not_taken("Conv", 11, half, converts=False) is not None
    assert not_taken("Concat", 13, half, converts=False) is None
    assert not_taken("Conv", 11, [Typed("T", "BFLOAT16", X)]) is not None


def test_a_misspelt_operator_or_domain_is_told() -> None:
    assert meant("com.microsoft.SkipLayerNormalisation") == "did you mean com.microsoft.SkipLayerNormalization?"
    assert (
        meant("com.microsoft.SkipGroupNrom") == "did you mean com.microsoft.SkipGroupNorm?"
    )  # which no provider takes
    assert meant("com.microsft.FastGelu") == "did you mean com.microsoft?"
    assert meant("com.example.Mine") is None
    assert is_known("com.microsoft.SkipGroupNorm")
    assert is_known("com.microsoft.BiasSplitGelu")
    assert not is_known("com.microsoft.SkipGroupNrom")


# ---- beside the ONNX Runtime that is installed


CASES: list[tuple[Any, int, bool]] = [
    (node("MatMul", "x x", "y"), FLOAT, True),
    (node("MatMul", "x x", "y"), FLOAT16, True),
    (node("Erf", "x", "y"), DOUBLE, False),
    (node("Det", "x", "y"), FLOAT, True),
    (node("Det", "x", "y"), DOUBLE, False),
    (node("SkipGroupNorm", "x x x x", "y", groups=1, activation=0, domain="com.microsoft"), FLOAT, False),
    (node("BiasGelu", "x x", "y", domain="com.microsoft"), DOUBLE, False),
    (node("Inverse", "x", "y", domain="com.microsoft"), DOUBLE, True),
    (node("FastGelu", "x", "y", domain="com.microsoft"), DOUBLE, True),
]


@pytest.mark.parametrize(("made", "kind", "is_taken"), CASES)
def test_onnx_runtime_makes_a_session_of_what_the_cpu_takes(made: Any, kind: int, is_taken: bool) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    operator = f"{made.domain}.{made.op_type}" if made.domain else made.op_type
    version = {"MatMul": 13, "Det": 11, "Erf": 13}.get(made.op_type, 1)
    name = {FLOAT: "FLOAT", FLOAT16: "FLOAT16", DOUBLE: "DOUBLE"}[kind]
    assert (not_taken(operator, version, [Typed("T", name, X)]) is None) == is_taken
    whole = model([made], {}, {}, opset=17)
    whole.graph.input.append(tensor("x", [2, 2], kind))
    whole.graph.output.append(tensor("y", [], kind))
    whole.graph.output[0].type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    with nullcontext() if is_taken else pytest.raises(Exception, match="NOT_IMPLEMENTED"):
        onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
