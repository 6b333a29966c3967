#!/usr/bin/env bash
# nxrt 0.1.0.dev6 runs models without some attributes of their operators: windows, an order of channels, a no-op.
#
# Attention of opset 25 has left_window_size and right_window_size, for sliding windows: nxrt lets each query see all
# keys. SpaceToDepth of opset 28 has a mode: nxrt gives DCR for CRD. A reduction without axes and with
# noop_with_empty_axes = 1 must return its input: nxrt reduces all of it, except where the axes are given and empty.
# There is no message, although the reduced result does not have the shape that the model declares.
#
# Version: nxrt 0.1.0.dev6 (2026-09), beside onnx 1.23.2.
# Documented: ONNX, operators Attention-25, SpaceToDepth-28, ReduceMax-18.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    nxrt==0.1.0.dev6 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import nxrt
import onnx
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def both(opset, text, **inputs):
    """Return what nxrt and ONNX's reference evaluator compute."""
    model = parse_model(f"""<ir_version: 10, opset_import: ["": {opset}]> g {text}""")
    onnx.checker.check_model(model, full_check=True)
    found = nxrt.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
    return found, ReferenceEvaluator(model).run(None, inputs)[0]


print(f"nxrt {version('nxrt')}, onnx {version('onnx')}")
# Queries and keys of zeros: the result is the mean of the values that are seen.
nothing, values = np.zeros((1, 1, 4, 1), np.float32), np.array([1, 2, 4, 8], np.float32).reshape(1, 1, 4, 1)
for left, right, by_hand in ((1, 0, [1, 1.5, 3, 6]), (0, 1, [1.5, 3, 6, 8]), (-1, 0, [1, 1.5, 7 / 3, 3.75])):
    found, wanted = both(
        25,
        f"""(float[1,1,4,1] q, float[1,1,4,1] k, float[1,1,4,1] v) => (float[1,1,4,1] y)
        {{ y = Attention<left_window_size = {left}, right_window_size = {right}>(q, k, v) }}""",
        q=nothing, k=nothing, v=values,
    )
    found, wanted = found.ravel().round(3).tolist(), wanted.ravel()
    print(f"Attention, {left} to the left, {right} to the right: nxrt {found}, by hand {np.round(by_hand, 3).tolist()}")
    claim(np.allclose(wanted, by_hand), "the reference evaluator agrees with the hand")
    claim(np.allclose(found, 3.75), "nxrt has the mean of all values")
found, wanted = both(
    24, """(float[1,1,4,1] q, float[1,1,4,1] k, float[1,1,4,1] v) => (float[1,1,4,1] y)
    { y = Attention<is_causal = 1>(q, k, v) }""", q=nothing, k=nothing, v=values,
)
claim(np.allclose(found, wanted), "is_causal = 1 is right")

x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
text = """(float[1,2,2,2] x) => (float[1,8,1,1] y) { y = SpaceToDepth<blocksize = 2, mode = "%s">(x) }"""
for mode, by_hand in (("DCR", [0, 4, 1, 5, 2, 6, 3, 7]), ("CRD", [0, 1, 2, 3, 4, 5, 6, 7])):
    found, wanted = (y.ravel().tolist() for y in both(28, text % mode, x=x))
    print(f"SpaceToDepth, {mode}: nxrt {found}, by hand {by_hand}")
    claim(wanted == by_hand, "the reference evaluator agrees with the hand")
    claim(found == [0, 4, 1, 5, 2, 6, 3, 7], "nxrt has the order DCR")

x = np.array([[1, 2], [3, 4]], np.float32)
for name, reduced in (("ReduceSum", 10), ("ReduceMax", 4), ("ReduceProd", 24)):
    for axes in ("", ", e"):
        empty = "<int64[0] e = {}>" if axes else ""
        found, wanted = both(
            18, f"(float[2,2] x) => (float[2,2] y) {empty} {{ y = {name}<noop_with_empty_axes = 1>(x{axes}) }}", x=x
        )
        print(f"{name}, axes {'empty' if axes else 'not given'}: nxrt {found.tolist()}, ONNX {wanted.tolist()}")
        claim(np.array_equal(wanted, x), "the input is returned")
        if axes:
            claim(np.array_equal(found, x), "nxrt is right")
        else:
            claim(found.tolist() == [[reduced]], "nxrt reduces all axes")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
