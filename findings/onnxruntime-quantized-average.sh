#!/usr/bin/env bash
# ONNX Runtime 1.32.0 divides a quantized AveragePool's last, partial window by all its elements.
#
# With ceil_mode = 1 the last window may end outside the input and its padding. count_include_pad = 1 counts the padding
# of `pads`, and not what ceil_mode adds. AveragePool of floats keeps to that. Between DequantizeLinear and
# QuantizeLinear it is fused into com.microsoft.QLinearAveragePool, which counts the whole window: the average of one
# element 72 and nothing else is 36. Without count_include_pad or without ceil_mode both agree.
#
# Version: onnxruntime 1.32.0 (CPU, default settings), on models that onnx 1.23.2 checks.
# Documented: ONNX, operator AveragePool from 19 on: sliding windows that start in the padding at the end are left out,
#   and count_include_pad counts padding of `pads`, as its reference evaluator does.
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



X = np.array([12, 24, 36, 48, 60, 72], np.float32).reshape(1, 1, 1, 6)


def averages(level, attributes, count):
    model = model_of(
        f"g (float[1,1,1,6] x) => (float[1,1,1,{count}] y) <float scale = {{1}}, uint8 point = {{0}}> {{"
        " a = QuantizeLinear(x, scale, point) b = DequantizeLinear(a, scale, point)"
        f" c = AveragePool<strides = [1, {2 if 'pads' in attributes else 3}], {attributes}>(b)"
        " d = QuantizeLinear(c, scale, point) y = DequantizeLinear(d, scale, point) }",
        19,
    )
    return run(model, level, x=X).ravel().tolist()


print(f"onnxruntime {version('onnxruntime')}")
for attributes, right, wrong in (
    # the last window holds 72 and one place that ceil_mode adds
    ("kernel_shape = [1, 2], pads = [0, 1, 0, 0], ceil_mode = 1, count_include_pad = 1", [6, 30, 54, 72], [6, 30, 54, 36]),
    # the last window holds 48, 60 and 72
    ("kernel_shape = [1, 4], ceil_mode = 1, count_include_pad = 1", [30, 60], [30, 45]),
    # and 60, 72, one place of padding and one that ceil_mode adds
    ("kernel_shape = [1, 4], pads = [0, 0, 0, 1], ceil_mode = 1, count_include_pad = 1", [30, 54, 44], [30, 54, 33]),
    ("kernel_shape = [1, 4], ceil_mode = 1", [30, 60], [30, 60]),
    ("kernel_shape = [1, 2], pads = [0, 1, 0, 0], count_include_pad = 1", [6, 30, 54], [6, 30, 54]),
):
    off, on = (averages(level, attributes, len(right)) for level in LEVELS)
    claim(off == right and on == wrong, f"{attributes}: {off} unoptimized, {on} by default")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
