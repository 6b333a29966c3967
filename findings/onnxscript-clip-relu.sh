#!/usr/bin/env bash
# onnxscript 0.7.2 fuses a Clip whose limits are below zero with the Relu behind it into one that gives its limit.
#
# Clip to -2..-1 and then Relu is 0 everywhere. The optimizer writes one Clip with the larger Min and the smaller Max, 0
# and -1, and where Min is above Max every element becomes Max: -1. Two Clips whose ranges do not meet go wrong alike.
# Where they meet, or where the second range lies below the first, the fused Clip is right. onnxruntime's own fusion of
# the same nodes is right too.
#
# Version: onnxscript 0.7.2 with onnx-ir 1.1.0 and onnx 1.23.2, which checks and computes the models.
# Documented: ONNX, operator Clip from 13 on: where min is greater than max, all values become max. onnxscript's page on
#   optimization names no change of results.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxscript==0.7.2 onnx-ir==1.1.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 packaging==26.4 sympy==1.14.0 mpmath==1.3.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxscript.optimizer
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

X = np.array([-3, -1.5, -0.25, 0.5, 3], np.float32)
changed = []


def results(nodes):
    """Return what a model gives, before and after optimize(), and its operators after it."""
    model = parse_model(f"""<ir_version: 10, opset_import: ["": 21]> g (float[5] x) => (float[5] y)
        <float a = {{-2}}, float b = {{-1}}, float zero = {{0}}, float one = {{1}}> {{ {nodes} }}""")
    onnx.checker.check_model(model, full_check=True)
    before = ReferenceEvaluator(model).run(None, {"x": X})[0].tolist()
    short = onnxscript.optimizer.optimize(model)
    return before, ReferenceEvaluator(short).run(None, {"x": X})[0].tolist(), [node.op_type for node in short.graph.node]


print(f"onnxscript {version('onnxscript')}, inputs {X.tolist()}")
for nodes, right, fused in (
    ("c = Clip(x, a, b) y = Relu(c)", [0] * 5, [-1] * 5),
    ("c = Clip(x, a, b) y = Clip(c, zero, one)", [0] * 5, [-1] * 5),
    ("c = Clip(x, zero, one) y = Clip(c, a, b)", [-1] * 5, [-1] * 5),
    ("c = Clip(x, a, one) y = Relu(c)", [0, 0, 0, 0.5, 1], [0, 0, 0, 0.5, 1]),
):
    before, after, operators = results(nodes)
    holds = (before, after, operators) == (right, fused, ["Clip"])
    print(f"{nodes}: {before} before, {after} after" + ("" if holds else f"  <- CHANGED, {fused} was expected"))
    changed.extend([nodes] * (not holds))
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
