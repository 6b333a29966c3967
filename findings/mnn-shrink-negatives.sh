#!/usr/bin/env bash
# MNN 3.6.1 lets the wrong half of the negative numbers through a Shrink.
#
# Shrink keeps what is farther from 0 than lambd, moved towards 0 by bias. MNN does so for positive numbers; of the
# negative ones it keeps those between -lambd and 0, and makes 0 of the ones below. The default attributes do it too.
#
# Version: MNN 3.6.1 (2026-07), converted by the converter of the same package; beside onnx 1.23.2.
# Documented: ONNX, operator Shrink-9: if x < -lambd, y = x + bias; if x > lambd, y = x - bias; otherwise y = 0.
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
for given in ("", "<lambd = 1.5>", "<lambd = 1.5, bias = 0.25>"):
    x = np.array([-4, -2, -1, -0.25, 0, 1, 2, 4], np.float32)
    model = f'<ir_version: 8, opset_import: ["": 17]> g (float[8] x) => (float[8] y) {{ y = Shrink{given}(x) }}'
    found, right = computed(model, x=x)
    lambd, bias = (1.5 if "lambd" in given else 0.5), (0.25 if "bias" in given else 0.0)
    print(f"Shrink{given} of {x.tolist()}: MNN {found.tolist()}, ONNX {right.tolist()}", file=words)
    claim(np.array_equal(found[x >= 0], right[x >= 0]), "positive numbers are right")
    kept = np.where(x > -lambd, x + bias, 0)
    claim(np.array_equal(found[x < 0], kept[x < 0]), "negative numbers above -lambd are kept, those below become 0")
    claim(not np.array_equal(found, right), "so the result is wrong")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
