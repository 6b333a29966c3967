#!/usr/bin/env bash
# ONNX Runtime 1.32.0 refuses models of opset 21 and newer whose INT8 output goes through a Reshape or the like.
#
# After QuantizeLinear and DequantizeLinear with a zero point of INT8 comes a Transpose, Reshape, Squeeze, Unsqueeze,
# Slice or MaxPool, whose result is an output of the model. The optimizer propagates the pair behind that node, forgets
# the type, and the session fails: output_dtype INT8 does not match y_zero_point type UINT8. UINT8, UINT16 and INT16 are
# taken, and so is opset 20, and so is everything with the optimizations switched off. 1.24.4 takes these models; 1.27.0
# and 1.30.0 refuse them too.
#
# Version: onnxruntime 1.32.0 (CPU, default settings), on models that onnx 1.23.2 checks.
# Documented: ONNX, operator QuantizeLinear from 21 on: without output_dtype the type is that of y_zero_point.
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



NODES = {
    "Transpose": ("Transpose<perm = [2, 1, 0]>(b)", "3,2,1"),
    "Reshape": ("Reshape(b, sizes)", "3,2"),
    "Squeeze": ("Squeeze(b, zero)", "2,3"),
    "Unsqueeze": ("Unsqueeze(b, zero)", "1,1,2,3"),
    "Slice": ("Slice(b, zero, one)", "1,2,3"),
    "MaxPool": ("MaxPool<kernel_shape = [1]>(b)", "1,2,3"),
    "Relu": ("Relu(b)", "1,2,3"),
    "Identity": ("Identity(b)", "1,2,3"),
}
X = np.arange(6, dtype=np.float32).reshape(1, 2, 3)


def quantized(node, opset=21, data_type="int8"):
    call, sizes = NODES[node]
    constants = f"float scale = {{1}}, {data_type} point = {{1}}, int64[2] sizes = {{3, 2}}, int64[1] zero = {{0}}"
    return model_of(
        f"g (float[1,2,3] x) => (float[{sizes}] y) <{constants}, int64[1] one = {{1}}> {{"
        f" a = QuantizeLinear(x, scale, point) b = DequantizeLinear(a, scale, point) y = {call} }}",
        opset,
    )


def answer(model, level="ORT_ENABLE_ALL"):
    try:
        result = run(model, level, x=X)
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
        return "refused" if "does not match y_zero_point type UINT8" in str(error) else str(error)
    return "right" if np.array_equal(np.sort(result.ravel()), np.arange(6)) else "wrong"


print(f"onnxruntime {version('onnxruntime')}")
for node in NODES:
    seen, expected = answer(quantized(node)), "right" if node in ("Relu", "Identity") else "refused"
    claim(seen == expected, f"INT8, opset 21, {node}: {seen}")
for data_type in ("uint8", "int16", "uint16"):
    claim(answer(quantized("Reshape", data_type=data_type)) == "right", f"{data_type.upper()}, opset 21, Reshape: right")
claim(answer(quantized("Reshape", opset=20)) == "right", "INT8, opset 20, Reshape: right")
claim(answer(quantized("Reshape"), "ORT_DISABLE_ALL") == "right", "INT8, opset 21, Reshape, not optimized: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
