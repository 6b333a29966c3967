#!/usr/bin/env bash
# onnx 1.23.2: the version converter takes Hardmax from opset 11 to 13, and Resize from 10 to 11, and changes results.
#
# Until opset 12, Hardmax flattens its input to a matrix at axis, and marks one element of each row; from 13 on, it marks
# one along the axis. The converter only raises the number of the opset: of 3 x 4 elements in one item, one is marked
# before, four are after. Softmax and LogSoftmax, which changed in the same way, get nodes around them, and stay right. A Resize of
# opset 10 has no coordinate_transformation_mode: ONNX Runtime computes it as asymmetric. The converted one has no
# such attribute either, and so the default of opset 11, half_pixel. Upsample to 11 passes through that, with the same
# result.
#
# Version: onnx 1.23.2, onnx.version_converter, with its reference evaluator, and ONNX Runtime 1.32.0.
# Documented: ONNX, operators Hardmax-11 (the input is coerced into two dimensions), Hardmax-13, Resize-11. The
#   converter's page: it converts models between opset versions.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from onnx.version_converter import convert_version

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runtime(model, x):
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def parsed(opset, text):
    return parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]> g {text}""")


print(f"onnx {version('onnx')}, onnxruntime {version('onnxruntime')}")
x = np.array([3, 1, 2, 0, 7, 5, 6, 4, 11, 10, 9, 8], np.float32).reshape(1, 3, 4)
text = "(float[1,3,4] x) => (float[1,3,4] y) { y = %s<axis = %d>(x) }"
for axis in (0, 1, 2):
    rows = x.reshape(int(np.prod(x.shape[:axis])), -1)
    flat = np.eye(rows.shape[1])[rows.argmax(axis=1)].reshape(x.shape)
    along = np.moveaxis(np.eye(x.shape[axis])[x.argmax(axis=axis)], -1, axis)
    model = parsed(11, text % ("Hardmax", axis))
    moved = convert_version(model, 13)
    before, after, evaluated = runtime(model, x), runtime(moved, x), ReferenceEvaluator(moved).run(None, {"x": x})[0]
    print(f"Hardmax, axis {axis}, marks: opset 11 {np.flatnonzero(before).tolist()}, 13 {np.flatnonzero(after).tolist()}")
    claim(np.array_equal(before, flat), "opset 11: as by hand, one of each row")
    claim(np.array_equal(after, along) and np.array_equal(evaluated, along), "opset 13: one along the axis")
    claim([node.op_type for node in moved.graph.node] == ["Hardmax"], "the converter adds no node")
    claim(np.array_equal(before, after) == (axis == 2), "the same" if axis == 2 else "not the same")

for name, rank in (("Softmax", lambda x: x), ("LogSoftmax", np.log)):
    exponentials = np.exp(x.astype(float) - x.max())
    model = parsed(11, text % (name, 1))
    moved = convert_version(model, 13)
    right = rank(exponentials / exponentials.sum())
    claim(np.allclose(runtime(model, x), right, atol=1e-5), f"{name}, opset 11: as by hand, over 12 elements")
    claim(np.allclose(runtime(moved, x), right, atol=1e-5), f"{name}, opset 13: the same")
    print(f"{name}: nodes {[node.op_type for node in moved.graph.node]}")

x = np.array([[[[0, 8]]]], np.float32)
scaled = "(float[1,1,1,2] x) => (float[1,1,1,4] y) <float[4] scales = {1, 1, 1, 2}> { y = %s<mode = \"linear\">(x, scales) }"
for name, first in (("Resize", 10), ("Upsample", 9)):
    model = parsed(first, scaled % name)
    found = {first: runtime(model, x)} | {opset: runtime(convert_version(model, opset), x) for opset in (10, 11, 13)}
    found = {opset: y.ravel().tolist() for opset, y in found.items()}
    print(f"{name}, 0 and 8 to four: {found}")
    claim(found[first] == found[10] == [0, 4, 8, 8], "up to opset 10: at i / 2")
    claim(found[11] == found[13] == [0, 2, 6, 8], "from opset 11 on: at (i + 0.5) / 2 - 0.5")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
