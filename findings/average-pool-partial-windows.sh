#!/usr/bin/env bash
# Two programs divide an AveragePool's last, partial window by all its elements.
#
# With ceil_mode = 1 the last window may end outside the input and its padding. count_include_pad = 1 counts the padding
# of `pads`, and not what ceil_mode adds. ONNX Runtime's AveragePool of floats keeps to that. Between DequantizeLinear
# and QuantizeLinear it is fused into com.microsoft.QLinearAveragePool, which counts the whole window: the average of
# one element 72 and nothing else is 36. OpenVINO's CPU plugin does so with floats, where `pads` are not all 0. Without
# count_include_pad or without ceil_mode all agree.
#
# Version: onnxruntime 1.32.0 (CPU, default settings), openvino 2026.4.1 (CPU plugin, FLOAT32), on models that onnx
#   1.23.2 checks and computes.
# Documented: ONNX, operator AveragePool from 19 on: count_include_pad says whether to count padding, of which `pads` is
#   the number. onnx's reference evaluator gives what is called right here.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4 openvino==2026.4.1 openvino-telemetry==2025.2.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)  # an expected refusal is no news
LEVELS = {name: getattr(onnxruntime.GraphOptimizationLevel, name) for name in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")}
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def run(model, level, **inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def model_of(text, opset):
    model = parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> ' + text)
    onnx.checker.check_model(model, full_check=True)
    return model



BOTH = "ceil_mode = 1, count_include_pad = 1"
X = np.array([12, 24, 36, 48, 60, 72], np.float32).reshape(1, 1, 1, 6)


def averages(attributes, count):
    """Return what each program gives: of the model, and of the model between QuantizeLinear and DequantizeLinear."""
    form = "g (float[1,1,1,6] x) => (float[1,1,1,%d] y)" % count
    node = f"AveragePool<strides = [1, {2 if 'pads' in attributes else 3}], {attributes}>"
    plain = model_of(form + f" {{ y = {node}(x) }}", 19)
    quantized = model_of(
        form + " <float scale = {1}, uint8 point = {0}> {"
        " a = QuantizeLinear(x, scale, point) b = DequantizeLinear(a, scale, point)"
        f" c = {node}(b) d = QuantizeLinear(c, scale, point) y = DequantizeLinear(d, scale, point) }}",
        19,
    )
    core = openvino.Core()
    read = core.read_model(plain.SerializeToString())
    compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = {
        "onnx": ReferenceEvaluator(plain).run(None, {"x": X})[0],
        "onnxruntime": run(plain, "ORT_ENABLE_ALL", x=X),
        "onnxruntime, quantized": run(quantized, "ORT_ENABLE_ALL", x=X),
        "onnxruntime, quantized, not optimized": run(quantized, "ORT_DISABLE_ALL", x=X),
        "openvino": compiled([X])[0],
    }
    return {name: result.ravel().tolist() for name, result in results.items()}


print(f"onnxruntime {version('onnxruntime')}, openvino {version('openvino')}")
for attributes, right, wrong, of_openvino in (
    # the last window holds 72 and one place that ceil_mode adds
    (f"kernel_shape = [1, 2], pads = [0, 1, 0, 0], {BOTH}", [6, 30, 54, 72], [6, 30, 54, 36], [6, 30, 54, 36]),
    # the last window holds 48, 60 and 72
    (f"kernel_shape = [1, 4], {BOTH}", [30, 60], [30, 45], [30, 60]),
    # and 60, 72, one place of padding and one that ceil_mode adds
    (f"kernel_shape = [1, 4], pads = [0, 0, 0, 1], {BOTH}", [30, 54, 44], [30, 54, 33], [30, 54, 33]),
    ("kernel_shape = [1, 4], ceil_mode = 1", [30, 60], [30, 60], [30, 60]),
    ("kernel_shape = [1, 2], pads = [0, 1, 0, 0], count_include_pad = 1", [6, 30, 54], [6, 30, 54], [6, 30, 54]),
):
    for name, seen in averages(attributes, len(right)).items():
        expected = {"onnxruntime, quantized": wrong, "openvino": of_openvino}.get(name, right)
        claim(seen == expected, f"{attributes}, {name}: {seen}" + ("" if seen == right else f", right is {right}"))
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
