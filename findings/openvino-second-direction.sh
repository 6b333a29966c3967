#!/usr/bin/env bash
# OpenVINO 2026.4.1 gives both directions of an LSTM, GRU or RNN the activations of the first.
#
# A bidirectional node lists the activations of its two directions one after the other. The model loads without a word,
# the forward half of the results is right, and the reverse half is computed with the forward activations. An LSTM's
# input_forget = 1, which couples the input and the forget gate, is left out as silently. The same directions as two
# nodes, each with its own activations, are right.
#
# Version: openvino 2026.4.1 (CPU plugin, inference precision FLOAT32), beside onnxruntime 1.32.0; opset 17.
# Documented: ONNX, operators LSTM, GRU and RNN, attribute activations: for each direction its own, so twice as many
#   for a bidirectional node; LSTM, attribute input_forget: couples the input and forget gates if 1.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    openvino==2026.4.1 openvino-telemetry==2025.2.0 onnxruntime==1.32.0 numpy==2.4.6 onnx==1.23.2 protobuf==7.36.2 \
    ml_dtypes==0.6.0 typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper

onnxruntime.set_default_logger_severity(3)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {
    "LSTM": (["Sigmoid", "Tanh", "Tanh"], ["Sigmoid", "Relu", "Tanh"]),
    "GRU": (["Sigmoid", "Tanh"], ["Sigmoid", "Relu"]),
    "RNN": (["Tanh"], ["Relu"]),
}
STEPS, BATCH, INPUTS, HIDDEN = 4, 2, 2, 3
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def seen(operator, directions, activations, **more):
    """The sequence of results of ONNX Runtime and of OpenVINO, for numbers that depend on the operator alone."""
    numbers, rows = np.random.default_rng(0), GATES[operator] * HIDDEN
    sizes = {"x": (STEPS, BATCH, INPUTS), "w": (2, rows, INPUTS), "r": (2, rows, HIDDEN)}
    arrays = {name: numbers.uniform(-1, 1, each).astype(np.float32) for name, each in sizes.items()}
    which = {"bidirectional": slice(0, 2), "forward": slice(0, 1), "reverse": slice(1, 2)}[directions]
    arrays |= {name: arrays[name][which] for name in ("w", "r")}
    node = helper.make_node(
        operator, list(arrays), ["y"], direction=directions, hidden_size=HIDDEN, activations=activations, **more
    )
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in arrays.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [STEPS, len(arrays["w"]), BATCH, HIDDEN])]
    model = helper.make_model(
        helper.make_graph([node], "one", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.checker.check_model(model, full_check=True)
    made = model.SerializeToString()
    session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(made), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return session.run(None, arrays)[0], np.asarray(compiled(list(arrays.values()))[0])


def is_as(found, wanted):
    return bool(np.allclose(found, wanted, atol=1e-5))


print(f"openvino {openvino.__version__}, onnxruntime {onnxruntime.__version__}")
for operator, (forward, reverse) in ACTIVATIONS.items():
    right, found = seen(operator, "bidirectional", [*forward, *reverse])
    as_forward, _ = seen(operator, "bidirectional", [*forward, *forward])
    print(f"{operator} {forward} and {reverse}: the reverse direction ends with {found[0, 1, 0].tolist()}, "
          f"ONNX Runtime's with {right[0, 1, 0].tolist()}")
    claim(is_as(found[:, 0], right[:, 0]), f"{operator}: the forward half is right")
    claim(not is_as(found[:, 1], right[:, 1]), f"{operator}: the reverse half is not")
    claim(is_as(found[:, 1], as_forward[:, 1]), f"{operator}: it is what the forward activations give")
    claim(is_as(*seen(operator, "reverse", reverse)), f"{operator}: a node of the reverse direction is right")
right, found = seen("LSTM", "forward", ACTIVATIONS["LSTM"][0], input_forget=1)
without, _ = seen("LSTM", "forward", ACTIVATIONS["LSTM"][0])
claim(is_as(found, without) and not is_as(found, right), "LSTM: input_forget changes nothing")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
