#!/usr/bin/env bash
# Pools with auto_pad SAME and dilations: ONNX Runtime 1.32.0 gives too few elements, onnx 1.23.2 fills up with zeros.
#
# Seven elements, a kernel of 3 with a step of 2 inside: SAME promises seven results. ONNX Runtime pads as if there were
# no dilations and gives five, though the model declares seven, with a warning in its log at most. onnx's own reference
# evaluator gives seven, but in an AveragePool or LpPool they are the five of ONNX Runtime and two zeros, and only its
# MaxPool is right. Both are right if the same padding is given in numbers, pads = [2, 2]. A Conv with SAME and
# dilations is refused by ONNX Runtime.
#
# Version: onnxruntime 1.32.0 (CPU) and onnx 1.23.2, its reference evaluator; opsets 19 to 22 alike.
# Documented: ONNX, operators MaxPool, AveragePool and LpPool (opset 22), attribute auto_pad: the input is padded so
#   that output_shape[i] = ceil(input_shape[i] / strides[i]); attribute dilations: the step between elements of a window.
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

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(3)
X = np.float32([1, 2, 4, 8, 16, 32, 64])
MEANINGS = {"MaxPool": np.max, "AveragePool": np.mean, "LpPool": np.sum}
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def by_hand(meaning, kernel=3, dilation=2):
    """A window around each element, of those of its elements that are not padding."""
    half = (kernel - 1) * dilation // 2
    windows = [[at + step * dilation - half for step in range(kernel)] for at in range(X.size)]
    return [float(meaning([X[at] for at in window if 0 <= at < X.size])) for window in windows]


def seen(operator, opset, padding):
    more = ", p = 1" if operator == "LpPool" else ""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": {opset}]>
        pool (float[1,1,7] x) => (float[1,1,7] y)
        {{ y = {operator}<kernel_shape = [3], dilations = [2], {padding}{more}>(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    inputs = {"x": X.reshape(1, 1, 7)}
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return [found[0].ravel().tolist() for found in (session.run(None, inputs), ReferenceEvaluator(made).run(None, inputs))]


print(f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}; x is {X.tolist()}")
for operator, meaning in MEANINGS.items():
    right = by_hand(meaning)
    for opset in (19, 22):
        for padding in ("pads = [2, 2]", 'auto_pad = "SAME_UPPER"', 'auto_pad = "SAME_LOWER"'):
            runtime, evaluator = seen(operator, opset, padding)
            print(f"{operator}, opset {opset}, {padding}: by hand {np.round(right, 3).tolist()}, "
                  f"ONNX Runtime {np.round(runtime, 3).tolist()}, evaluator {np.round(evaluator, 3).tolist()}")
            if padding.startswith("pads"):
                claim(np.allclose(runtime, right) and np.allclose(evaluator, right), "both right")
                continue
            claim(np.allclose(runtime, right[1:-1]), "ONNX Runtime: without the first and the last")
            if operator == "MaxPool":
                claim(np.allclose(evaluator, right), "the evaluator: right")
            else:
                claim(np.allclose(evaluator, [*right[1:-1], 0, 0]), "the evaluator: without these, and two zeros")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
