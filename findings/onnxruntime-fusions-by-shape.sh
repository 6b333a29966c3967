#!/usr/bin/env bash
# ONNX Runtime 1.32.0 fuses nodes that only look like a layer normalization or a division.
#
# Div(1, x) and a Mul become one division, and a 1 of more dimensions than x loses them: the output has sizes 3 where the
# model says 1, 3. And ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add become LayerNormalization for any
# exponent of Pow: with 4 in place of 2 the model divides by the root of the fourth moment, ONNX Runtime by that of
# the variance. With the optimizations switched off both are right.
#
# Version: onnxruntime 1.32.0 (CPU, default settings), on models that onnx 1.23.2 checks.
# Documented: ONNX, broadcasting: the output has as many dimensions as the input of the most. Operator Pow.
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
X = np.array([1, 2, 4], np.float32)
QUOTIENT = model_of(
    "g (float[3] x, float[3] z) => (float[1,3] y) <float[1,1] one = {1}> { t = Div(one, x) y = Mul(t, z) }", 17
)
off, on = (run(QUOTIENT, level, x=X, z=X) for level in LEVELS)
claim(off.shape == (1, 3) and on.shape == (3,), f"1 / x * x: sizes {off.shape} unoptimized, {on.shape} by default")

# mean 0; the second moment is (1 + 1 + 9 + 9) / 4 = 5, the fourth (1 + 1 + 81 + 81) / 4 = 41
ROW = np.array([[-1, 1, -3, 3]], np.float32)
for exponent, moment in ((2, 5), (4, 41)):
    model = model_of(
        "g (float[1,4] x) => (float[1,4] y)"
        f" <float power = {{{exponent}}}, float tiny = {{0.00001}}, float[4] scale = {{1, 1, 1, 1}}, float[4] bias = {{0, 0, 0, 0}}> {{"
        " m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) p = Pow(d, power) v = ReduceMean<axes = [-1]>(p)"
        " e = Add(v, tiny) s = Sqrt(e) q = Div(d, s) w = Mul(q, scale) y = Add(w, bias) }",
        17,
    )
    off, on = (run(model, level, x=ROW) for level in LEVELS)
    holds = np.allclose(off, ROW / moment**0.5, 1e-4) and np.allclose(on, ROW / 5**0.5, 1e-4)
    claim(holds, f"Pow({exponent}): {off.round(4).tolist()} unoptimized, {on.round(4).tolist()} by default")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
