#!/usr/bin/env bash
# OpenVINO 2026.4.1 cuts the bias of an LRN to a whole number, and gives a region of an even size one channel less.
#
# LRN divides x by (bias + alpha / size * sum of squares) ^ beta. The CPU plugin computes with 1 where the model says 1.9
# and with 0 where it says 0.5, without a word; 1 and 2, which the well-known networks use, are right, and so are alpha
# and beta with their fractions. A region of an even size has n - 1 channels, and its sum is still divided by n.
#
# Version: openvino 2026.4.1 (CPU plugin, inference precision FLOAT32), LRN-13 of ONNX and LRN of its own opset alike.
# Documented: ONNX, operator LRN: bias is a float; the region begins (size - 1) / 2 channels before, rounded down, and
#   ends as many after, rounded up. OpenVINO, operation LRN-1: bias is of type float.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    openvino==2026.4.1 openvino-telemetry==2025.2.0 numpy==2.4.6 onnx==1.23.2 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0
venv/bin/python - <<'PY'
import sys

import numpy as np
import onnx
import openvino
from onnx.parser import parse_model

X = np.array([1, 2, 3, -1, 0.5, 7, 4]).reshape(1, 7, 1, 1)
ALPHA, BETA = 0.9, 0.75
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def by_hand(size, bias, before, after):
    """The formula of ONNX, with the channels of a region before and after each channel."""
    found = []
    for channel in range(X.size):
        region = X.ravel()[max(0, channel - before) : channel + after + 1]
        found.append(X.ravel()[channel] / (bias + ALPHA / size * (region**2).sum()) ** BETA)
    return np.array(found)


def seen(size, bias):
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        lrn (float[1,7,1,1] x) => (float[1,7,1,1] y)
        {{ y = LRN<size = {size}, alpha = {ALPHA}, beta = {BETA}, bias = {float(bias)}>(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    return from_openvino(openvino.Core().read_model(made.SerializeToString()))


def seen_alone(size, bias):
    """The same from OpenVINO's own operation, without ONNX."""
    from openvino import opset1

    x = opset1.parameter([1, 7, 1, 1], np.float32)
    lrn = opset1.lrn(x, opset1.constant(np.int64([1])), ALPHA, BETA, bias, size)
    return from_openvino(openvino.Model([lrn], [x]))


def from_openvino(model):
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return np.asarray(compiled([X.astype(np.float32)])[0], dtype=float).ravel()


def is_as(found, wanted):
    return bool(np.allclose(found, wanted, rtol=1e-5))


print(f"openvino {openvino.__version__}; x is {X.ravel().tolist()}")
for bias in (1, 2, 1.9, 0.5):
    found = seen(3, bias)
    right, cut = (by_hand(3, one, 1, 1) for one in (bias, int(bias)))
    print(f"size 3, bias {bias}: {np.round(found, 4).tolist()}, by hand {np.round(right, 4).tolist()}")
    claim(is_as(found, cut), f"a bias of {bias} counts as {int(bias)}")
    claim(is_as(seen_alone(3, bias), found), "OpenVINO's own operation gives the same")
    claim(is_as(found, right) == (bias == int(bias)), "right only if the bias is a whole number")
for size in (2, 4):
    found, half = seen(size, 1), size // 2
    right = by_hand(size, 1, half - 1, half)
    print(f"size {size}, bias 1: {np.round(found, 4).tolist()}, by hand {np.round(right, 4).tolist()}")
    claim(is_as(found, by_hand(size, 1, half - 1, half - 1)), f"{size - 1} channels in a region of {size}")
    claim(not is_as(found, right), "wrong")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
