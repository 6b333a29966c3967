#!/usr/bin/env bash
# OpenCV 5.0.0 merges two Reshapes, and a zero in the second then copies a size from before the first.
#
# {6, 4} reshaped to {2, 3, 4} and then to {0, -1} should become {2, 12}: a zero keeps the size that the input of its
# own Reshape has. OpenCV gives {6, 4}, with the size before both. With a Relu between the two, or a 2 in the place of
# the zero, the result is right. A sum over the last axis is then one of other elements, without a word: ONNX's formula
# of GroupNormalization has just this pair, and the node tests group_normalization_example_expanded and
# group_normalization_epsilon_expanded give other numbers.
#
# Version: opencv-python-headless 5.0.0.93 (2026-07), engine new or classic, beside onnx 1.23.2.
# Documented: ONNX, operator Reshape (opset 21): with allowzero 0, a size of 0 is taken from the data input's dimension
#   in the same place, and one size may be -1, which is worked out from the others.
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

x = np.arange(24, dtype=np.float32).reshape(6, 4)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(nodes, sizes, engine=cv2.dnn.ENGINE_AUTO):
    """OpenCV's and the standard's result of a graph from x of {6, 4} to y."""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        pair (float[6, 4] x) => (float{sizes} y)
        <int64[3] three = {{2, 3, 4}}, int64[2] zero = {{0, -1}}, int64[2] two = {{2, -1}}, int64[1] last = {{1}}>
        {{ {nodes} }}""")
    onnx.checker.check_model(made, full_check=True)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(made.SerializeToString(), np.uint8), engine)
    net.setInput(x)
    return net.forward(), ReferenceEvaluator(made).run(None, {"x": x})[0]


def same(left, right):
    return left.shape == right.shape and np.allclose(left, right)


print(f"OpenCV {version('opencv-python-headless')}, onnx {version('onnx')}; x has 6 rows of 4, and the numbers 0 to 23")
first = "a = Reshape(x, three)"
pair = f"{first} y = Reshape(a, zero)"
for engine, name in ((cv2.dnn.ENGINE_NEW, "new"), (cv2.dnn.ENGINE_CLASSIC, "classic")):
    got, right = runs(pair, [2, 12], engine)
    print(f"engine {name}, Reshape to [2, 3, 4], then to [0, -1]: OpenCV {list(got.shape)}, ONNX {list(right.shape)}")
    claim(got.shape == (6, 4) and right.shape == (2, 12), "the zero is a 6, not a 2")
got, right = runs(f"{first} b = Reshape(a, zero) y = ReduceSum(b, last)", [2, 1])
print(f"with a ReduceSum over the last axis: OpenCV {got.ravel().tolist()}, ONNX {right.ravel().tolist()}")
claim(np.array_equal(got, x.sum(1, keepdims=True)), "the sums are those of the rows of x")
claim(np.array_equal(right, x.reshape(2, 12).sum(1, keepdims=True)), "they should be those of three rows each")
claim(same(*runs(f"{first} y = Reshape(a, two)", [2, 12])), "to [2, -1] in place of [0, -1]: right")
claim(same(*runs(f"{first} b = Relu(a) y = Reshape(b, zero)", [2, 12])), "with a Relu between the two: right")
claim(same(*runs("y = Reshape(x, zero)", [6, 4])), "to [0, -1] alone: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
