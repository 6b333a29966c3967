#!/usr/bin/env bash
# MNN 3.6.1 interpolates the first elements of an enlarged tensor from the wrong place.
#
# A cubic Resize with half_pixel coordinates, the default, asks for places before the first element. MNN moves the
# element to interpolate from into the tensor and keeps the fraction: place -0.25 is read as 0.75. So the first results
# are those of the other side, often larger than their neighbours on both sides; all others are right.
#
# Version: MNN 3.6.1 (2026-07), converted by the converter of the same package; beside onnx 1.23.2.
# Documented: ONNX, operator Resize-18: x_original = (x_resized + 0.5) / scale - 0.5.
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
for scale in (2, 4):
    x = np.array([1, 2, 4, 8, 16], np.float32).reshape(1, 1, 1, 5)
    model = f"""<ir_version: 8, opset_import: ["": 18]> g (float[1, 1, 1, 5] x) => (float[1, 1, 1, {5 * scale}] y)
        <float[4] s = {{1, 1, 1, {scale}}}> {{ y = Resize<mode = "cubic">(x, , s) }}"""
    found, right = (y.reshape(-1) for y in computed(model, x=x))
    shown, wanted = (y.astype(float).round(4).tolist() for y in (found, right))
    print(f"scale {scale}: MNN {shown}, ONNX {wanted}", file=words)
    before = scale // 2  # as many results stand before the first element
    claim(np.allclose(found[before:], right[before:], atol=1e-4), "results from the first element on are right")
    later = right[scale : scale + before]
    claim(np.allclose(found[:before], later, atol=1e-4), "those before it are what follows one element later")
    claim(not np.allclose(found[:before], right[:before], atol=0.1), "these are wrong")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
