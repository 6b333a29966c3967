#!/usr/bin/env bash
# tinygrad 0.14.0: Unsqueeze and Squeeze with two negative axes work on other axes, without a word.
#
# A negative axis counts from the end of the shape after an Unsqueeze, and before a Squeeze. tinygrad sorts the axes and
# applies them one by one, so the second one counts from the end of what the first has left. [2, 3] unsqueezed at -2 and
# -1 becomes [2, 1, 3, 1], not [2, 3, 1, 1]; [3, 1, 1] squeezed at the same axes stays [3, 1], since an axis that is not
# 1 is left alone. What follows broadcasts: a scale for each channel is then laid along the rows. One negative axis, or
# the same axes written as 2 and 3, are right.
#
# Version: tinygrad 0.14.0 (2026-08), tinygrad.nn.onnx, on its own device PYTHON (no compiler needed), beside onnx
#   1.23.2 and onnxruntime 1.32.0.
# Documented: ONNX, operator Unsqueeze (opset 21): axes lie in [-r, r - 1], where r is the rank of the expanded output;
#   their order does not matter. Squeeze (21): r is the rank of the data; an axis whose size is not 1 is an error.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    tinygrad==0.14.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
DEV=PYTHON XDG_CACHE_HOME=$work venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from tinygrad.nn.onnx import OnnxRunner

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(text, **inputs):
    """What tinygrad, ONNX Runtime and the evaluator compute of a graph, given as text."""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]> axes {text}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    right, theirs = ReferenceEvaluator(made).run(None, inputs)[0], session.run(None, inputs)[0]
    claim(np.array_equal(right, theirs), f"ONNX Runtime and the evaluator: {list(right.shape)}")
    return OnnxRunner("model.onnx")(dict(inputs))["y"].numpy(), right


print(f"tinygrad {version('tinygrad')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
x = np.arange(6, dtype=np.float32).reshape(2, 3)
for axes, shape in (
    ([-1], [2, 3, 1]), ([-2], [2, 1, 3]), ([2, 3], [2, 3, 1, 1]), ([-2, -1], [2, 3, 1, 1]), ([-1, -3], [2, 1, 3, 1]),
    ([-2, -3], [2, 1, 1, 3]),
):
    seen, right = runs(f"(float[2,3] x) => (float{shape} y) <int64[{len(axes)}] a = {{{str(axes)[1:-1]}}}> "
                       "{ y = Unsqueeze(x, a) }", x=x)
    wrong = axes in ([-2, -1], [-1, -3], [-2, -3])
    print(f"Unsqueeze of [2, 3] at {axes}: tinygrad {list(seen.shape)}, ONNX {list(right.shape)}")
    claim(np.array_equal(seen, right) != wrong, "wrong" if wrong else "right")
for axes, wrong in (([-1], False), ([1, 2], False), ([-2, -1], True)):
    shape = [3, 1] if len(axes) == 1 else [3]
    seen, right = runs(f"(float[3,1,1] x) => (float{shape} y) <int64[{len(axes)}] a = {{{str(axes)[1:-1]}}}> "
                       "{ y = Squeeze(x, a) }", x=x[:1].reshape(3, 1, 1))
    print(f"Squeeze of [3, 1, 1] at {axes}: tinygrad {list(seen.shape)}, ONNX {list(right.shape)}")
    claim(np.array_equal(seen, right) != wrong, "wrong" if wrong else "right")

image, scale = np.ones((1, 2, 2, 2), np.float32), np.array([[10, 20]], np.float32)
for axes in ("2, 3", "-2, -1"):
    seen, right = runs("(float[1,2,2,2] x, float[1,2] s) => (float[1,2,2,2] y) "
                       f"<int64[2] a = {{{axes}}}> {{ t = Unsqueeze(s, a) y = Mul(x, t) }}", x=image, s=scale)
    print(f"ones of [1, 2, 2, 2] times [1, 2] unsqueezed at {axes}: tinygrad {seen.tolist()}, ONNX {right.tolist()}")
    claim(np.array_equal(seen, image * scale.reshape(1, 2, 1, 1)) == (axes == "2, 3"), "channels" if axes == "2, 3"
          else "not the channels")
    if axes != "2, 3":
        claim(np.array_equal(seen, image * scale.reshape(1, 1, 2, 1)), "tinygrad scales the rows")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
