#!/usr/bin/env bash
# OpenCV 5.0.0 reduces over three axes as if the third batch item were the second again.
#
# ReduceSum, ReduceMean, ReduceMax and the like over the axes 0, 2 and 3, the statistics of each channel over a batch,
# see the first item, then the second, and then the second once more for each item that is left. The sizes are right
# and nothing is said. It happens with batch and two more axes of four (0, 1, 2; 0, 1, 3; 0, 2, 3), from a batch of
# three on; batches of two are right, and so are the same numbers reduced over 2 and 3 first and over 0 then. Hence
# ONNX's own node test of the formula of MeanVarianceNormalization (mvn_expanded, a batch of three) fails.
#
# Version: opencv-python-headless 5.0.0.93 (2026-07), engine new or classic, beside onnx 1.23.2.
# Documented: ONNX, operators ReduceSum, ReduceMean, ReduceMax, ReduceMin (opset 18): the result is computed over all
#   elements along the given axes. OpenCV's page of readNetFromONNX makes no exception.
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

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(steps, x, sizes, engine=cv2.dnn.ENGINE_AUTO):
    """OpenCV's and the standard's result of reducing x step by step: (operator, axes)."""
    nodes, name = "", "x"
    for i, (operator, axes) in enumerate(steps):
        nodes += f"a{i} = Constant<value_ints = {list(axes)}>() y{i} = {operator}({name}, a{i}) "
        name = f"y{i}"
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 18]>
        reduce (float{list(x.shape)} x) => (float{list(sizes)} {name}) {{ {nodes} }}""")
    onnx.checker.check_model(made, full_check=True)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(made.SerializeToString(), np.uint8), engine)
    net.setInput(x)
    return net.forward(), ReferenceEvaluator(made).run(None, {"x": x})[0]


def same(left, right):
    return left.shape == right.shape and np.allclose(left, right)


print(f"OpenCV {version('opencv-python-headless')}, onnx {version('onnx')}; over 0, 2, 3, of items of 1, 10, 100, ...")
for batch in (1, 2, 3, 5):
    items = 10 ** np.arange(batch, dtype=np.float32)
    x = np.ones((batch, 2, 2, 2), np.float32) * items.reshape(-1, 1, 1, 1)
    seen_as = x.copy()
    seen_as[2:] = x[1:2]
    for operator, numpy in (("ReduceSum", np.sum), ("ReduceMean", np.mean), ("ReduceMax", np.max)):
        got, right = runs([(operator, (0, 2, 3))], x, (1, 2, 1, 1))
        print(f"{operator} of {list(x.shape)}: OpenCV {got.ravel().tolist()}, ONNX {right.ravel().tolist()}")
        claim(same(got, right) == (batch < 3), "right" if batch < 3 else "wrong")
        claim(same(got, numpy(seen_as, axis=(0, 2, 3), keepdims=True)), "the second item stands for all later ones")
for axes in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 2), (2, 3), (0, 1, 2, 3)):
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    wrong = len(axes) == 3 and axes[0] == 0
    for engine in (cv2.dnn.ENGINE_NEW, cv2.dnn.ENGINE_CLASSIC):
        holds = same(*runs([("ReduceMax", axes)], x, sizes, engine)) != wrong
        claim(holds, f"over {axes}: {'wrong' if wrong else 'right'}")
claim(same(*runs([("ReduceMax", (2, 3)), ("ReduceMax", (0,))], x, (1, 2, 1, 1))), "over 2 and 3, then over 0: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
