#!/usr/bin/env bash
# onnx 1.23.2: the reference evaluator's LRN normalizes as many channels as the batch has items, and no others.
#
# The squares of the neighbouring channels are summed for the channels 0 to N - 1 only, where N is the batch size. All
# other channels are divided by bias to the power of beta: for one image of six channels five are wrong, without an
# error. A batch of as many items as channels, as in few tests, is right.
#
# Version: onnx 1.23.2, its reference evaluator, beside onnxruntime 1.32.0; opsets 1 and 13 alike.
# Documented: ONNX, operator LRN: square_sum[n, c, ...] is the sum over the region of channels around c, for every c.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
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
CHANNELS, BIAS, BETA = 6, 2.0, 0.75
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def seen(items, opset):
    sizes = f"{items},{CHANNELS},1,1"
    made = parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]>
        lrn (float[{sizes}] x) => (float[{sizes}] y)
        {{ y = LRN<size = 3, alpha = 0.9, beta = {BETA}, bias = {BIAS}>(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    x = np.arange(1, items * CHANNELS + 1, dtype=np.float32).reshape(items, CHANNELS, 1, 1)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    found = ReferenceEvaluator(made).run(None, {"x": x}), session.run(None, {"x": x})
    return (x[..., 0, 0], *(one[0][..., 0, 0] for one in found))


print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")
for opset in (1, 13):
    for items in (1, 2, CHANNELS):
        x, evaluator, runtime = seen(items, opset)
        print(f"opset {opset}, {items} items: evaluator {np.round(evaluator[0], 4).tolist()}, "
              f"ONNX Runtime {np.round(runtime[0], 4).tolist()}")
        claim(np.allclose(evaluator[:, :items], runtime[:, :items], rtol=1e-5), f"the first {items} channels are right")
        claim(np.allclose(evaluator[:, items:], x[:, items:] / BIAS**BETA, rtol=1e-5), "all others have only the bias")
        claim(np.allclose(evaluator, runtime, rtol=1e-5) == (items == CHANNELS), "right only where none is left")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
