#!/usr/bin/env bash
# emx-onnx-cgen 1.4.0 writes the backward states of an LSTM into Y in the order in which they are computed.
#
# A backward LSTM runs from the last step to the first; Y holds each step's state at the place of that step. The C that
# emx-onnx-cgen writes stores the state of the last step first: the numbers are right, their places are not. Y is upside
# down for direction reverse, and in the second half of bidirectional. With sequence_lens, each sequence is turned within
# its own length. Y_h and Y_c are right, as is direction forward. ONNX's node tests of both ask for Y_h and Y_c.
#
# Version: emx-onnx-cgen 1.4.0 (2026-07), its onnx_backend, which compiles the C, beside onnx 1.23.2 and ONNX Runtime
#   1.32.0.
# Documented: ONNX, operator LSTM-14: Y has all the intermediate output values of the hidden, by step. Expected are the
#   states of a forward LSTM that is given the steps in the other order.
# Seen: 2026-12-01. Needs Python 3.11 or newer, and gcc for the C that the package writes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    emx-onnx-cgen==1.4.0 emx-regex-cgen==0.2.0 Jinja2==3.1.6 MarkupSafe==3.0.4 sympy==1.14.0 mpmath==1.3.0 \
    onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import emx_onnx_cgen.onnx_backend as emx
import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model

changed = []
STEPS, HIDDEN = 4, 1
W = np.array([1, 0.5, -1, 2], np.float32)
R = np.array([0.5, -0.25, 1, 0.75], np.float32)
x = np.array([0.1, 1, -0.5, 2, 0.3, -1, 0.7, 0.2], np.float32).reshape(STEPS, 2, 1)  # four steps, two sequences


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def listed(numbers):
    return ", ".join(map(repr, map(float, numbers)))


def states(direction, lengths=None):
    """Return Y and Y_h as emx-onnx-cgen and ONNX Runtime compute them."""
    ways = 2 if direction == "bidirectional" else 1
    steps = f", int32[2] lengths = {{{', '.join(map(str, lengths))}}}" if lengths else ""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        g (float[4,2,1] x) => (float[4,{ways},2,1] y, float[{ways},2,1] y_h, float[{ways},2,1] y_c)
        <float[{ways},4,1] w = {{{listed(list(W) * ways)}}}, float[{ways},4,1] r = {{{listed(list(R) * ways)}}}{steps}>
        {{ y, y_h, y_c = LSTM<hidden_size = 1, direction = "{direction}">(x, w, r, , {"lengths" if lengths else ""}) }}""")
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(emx.run_model(model, [x])), session.run(None, {"x": x})


def unit(steps):
    """Return the states of one sequence, computed step by step."""
    h = c = 0.0
    found = []
    for step in steps.ravel().astype(float):
        i, o, f, g = (float(w) * step + float(r) * h for w, r in zip(W, R, strict=True))
        i, o, f = (1 / (1 + np.exp(-gate)) for gate in (i, o, f))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        found.append(h)
    return np.array(found)


def same(left, right):
    return np.allclose(left, right, atol=1e-5)


print(f"emx-onnx-cgen {version('emx-onnx-cgen')}, onnx {version('onnx')}, onnxruntime {version('onnxruntime')}")
found, right = states("forward")
claim(all(map(same, found, right)), "forward: right")
claim(same(right[0][:, 0, 0, 0], unit(x[:, 0])), "ONNX Runtime agrees with the hand")
for direction in ("reverse", "bidirectional"):
    found, right = states(direction)
    got, wanted = (y[:, -1, 0, 0] for y in (found[0], right[0]))
    print(f"{direction}, first sequence: emx-onnx-cgen {np.round(got.astype(float), 4).tolist()}, ONNX Runtime {np.round(wanted.astype(float), 4).tolist()}")
    claim(same(wanted, unit(x[::-1, 0])[::-1]), "ONNX Runtime agrees with the hand")
    claim(not same(got, wanted) and same(found[0][:, -1], right[0][::-1, -1]), "emx-onnx-cgen's Y is upside down")
    claim(same(found[1], right[1]) and same(found[2], right[2]), "Y_h and Y_c are right")
claim(same(found[0][:, 0], right[0][:, 0]), "bidirectional, the first half of Y is right")
found, right = states("reverse", lengths=[2, 4])
got, wanted = (y[:, 0, 0, 0] for y in (found[0], right[0]))
print(f"reverse, of two steps: emx-onnx-cgen {np.round(got.astype(float), 4).tolist()}, ONNX Runtime {np.round(wanted.astype(float), 4).tolist()}")
claim(same(wanted, [*unit(x[1::-1, 0])[::-1], 0, 0]), "ONNX Runtime agrees with the hand")
claim(same(got, [*unit(x[1::-1, 0]), 0, 0]), "emx-onnx-cgen exchanges the two")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
