#!/usr/bin/env bash
# onnion 0.8.1 compiles an integer division to one of floats, wraps OneHot's indices, leaves out start and end of Shape.
#
# Div of INT32 7 and 2 is 3.5, and FLOAT64, in the NumPy code that onnion writes. OneHot marks index 3 of a depth of 3 at
# place 0. A Shape with start = 1 has all sizes. Hardmax of opset 11, which marks one element of each row of a flattened
# input, is that of opset 13, one along the axis. onnion reports operators that it does not know, and none of these.
#
# Version: onnion 0.8.1 (2022-10) with onnion-rt 0.8.0 (2023-07), beside onnx 1.23.2 and ONNX Runtime 1.32.0.
# Documented: ONNX, operators Div-14: integers are truncated towards zero; OneHot-11: a row of off values for an index
#   outside; Shape-15; Hardmax-11. onnion's page: it compiles ONNX to code that needs only NumPy.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnion==0.8.1 onnion-rt==0.8.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import runpy
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def compared(opset, text, inputs, by_hand, expected=None):
    """Check ONNX Runtime against the hand, and the code that onnion writes against what is expected of it."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]> g {text}""")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    subprocess.run(["venv/bin/onnion", "model.onnx", "-o", "code.py"], check=True)
    found = np.asarray(runpy.run_path("code.py")["init_graph"]().run(*inputs)[0])
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    names = [value.name for value in model.graph.input]
    right = session.run(None, dict(zip(names, inputs, strict=True)))[0]
    call = text[text.index("y = ") :].rstrip("} ")
    print(f"opset {opset}, {call}: onnion {found.tolist()} ({found.dtype}), ONNX Runtime {right.tolist()} ({right.dtype})")
    claim(right.tolist() == by_hand, "ONNX Runtime: as by hand")
    claim(found.tolist() == (by_hand if expected is None else expected), "onnion: " + ("right" if expected is None else "wrong"))


print(f"onnion {version('onnion')}, onnion-rt {version('onnion-rt')}, onnx {version('onnx')}")
pair = [np.array([7, -7, 8], np.int32), np.array([2, 2, -4], np.int32)]
divided = "(int32[3] a, int32[3] b) => (int32[3] y) { y = Div(a, b) }"
compared(14, divided, pair, [3, -3, -2], [3.5, -3.5, -2.0])
compared(14, divided.replace("Div", "Mul"), pair, [14, -14, -32])
floats = divided.replace("int32", "float")
compared(14, floats, [x.astype(np.float32) for x in pair], [3.5, -3.5, -2.0])

marks = "(int64[4] i) => (float[4,3] y) <int64 depth = {3}, float[2] values = {0, 1}> { y = OneHot(i, depth, values) }"
none, first, last = [0, 0, 0], [1, 0, 0], [0, 0, 1]
compared(14, marks, [np.array([0, 2, -1, -3])], [first, last, last, first])
compared(14, marks, [np.array([0, 3, -1, -4])], [first, none, last, none], [first, first, last, last])

sizes = "(float[2,3,4] x) => (int64[n] y) { y = Shape%s(x) }"
x = np.zeros((2, 3, 4), np.float32)
compared(15, sizes % "", [x], [2, 3, 4])
compared(15, sizes % "<start = 1>", [x], [3, 4], [2, 3, 4])
compared(15, sizes % "<end = -1>", [x], [2, 3], [2, 3, 4])

x = np.array([[[1, 2], [4, 3]]], np.float32)
hard = "(float[1,2,2] x) => (float[1,2,2] y) { y = Hardmax<axis = 1>(x) }"
compared(13, hard, [x], [[[0, 0], [1, 1]]])
compared(11, hard, [x], [[[0, 0], [1, 0]]], [[[0, 0], [1, 1]]])
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
