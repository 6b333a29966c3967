#!/usr/bin/env bash
# ONNX Runtime 1.32.0 multiplies a transposed matrix with a vector as if it were not transposed.
#
# MatMul(Transpose(x), v) with a vector v is fused into FusedMatMul with transA = 1. For a vector the CPU kernel drops
# the flag: it reads the elements of x in their order as if x had the transposed sizes. So every result of a matrix that
# is not symmetric is wrong, with the default settings, for one matrix and for batches. The vector on the left is right,
# and so is a column (a matrix of one column), and so is everything with the extended optimizations switched off.
#
# Version: onnxruntime 1.32.0 (CPU, default settings), on models that onnx 1.23.2 checks.
# Documented: ONNX, operator MatMul: behaves like numpy.matmul. The page of com.microsoft.FusedMatMul: transA says that A
#   is transposed on its last two dimensions before the product.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model

onnxruntime.set_default_logger_severity(4)  # an expected refusal is no news
LEVELS = {name: getattr(onnxruntime.GraphOptimizationLevel, name) for name in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")}
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def run(model, level, **inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def model_of(text, opset):
    model = parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> ' + text)
    onnx.checker.check_model(model, full_check=True)
    return model



print(f"onnxruntime {version('onnxruntime')}")
X = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], np.float32)
V = np.array([1, 10, 100, 1000], np.float32)
RIGHT = [10741, 11852, 12963]  # by hand: 1 * 1 + 4 * 10 + 7 * 100 + 10 * 1000 is 10741
WRONG = [4321, 8765, 13209]  # of the rows 1 2 3 4, 5 6 7 8 and 9 10 11 12
ONE = model_of("g (float[4,3] x, float[4] v) => (float[3] y) { t = Transpose<perm = [1, 0]>(x) y = MatMul(t, v) }", 21)
BATCH = model_of(
    "g (float[1,4,3] x, float[4] v) => (float[1,3] y) { t = Transpose<perm = [0, 2, 1]>(x) y = MatMul(t, v) }", 21
)
LEFT = model_of("g (float[3,4] x, float[4] v) => (float[3] y) { t = Transpose<perm = [1, 0]>(x) y = MatMul(v, t) }", 21)
COLUMN = model_of(
    "g (float[4,3] x, float[4,1] v) => (float[3,1] y) { t = Transpose<perm = [1, 0]>(x) y = MatMul(t, v) }", 21
)
for name, model, x in (("one matrix", ONE, X), ("a batch", BATCH, X[None])):
    off, on = (run(model, level, x=x, v=V).ravel().tolist() for level in LEVELS)
    claim(off == RIGHT and on == WRONG, f"{name}: {off} unoptimized, which is right, and {on} by default")
claim(run(LEFT, "ORT_ENABLE_ALL", x=np.ascontiguousarray(X.T), v=V).tolist() == RIGHT, "the vector on the left is right")
claim(run(COLUMN, "ORT_ENABLE_ALL", x=X, v=V[:, None]).ravel().tolist() == RIGHT, "a column is right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
