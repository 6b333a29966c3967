#!/usr/bin/env bash
# OpenCV 5.0.0 pads for auto_pad = SAME_UPPER as if all strides were 1.
#
# The padding depends on the strides: a window of 3 at every second of six elements needs one more element, at the end.
# Conv, MaxPool and AveragePool pad one at either end, as for a stride of 1, so that all windows are shifted by one: in
# a network made for even images, which MobileNet and many others from TensorFlow are, every convolution of stride 2.
# The sizes are right. Where both paddings happen to be the same, as for five elements at stride 2, so are the results.
#
# Version: opencv-python-headless 5.0.0.93 (2026-07), beside onnx 1.23.2.
# Documented: ONNX, operators Conv, MaxPool and AveragePool (opset 22), attribute auto_pad: the output has ceil(size /
#   stride) elements, and the padding is what these need.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
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

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(operator, size, stride, padding='auto_pad = "SAME_UPPER"'):
    """OpenCV's and the standard's result of a window of 3 over the numbers from 1 on; the weights of the Conv are 1."""
    x = np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, 1, size)
    inputs = "x, w" if operator == "Conv" else "x"
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 22]>
        window (float[1,1,1,{size}] x) => (float[1,1,1,{-(-size // stride)}] y) <float[1,1,1,3] w = {{1, 1, 1}}>
        {{ y = {operator}<kernel_shape = [1, 3], strides = [1, {stride}], {padding}>({inputs}) }}""")
    onnx.checker.check_model(made, full_check=True)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(made.SerializeToString(), np.uint8))
    net.setInput(x)
    return net.forward().ravel().tolist(), ReferenceEvaluator(made).run(None, {"x": x})[0].ravel().tolist()


print(f"OpenCV {version('opencv-python-headless')}, onnx {version('onnx')}; a window of 3 over 1, 2, 3 ...")
for operator, by_hand, seen in (
    ("Conv", [6, 12, 11], [3, 9, 15]),  # 1 + 2 + 3, 3 + 4 + 5 and 5 + 6; 1 + 2, 2 + 3 + 4 and 4 + 5 + 6
    ("MaxPool", [3, 5, 6], [2, 4, 6]),
    ("AveragePool", [2, 4, 5.5], [1.5, 3, 5]),
):
    found, right = runs(operator, 6, 2)
    claim(right == by_hand and found == seen, f"{operator}, 6 elements, stride 2: {found}, right is {by_hand}")
    found, right = runs(operator, 6, 2, "pads = [0, 0, 0, 1]")
    claim(found == right == by_hand, f"{operator}, the same padding in numbers: {found}")
    found, right = runs(operator, 5, 3)
    claim(found != right, f"{operator}, 5 elements, stride 3: {found}, right is {right}")
    for size, stride in ((5, 2), (6, 1)):
        found, right = runs(operator, size, stride)
        claim(found == right, f"{operator}, {size} elements, stride {stride}: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
