#!/usr/bin/env bash
# tract 0.23.9 runs an RNN of direction "reverse" forward, and its activation is always Tanh.
#
# The model loads and runs without a word: "reverse" gives the very numbers of "forward", in Y and in Y_h. The
# "bidirectional" form is right, and its second half is what "reverse" should have given. With activations = ["Relu"],
# which the standard names, the results are still those of Tanh. LSTM and GRU of direction "reverse" run forward too.
#
# Version: tract 0.23.9 (Python package, 2026-10), beside onnx 1.23.2, whose evaluator computes what the standard says.
# Documented: ONNX, operator RNN (opset 22): direction is forward, reverse or bidirectional; activations is a list of
#   names, by default Tanh. ONNX's own node tests simple_rnn_reverse, lstm_reverse and gru_reverse say the same.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    tract==0.23.9 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import tract
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

x = np.array([0.1, 0.2, 0.4], np.float32).reshape(3, 1, 1)  # three steps of one number


def model(operator, direction, gates=1, activations=""):
    ways = 2 if direction == "bidirectional" else 1
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 22]>
        one (float[3,1,1] X, float[{ways},{gates},1] W, float[{ways},{gates},1] R)
        => (float[3,{ways},1,1] Y, float[{ways},1,1] Y_h)
        {{ Y, Y_h = {operator}<hidden_size=1, direction="{direction}"{activations}>(X, W, R) }}""")
    onnx.checker.check_model(made, full_check=True)
    weights = np.ones((ways, gates, 1), np.float32)
    return made, {"X": x, "W": weights, "R": weights}


def tract_runs(made, inputs):
    onnx.save(made, "model.onnx")
    outputs = tract.onnx().load("model.onnx").into_model().into_runnable().run(list(inputs.values()))
    return [np.round(output.to_numpy().astype(np.float64), 3) for output in outputs]


def standard(made, inputs):
    return [np.round(output.astype(np.float64), 3) for output in ReferenceEvaluator(made).run(None, inputs)]


def text(outputs):
    return f"Y {outputs[0].ravel().tolist()}, Y_h {outputs[1].ravel().tolist()}"


def same(left, right):
    return all(np.allclose(a, b, atol=2e-3) for a, b in zip(left, right, strict=True))


changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


print(f"tract {version('tract')}, onnx {version('onnx')}")
forward, reverse, both = (model("RNN", way) for way in ("forward", "reverse", "bidirectional"))
for name, made in (("forward", forward), ("reverse", reverse), ("bidirectional", both)):
    print(f"RNN {name}: tract {text(tract_runs(*made))}")
    if made is not both:
        print(f"RNN {name}: ONNX  {text(standard(*made))}")
claim(same(tract_runs(*forward), standard(*forward)), "forward is right")
claim(same(tract_runs(*reverse), tract_runs(*forward)), "reverse gives what forward gives")
claim(not same(tract_runs(*reverse), standard(*reverse)), "reverse is not what ONNX says")
half = [tract_runs(*both)[0][:, 1:], tract_runs(*both)[1][1:]]
claim(same(half, standard(*reverse)), "the second half of bidirectional is right")
for operator, gates in (("LSTM", 4), ("GRU", 3)):
    ways = [tract_runs(*model(operator, way, gates)) for way in ("forward", "reverse")]
    print(f"{operator} forward: tract {text(ways[0])}\n{operator} reverse: tract {text(ways[1])}")
    claim(same(*ways), f"{operator}: reverse gives what forward gives")
relu = tract_runs(*model("RNN", "forward", activations=', activations=["Relu"]'))
print(f"RNN forward with Relu: tract {text(relu)}; by hand Y [0.1, 0.3, 0.7], Y_h [0.7]")
claim(same(relu, tract_runs(*forward)), "activations = [\"Relu\"] gives what Tanh gives")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
