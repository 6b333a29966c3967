#!/usr/bin/env bash
# MNN 3.6.1 applies a GRU's reset gate after the product, and runs direction reverse forward.
#
# With linear_before_reset = 0, ONNX's default, the reset gate scales the hidden state before it is multiplied with the
# recurrence weights. MNN scales the product, and adds the bias outside: neither of ONNX's two forms. From the second
# step on the results differ. With direction = reverse it gives exactly what it gives for forward.
#
# Version: MNN 3.6.1 (2026-07), converted by the converter of the same package; beside onnx 1.23.2.
# Documented: ONNX, operator GRU-14: ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh) by default.
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
HIDDEN, SIZE, STEPS = 2, 2, 4
rng = np.random.default_rng(1)
W, R, B = (rng.standard_normal(sizes).astype(np.float32) for sizes in ((6, SIZE), (6, HIDDEN), 12))
x = rng.standard_normal((STEPS, 1, SIZE)).astype(np.float32)


def listed(weights):
    return "{" + ", ".join(repr(float(weight)) for weight in weights.ravel()) + "}"


def unit(steps):
    """Return hidden states where the reset gate scales the product with the recurrence weights."""
    wb, rb = np.split(B.astype(float), 2)
    h, states = np.zeros(HIDDEN), []
    for step in steps:
        of_input, of_state = W @ step, R @ h
        z, r = (1 / (1 + np.exp(-(of_input + of_state + wb + rb)[at : at + HIDDEN])) for at in (0, HIDDEN))
        new = np.tanh((of_input + wb + rb)[2 * HIDDEN :] + r * of_state[2 * HIDDEN :])
        h = (1 - z) * new + z * h
        states.append(h)
    return np.array(states)


results = {}
for direction in ("forward", "reverse"):
    found, right = computed(
        f"""<ir_version: 8, opset_import: ["": 17]> g (float[4, 1, 2] x) => (float[4, 1, 1, 2] y)
        <float[1, 6, 2] w = {listed(W)}, float[1, 6, 2] r = {listed(R)}, float[1, 12] b = {listed(B)}>
        {{ y = GRU<hidden_size = 2, direction = "{direction}">(x, w, r, b) }}""",
        x=x,
    )
    found, right = (states.reshape(STEPS, HIDDEN) for states in (found, right))
    results[direction] = found
    shown, wanted = (y.astype(float).round(4).tolist() for y in (found, right))
    print(f"{direction}: MNN {shown}, ONNX {wanted}", file=words)
    claim(not np.allclose(found, right, atol=1e-2), f"{direction}: the states are wrong")
    claim(np.allclose(found, unit(x[:, 0]), atol=1e-3), f"{direction}: they are of a gate behind the product, forward")
claim(np.array_equal(results["forward"], results["reverse"]), "both directions give the same")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
