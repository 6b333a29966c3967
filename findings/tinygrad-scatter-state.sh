#!/usr/bin/env bash
# tinygrad 0.14.0: ScatterND writes into its first input, and the model remembers it.
#
# The result of one node is right. But its first input is changed too: where it is an initializer, each run starts with
# what the runs before have written, and a sum grows from run to run; where it is computed, nodes that read it later
# see the new elements; where it is a Tensor of the caller, the caller's numbers change. ScatterElements does not do so.
# A first run, on which tests look, is right for a model with one reader. Where another node has read the tensor
# before, there is an error instead.
#
# Version: tinygrad 0.14.0 (2026-08), tinygrad.nn.onnx, on its own device PYTHON (no compiler needed), beside onnx
#   1.23.2 and onnxruntime 1.32.0.
# Documented: ONNX, operator ScatterND (opset 18): the output is a copy of the data, updated at the indices. ONNX's IR
#   page: a value is assigned once, in static single assignment form; an initializer is a constant.
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
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def model(text):
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]> scatter {text}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    return made


def floats(*values):
    return np.array(values, np.float32)


def runs(text, *feeds):
    """All results of tinygrad, of ONNX Runtime and of the evaluator, of several runs of one loaded model."""
    made = model(text)
    tiny, evaluator = OnnxRunner("model.onnx"), ReferenceEvaluator(made)
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    results = [[], [], []]
    for feed in feeds:
        results[0].append([output.numpy().tolist() for output in tiny(dict(feed)).values()])
        results[1].append([output.tolist() for output in session.run(None, feed)])
        results[2].append([output.tolist() for output in evaluator.run(None, feed)])
    return results


print(f"tinygrad {version('tinygrad')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
sizes = "(int64[1,1] i, float[1] u) => (float[3] y) <float[3] weight = {0, 1, 2}>"
feeds = [{"i": np.array([[index]]), "u": floats(9)} for index in range(3)]
mine, theirs, right = runs(f"{sizes} {{ y = ScatterND(weight, i, u) }}", *feeds)
print(f"a 9 at 0, then at 1, then at 2, of the initializer [0, 1, 2]: tinygrad {mine}, ONNX Runtime {theirs}")
claim(theirs == right == [[[9, 1, 2]], [[0, 9, 2]], [[0, 1, 9]]], "right: each run starts with [0, 1, 2]")
claim(mine == [[[9, 1, 2]], [[9, 9, 2]], [[9, 9, 9]]], "tinygrad: the runs add up")

feed = {"i": np.array([[1]]), "u": floats(10)}
mine, theirs, right = runs(f'{sizes} {{ y = ScatterND<reduction = "add">(weight, i, u) }}', feed, feed, feed)
print(f"10 more at 1, three times the same run: tinygrad {mine}, ONNX Runtime {theirs}")
claim(theirs == right == [[[0, 11, 2]]] * 3, "right: 11 each time")
claim(mine == [[[0, 11, 2]], [[0, 21, 2]], [[0, 31, 2]]], "tinygrad: 11, 21, 31")

sizes = "(float[3] x, int64[1,1] i, float[1] u) => (float[3] y, float[3] z)"
feed = {"x": floats(0, 1, 2), "i": np.array([[1]]), "u": floats(9)}
mine, theirs, right = runs(f"{sizes} {{ h = Neg(x) y = ScatterND(h, i, u) z = Add(h, x) }}", feed)
print(f"-x with a 9 at 1, and -x + x: tinygrad {mine}, ONNX Runtime {theirs}")
claim(theirs == right == [[[0, 9, -2], [0, 0, 0]]], "right: -x + x is 0")
claim(mine == [[[0, 9, -2], [0, 10, 0]]], "tinygrad: it is 10 at 1")

own = Tensor([0.0, 1.0, 2.0])
model("(float[3] x, int64[1,1] i, float[1] u) => (float[3] y) { y = ScatterND(x, i, u) }")
OnnxRunner("model.onnx")({**feed, "x": own})["y"].numpy()
print(f"the caller's Tensor [0, 1, 2] after a run that writes a 9 at 1: {own.numpy().tolist()}")
claim(own.numpy().tolist() == [0, 9, 2], "it has changed")

text = "(float[3] x, int64[1,1] i, float[1] u) => (float[3] y, float[3] z) { z = Neg(x) y = ScatterND(x, i, u) }"
try:
    said = str(runs(text, feed)[0])
except RuntimeError as error:
    said = f"error: {error}"
claim(said.startswith("error"), f"where another node has read x before: {said}")

sizes = "(int64[1] i, float[1] u) => (float[3] y) <float[3] weight = {0, 1, 2}>"
feeds = [{"i": np.array([index]), "u": floats(9)} for index in range(3)]
mine, theirs, right = runs(f"{sizes} {{ y = ScatterElements(weight, i, u) }}", *feeds)
claim(mine == theirs == right, "ScatterElements: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
