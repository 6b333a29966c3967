#!/usr/bin/env bash
# onnx 1.23.2: the reference evaluator's MaxPool takes pads in another order than ONNX, and than its own AveragePool.
#
# ONNX lists the paddings at the beginning of all axes, then those at the end of all: [top, left, bottom, right]. The
# evaluator's MaxPool takes [top, bottom, left, right]. With pads = [1, 1, 0, 0] over 3 x 3 it gives 4 x 2, where
# onnx.checker's shape inference wants 3 x 3, which the model declares, and no error is raised. Paddings that are the
# same at all sides hide it, and so does auto_pad. AveragePool in the evaluator, and ONNX Runtime, have ONNX's order.
#
# Version: onnx 1.23.2, beside onnxruntime 1.32.0.
# Documented: ONNX, operator MaxPool (opset 22), attribute pads: first the beginnings, then the ends of all the axes,
#   [x1_begin, x2_begin, ..., x1_end, x2_end, ...].
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

x = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(operator, pads, sizes):
    """The evaluator's and ONNX Runtime's result of a window of 2 x 2 over x, in a model of these output sizes."""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 22]>
        window (float[1,1,3,3] x) => (float[1,1,{sizes[0]},{sizes[1]}] y)
        {{ y = {operator}<kernel_shape = [2, 2], pads = {pads}>(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return ReferenceEvaluator(made).run(None, {"x": x})[0][0, 0], session.run(None, {"x": x})[0][0, 0]


def largest(top, bottom, left, right):
    """The largest of each window of 2 x 2, by NumPy alone."""
    padded = np.pad(x[0, 0], ((top, bottom), (left, right)), constant_values=-np.inf)
    return np.lib.stride_tricks.sliding_window_view(padded, (2, 2)).max((2, 3))


print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}; a window of 2 x 2 over 3 rows of 3")
for pads in ([1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]):
    top, left, bottom, right = pads
    sizes = (2 + top + bottom, 2 + left + right)
    evaluator, runtime = runs("MaxPool", pads, sizes)
    print(f"MaxPool, pads {pads}: evaluator {evaluator.tolist()}, ONNX Runtime {runtime.tolist()}")
    claim(np.array_equal(runtime, largest(top, bottom, left, right)), "ONNX Runtime: top, left, bottom, right")
    claim(np.array_equal(evaluator, largest(*pads)), "the evaluator: top, bottom, left, right")
    if left != bottom:
        claim(not np.array_equal(evaluator, runtime), "which is something else")
    evaluator, runtime = runs("AveragePool", pads, sizes)
    claim(evaluator.shape == sizes and np.allclose(evaluator, runtime), "AveragePool: both agree")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
