#!/usr/bin/env bash
# An LpPool window that ends outside its input: OpenVINO 2026.4.1 and onnx 1.23.2 make the norm larger than it is.
#
# With ceil_mode = 1, five elements and a kernel of 2 have a third window of one element, whose 1-norm is that element.
# Both give twice as much: they take the mean of the elements that are there, times the size of the whole kernel. With
# p = 2 the norm is too large by the square root. Windows over pads are right, since their zeros are counted.
#
# Version: openvino 2026.4.1 (CPU plugin) and onnx 1.23.2, its reference evaluator, beside onnxruntime 1.32.0; opset 18.
# Documented: ONNX, operator LpPool (opset 18): the Lp norm of all values of the input inside the kernel.
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
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(3)
X = np.float32([1, 2, 3, 4, 5]).reshape(1, 1, 5)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def seen(p, more):
    """The norms of OpenVINO, of the evaluator and of ONNX Runtime."""
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        pool (float[1,1,5] x) => (float[1,1,3] y)
        {{ y = LpPool<kernel_shape = [2], strides = [2], p = {p}, {more}>(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(made.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    found = (compiled([X])[0], ReferenceEvaluator(made).run(None, {"x": X})[0], session.run(None, {"x": X})[0])
    return [np.asarray(one, dtype=float).ravel() for one in found]


def norms(p, windows):
    return np.array([sum(x**p for x in window) ** (1 / p) for window in windows])


print(f"openvino {openvino.__version__}, onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")
for p in (1, 2):
    right = norms(p, [(1, 2), (3, 4), (5,)])
    larger = right * [1, 1, 2 ** (1 / p)]
    *both, runtime = seen(p, "ceil_mode = 1")
    for name, found in zip(("OpenVINO", "the evaluator"), both, strict=True):
        print(f"p = {p}, ceil_mode = 1, {name}: {np.round(found, 4).tolist()}, by hand {np.round(right, 4).tolist()}")
        claim(np.allclose(found, larger), f"{name}: the last norm is too large, times 2 to the power of 1 / {p}")
    claim(np.allclose(runtime, right), "ONNX Runtime: right")
    padded = norms(p, [(0, 1), (2, 3), (4, 5)])
    claim(all(np.allclose(found, padded) for found in seen(p, "pads = [1, 0]")), "with a pad all three are right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
