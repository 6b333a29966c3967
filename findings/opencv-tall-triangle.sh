#!/usr/bin/env bash
# OpenCV 5.0.0 keeps the rows below the square in the upper triangle of a tall matrix.
#
# Trilu with upper = 1 of more rows than columns sets what is below the diagonal to 0, but only in as many rows as there
# are columns; the rows after these stay as they are, for any k. Lower triangles and wide matrices are right.
#
# Version: opencv-python-headless 5.0.0.93 (2026-07), beside onnx 1.23.2.
# Documented: ONNX, operator Trilu-14: the upper triangle retains the elements on and above a diagonal, the rest is 0.
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


def triangle(rows, columns, upper, k):
    """Return OpenCV's and the standard's triangle of the numbers from 1 on."""
    x = np.arange(1, rows * columns + 1, dtype=np.float32).reshape(rows, columns)
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        g (float[{rows},{columns}] x) => (float[{rows},{columns}] y) <int64 k = {{{k}}}>
        {{ y = Trilu<upper = {upper}>(x, k) }}""")
    onnx.checker.check_model(made, full_check=True)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(made.SerializeToString(), np.uint8))
    net.setInput(x)
    return net.forward(), ReferenceEvaluator(made).run(None, {"x": x})[0], x


print(f"OpenCV {version('opencv-python-headless')}, onnx {version('onnx')}")
for k in (-1, 0, 1):
    found, right, x = triangle(4, 2, 1, k)
    print(f"upper triangle of 4 x 2, k = {k}: OpenCV {found.tolist()}, ONNX {right.tolist()}")
    claim(np.array_equal(found[:2], right[:2]), "the first two rows are right")
    claim(np.array_equal(found[2:], x[2:]) and not np.array_equal(found, right), "the others are those of the input")
for name, sizes in (("lower triangle of 4 x 2", (4, 2, 0)), ("upper triangle of 2 x 4", (2, 4, 1))):
    found, right, _ = triangle(*sizes, 0)
    claim(np.array_equal(found, right), f"{name}: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
