#!/usr/bin/env bash
# onnx-ad 0.3.0 gives a determinant the derivative 0, and adds the fill value of a Resize to its derivative.
#
# Det and the values of OneHot count among the operators that do not depend on their input. A Resize of mode
# tf_crop_and_resize is applied to the tangent with its extrapolation_value, so that a constant appears in the
# derivative. A reduction over axes that are given and empty, which is one over all axes, is taken for one over none:
# seen here in reverse mode. None of that is refused, as operators are that onnx-ad does not know.
#
# Version: onnx-ad 0.3.0 (2026-09), run by onnxruntime 1.32.0, beside onnx 1.23.2. Its documentation has Det and OneHot
#   in the list of a zero derivative.
# Documented: ONNX, operators Det-22, OneHot-11, Resize-19 and ReduceSumSquare-18: "When axes is empty (either not
#   provided or explicitly empty), behavior can be determined from noop_with_empty_axes."
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx-ad==0.3.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnx_ad
import onnxruntime
from onnx.parser import parse_model

changed = []
STEP = 1 / 64


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def run(model, **feeds):
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[-1]


def derivatives(text, x, tangent, seed, modes=(onnx_ad.forward, onnx_ad.reverse)):
    """Return J . tangent by differences of the model's results, and by onnx-ad J . tangent and J^T . seed."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]> g {text}""")
    x, tangent, seed = (np.array(value, np.float32) for value in (x, tangent, seed))
    step = np.float32(STEP)
    found = [(run(model, x=x + step * tangent) - run(model, x=x - step * tangent)) / (2 * step)]
    for mode in modes:
        given = {"fwd_x": tangent[..., None]} if mode is onnx_ad.forward else {"adj_y": seed[..., None]}
        found.append(run(mode(model, layout="onnx"), x=x, **given)[..., 0])
    return [value.round(3).tolist() for value in found]


print(f"onnx-ad {version('onnx-ad')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
measured, forward, reverse = derivatives(
    "(float[2,2] x) => (float y) { y = Det(x) }", [[1, 2], [3, 4]], [[1, 10], [100, 1000]], 1
)
print(f"Det of [[1, 2], [3, 4]]: forward {forward}, measured {measured}, gradient {reverse}")
claim(measured == 4 * 1 - 3 * 10 - 2 * 100 + 1 * 1000, "the gradient is [[4, -3], [-2, 1]]")
claim(forward == 0 and reverse == [[0, 0], [0, 0]], "onnx-ad has zeros")

measured, forward, reverse = derivatives(
    "(float[2] x) => (float[2,3] y) <int64[2] at = {0, 2}, int64 depth = {3}> { y = OneHot(at, depth, x) }",
    [3, 5], [1, 10], [[1, 2, 4], [8, 16, 32]],
)
print(f"values of a OneHot: forward {forward}, measured {measured}, gradient {reverse}")
claim(measured == [[10, 1, 1], [1, 1, 10]], "each element is one of the two values")
claim(forward == [[0, 0, 0], [0, 0, 0]] and reverse == [0, 0], "onnx-ad has zeros")

measured, forward, reverse = derivatives(
    """(float[1,1,2] x) => (float[1,1,4] y) <float[6] roi = {0, 0, 0, 1, 1, 3}, int64[3] sizes = {1, 1, 4}>
    { y = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 9.0>
        (x, roi, , sizes) }""",
    [[[3, 5]]], [[[1, 10]]], [[[1, 2, 4, 8]]],
)
print(f"two elements, and 9 behind them: forward {forward}, measured {measured}, gradient {reverse}")
claim(measured == [[[1, 10, 0, 0]]], "what lies outside does not depend on the input")
claim(forward == [[[1, 10, 9, 9]]], "onnx-ad's forward derivative has the 9")
claim(reverse == [[[1 + 9 * (4 + 8), 2 + 9 * (4 + 8)]]], "its gradient, which is [1, 2], has it too")

measured, reverse = derivatives(
    "(float[2] x) => (float y) <int64[0] axes = {}> { y = ReduceSumSquare<keepdims = 0>(x, axes) }",
    [3, 5], [1, 10], 1, [onnx_ad.reverse],
)
print(f"sum of the squares of 3 and 5, axes empty: measured {measured}, gradient {reverse}")
claim(measured == 2 * 3 * 1 + 2 * 5 * 10, "the gradient is [6, 10]")
claim(reverse == [1, 1], "onnx-ad passes the seed on")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
