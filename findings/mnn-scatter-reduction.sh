#!/usr/bin/env bash
# MNN 3.6.1 leaves out the reduction of a ScatterND, and the rounding of a nearest Resize.
#
# The converter takes the models without a word. ScatterND with add, mul, max or min writes the last update over the
# element. A nearest Resize with asymmetric coordinates takes the elements of nearest_mode floor for ceil and for
# round_prefer_ceil as well.
#
# Version: MNN 3.6.1 (2026-07), converted by the converter of the same package; beside onnx 1.23.2.
# Documented: ONNX, operators ScatterND-18 (reduction) and Resize-18 (nearest_mode).
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    MNN==3.6.1 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0
venv/bin/python - 2> log <<'PY' || { cat log; exit 1; }
import os
import sys
from importlib.metadata import version

import _tools
import MNN.expr as F
import MNN.nn
import numpy as np
import onnx
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
words = os.fdopen(os.dup(1), "w", buffering=1)  # MNN's own lines go elsewhere
os.dup2(2, 1)
TYPES = {"float32": F.float, "int32": F.int}


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what, file=words)
    changed.extend([what] * (not holds))


def computed(text, **inputs):
    """Return what MNN and ONNX's reference evaluator make of a model of one output."""
    model = parse_model(text)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    files = ["--modelFile", "model.onnx", "--MNNModel", "model.mnn"]
    _tools.mnnconvert(["mnnconvert", "-f", "ONNX", *files, "--bizCode", "x"])
    net = MNN.nn.load_module_from_file("model.mnn", list(inputs), [model.graph.output[0].name])
    given = [x.astype(np.int32) if x.dtype == np.int64 else x for x in inputs.values()]  # MNN has no 64-bit integers
    found = net.forward([F.const(x.reshape(-1), list(x.shape), F.NCHW, TYPES[str(x.dtype)]) for x in given])
    found = found[0] if isinstance(found, (list, tuple)) else found
    found = F.convert(found, F.NCHW) if found.data_format == F.NC4HW4 else found
    return np.array(found.read()).reshape(found.shape), ReferenceEvaluator(model).run(None, inputs)[0]


print(f"MNN {version('MNN')}, onnx {version('onnx')}", file=words)
x = np.array([2, 2, 2, 2], np.float32)
indices = np.array([[1], [1], [3]])
updates = np.array([5, 3, 1], np.float32)
for reduction in ("none", "add", "mul", "max", "min"):
    at = indices[1:] if reduction == "none" else indices  # two updates of one element have no defined order
    model = f"""<ir_version: 8, opset_import: ["": 18]>
        g (float[4] x, int64[{len(at)}, 1] i, float[{len(at)}] u) => (float[4] y)
        {{ y = ScatterND<reduction = "{reduction}">(x, i, u) }}"""
    found, right = computed(model, x=x, i=at, u=updates[-len(at) :])
    print(f"reduction {reduction}: MNN {found.tolist()}, ONNX {right.tolist()}", file=words)
    claim(found.tolist() == [2, 3, 2, 1], "the last updates stand in their places")
    claim(np.array_equal(found, right) == (reduction == "none"), "which is right only without a reduction")
row = np.array([1, 2, 3, 4], np.float32).reshape(1, 1, 1, 4)
for mode in ("floor", "ceil", "round_prefer_ceil"):
    model = f"""<ir_version: 8, opset_import: ["": 18]> g (float[1, 1, 1, 4] x) => (float[1, 1, 1, 8] y)
        <float[4] s = {{1, 1, 1, 2}}>
        {{ y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
                      nearest_mode = "{mode}">(x, , s) }}"""
    found, right = computed(model, x=row)
    print(f"nearest_mode {mode}: MNN {found.ravel().tolist()}, ONNX {right.ravel().tolist()}", file=words)
    claim(found.ravel().tolist() == [1, 1, 2, 2, 3, 3, 4, 4], "the elements of floor")
    claim(np.array_equal(found, right) == (mode == "floor"), "which is right only for floor")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
