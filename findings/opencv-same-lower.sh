#!/usr/bin/env bash
# OpenCV 5.0.0 pads for auto_pad = SAME_LOWER at the end, as for SAME_UPPER.
#
# Where the padding is odd, the two differ in where the odd one goes: at the end for SAME_UPPER, at the beginning for
# SAME_LOWER. Conv, MaxPool and AveragePool take both words and give the numbers of SAME_UPPER for both, shifted by one
# element from what the model means. The sizes are right. The same padding in numbers, pads = [1, 1, 0, 0], is obeyed.
#
# Version: opencv-python-headless 5.0.0.93 (2026-07), beside onnx 1.23.2.
# Documented: ONNX, operators Conv, MaxPool and AveragePool (opset 22), attribute auto_pad: an odd padding has its extra
#   element at the end for SAME_UPPER, and at the beginning for SAME_LOWER. ONNX's node tests maxpool_2d_same_lower and
#   averagepool_2d_same_lower say the same.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    opencv-python-headless==5.0.0.93 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import cv2
import numpy as np
import onnx
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

x = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(operator, padding):
    """OpenCV's and the standard's result of a window of 2 x 2 over x; the weights of the Conv are 1."""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 22]>
        window (float[1,1,3,3] x) => (float[1,1,3,3] y) <float[1,1,2,2] w = {{1, 1, 1, 1}}>
        {{ y = {operator}<kernel_shape = [2, 2], {padding}>(x{", w" if operator == "Conv" else ""}) }}""")
    onnx.checker.check_model(made, full_check=True)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(made.SerializeToString(), np.uint8))
    net.setInput(x)
    return net.forward(), ReferenceEvaluator(made).run(None, {"x": x})[0]


print(f"OpenCV {version('opencv-python-headless')}, onnx {version('onnx')}; a window of 2 x 2 over the numbers 1 to 9")
for operator in ("Conv", "MaxPool", "AveragePool"):
    upper, right = runs(operator, 'auto_pad = "SAME_UPPER"')
    claim(np.allclose(upper, right), f"{operator}, SAME_UPPER: right")
    lower, right = runs(operator, 'auto_pad = "SAME_LOWER"')
    print(f"{operator}, SAME_LOWER: OpenCV {lower.ravel().tolist()}, ONNX {right.ravel().tolist()}")
    claim(np.array_equal(lower, upper) and not np.allclose(lower, right), "OpenCV gives what SAME_UPPER gives")
    claim(np.allclose(runs(operator, "pads = [1, 1, 0, 0]")[0], right), "with pads = [1, 1, 0, 0] it is right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
