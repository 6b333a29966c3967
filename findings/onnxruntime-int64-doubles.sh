#!/usr/bin/env bash
# ONNX Runtime 1.32.0 adds up and multiplies INT64 as doubles: from 2^53 on, results are rounded.
#
# ReduceSum of 2^53, 1, 1 and 1 gives 2^53 + 4. ReduceProd, ReduceL1, ReduceSumSquare and ReduceMean of INT64 round
# too, and so do Pow, if the exponent is not 2 or 3, and an Einsum that sums over an axis of one operand: 2^53 + 1 to
# the power of 1 is 2^53. All results fit in INT64. Add, Mul, ReduceMax, a MatMul with ones and sums of INT32 are exact.
# Nanoseconds since 1970 are about 2^60, where neighbouring doubles are 256 apart.
#
# Version: ONNX Runtime 1.32.0, execution provider CPU, with and without its optimizer, beside onnx 1.23.2.
# Documented: ONNX, operators ReduceSum-13, ReduceProd-18, ReduceL1-18, ReduceSumSquare-18, ReduceMean-18, Pow-15 and
#   Einsum-12: all name tensor(int64). Expected are Python's integers.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import math
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
LARGE, NOON = 2**53, 1_764_590_400_000_000_000  # the nanoseconds of a noon in 2025


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def seen(node, rows, kind="int64", **weights):
    """Return what ONNX Runtime, with and without its optimizer, and the evaluator make of a matrix."""
    x = np.array(rows, kind)
    given = ", ".join(f"int64[{len(w)}] {name} = {{{', '.join(map(str, w))}}}" for name, w in weights.items())
    sizes = "n" if node.startswith(("MatMul", "Einsum")) else "n,m"
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        g ({kind}[{len(x)},{len(x[0])}] x) => ({kind}[{sizes}] y) <{given}> {{ y = {node} }}""")
    onnx.checker.check_model(model, full_check=True)
    found = []
    for level in ("ORT_ENABLE_ALL", "ORT_DISABLE_ALL"):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found.append(session.run(None, {"x": x})[0].ravel().tolist())
    return *found, ReferenceEvaluator(model).run(None, {"x": x})[0].ravel().tolist()


def exact(node, rows, right, kind="int64", **weights):
    found, plain, evaluated = seen(node, rows, kind, **weights)
    print(f"{node} of {rows}, {kind}: {found}")
    claim(found == plain == evaluated == right, "exact")


def rounded(node, rows, right, wrong, evaluator=True, **weights):
    found, plain, evaluated = seen(node, rows, **weights)
    print(f"{node} of {rows}: ONNX Runtime {found}, by hand {right}")
    claim(found == plain == wrong != right, "ONNX Runtime rounds to a double")
    claim((evaluated == right) == evaluator, "the evaluator " + ("is exact" if evaluator else "rounds as well"))


print(f"onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
row = [LARGE, 1, 1, 1]
claim(float(LARGE + 1) == LARGE and float(LARGE + 3) == LARGE + 4, "doubles skip 2^53 + 1 and 2^53 + 3")
rounded("ReduceSum(x)", [row], [LARGE + 3], [LARGE + 4])
rounded("ReduceSum(x, axes)", [row], [LARGE + 3], [LARGE + 4], axes=[1])
rounded("ReduceSum(x, axes)", [[number, 5] for number in row], [LARGE + 3, 20], [LARGE + 4, 20], axes=[0])
exact("ReduceSum(x)", [[2**24, 1]], [2**24 + 1], kind="int32")
exact("Add(x, x)", [[LARGE // 2 + 1, 3]], [LARGE + 2, 6])
exact("MatMul(x, ones)", [row], [LARGE + 3], ones=[1, 1, 1, 1])
rounded('Einsum<equation="ij->i">(x)', [row], [LARGE + 3], [LARGE + 4])
exact("ReduceMax(x)", [[LARGE + 1, LARGE]], [LARGE + 1])
rounded("ReduceL1(x)", [[-LARGE, -1, 1, 1]], [LARGE + 3], [LARGE + 4])
odd = [94906267, 94906267]
rounded("ReduceProd(x)", [odd], [math.prod(odd)], [int(float(math.prod(odd)))])
exact("Mul(x, x)", [odd], [math.prod(odd)] * 2)
rounded("ReduceSumSquare(x)", [odd[:1]], [math.prod(odd)], [int(float(math.prod(odd)))])
rounded("ReduceMean(x)", [[LARGE + 1, LARGE + 1]], [LARGE + 1], [LARGE], evaluator=False)
times = [NOON + 1, 1000]
rounded("ReduceSum(x)", [times], [sum(times)], [int(float(sum(times)))])
print(f"a microsecond after noon is off by {int(float(sum(times))) - sum(times)} nanoseconds")
rounded("Pow(x, by)", [[LARGE + 1, 3]], [LARGE + 1, 3], [LARGE, 3], by=[1])
exact("Pow(x, by)", [[odd[0], 3]], [odd[0] ** 2, 9], by=[2])
rounded("Pow(x, by)", [[4099, 3]], [4099**5, 243], [int(4099.0**5), 243], by=[5])
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
