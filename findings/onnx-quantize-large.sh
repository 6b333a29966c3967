#!/usr/bin/env bash
# onnx 1.23.2: the reference evaluator's QuantizeLinear gives the smallest number for the largest ones.
#
# QuantizeLinear saturates: what is above the range becomes its end. The evaluator rounds to a number of 32 bits before
# it clips, so that x / scale from 2^31 on becomes -2^31, and then the lower end: 0 for UINT8, -128 for INT8, and so for
# 16 and 4 bits, and for infinity. What is below the range is right, as is everything up to 2^31. A small scale is
# enough: 1 with a scale of 1e-10. NumPy warns of an invalid cast, the evaluator says nothing. ONNX Runtime saturates.
#
# Version: onnx 1.23.2 on x86-64, beside onnxruntime 1.32.0.
# Documented: ONNX, operator QuantizeLinear (opset 21): y = saturate((x / y_scale) + y_zero_point), which goes to
#   [0, 255] for UINT8, [-128, 127] for INT8, [0, 65535] for UINT16, [-32768, 32767] for INT16, and so on.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(kind, x, scale):
    """What the evaluator and ONNX Runtime make of x, read back with DequantizeLinear and scale 1, and the warnings."""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        quantize (float[{x.size}] x, float scale) => (float[{x.size}] y) <{kind} zero = {{0}}, float one = {{1}}>
        {{ q = QuantizeLinear(x, scale, zero) y = DequantizeLinear(q, one, zero) }}""")
    onnx.checker.check_model(made, full_check=True)
    inputs = {"x": x, "scale": np.array(scale, np.float32)}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        evaluator = ReferenceEvaluator(made).run(None, inputs)[0]
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return evaluator, session.run(None, inputs)[0], {warning.category for warning in said}


print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")
ranges = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767), "int4": (-8, 7),
          "uint4": (0, 15)}
x = np.array([1.5, 1e9, 2.1e9, 2.2e9, 1e30, np.inf, -2.2e9, -np.inf], np.float32)
print(f"x {x.tolist()}, scale 1")
for kind, (low, high) in ranges.items():
    evaluator, runtime, said = runs(kind, x, 1)
    print(f"{kind}: evaluator {evaluator.astype(int).tolist()}, ONNX Runtime {runtime.astype(int).tolist()}")
    claim(np.array_equal(runtime, np.clip(np.rint(x), low, high)), "ONNX Runtime: saturated")
    claim(evaluator.tolist() == [2, high, high, low, low, low, low, low], "the evaluator: from 2^31 on the lower end")
    claim(said == {RuntimeWarning}, "a warning of NumPy's")
x = np.array([0.1, 0.2, 0.3, 1], np.float32)
evaluator, runtime, _ = runs("uint8", x, 1e-10)
print(f"uint8, x {x.astype(float).round(4).tolist()}, scale 1e-10: evaluator {evaluator.astype(int).tolist()}, "
      f"ONNX Runtime {runtime.astype(int).tolist()}")
claim(runtime.tolist() == [255] * 4 and evaluator.tolist() == [255, 255, 0, 0], "it depends on x / scale alone")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
