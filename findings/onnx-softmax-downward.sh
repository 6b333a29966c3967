#!/usr/bin/env bash
# onnx 1.23.2 converts Softmax of opset 13 down to 12 and changes what it computes.
#
# Softmax-13 sums along one axis; Softmax-11 along this axis and all after it. version_converter puts the axis into the
# older operator as it is, counted from the front, and says nothing: for any axis but the last the results are others.
# LogSoftmax goes the same way. Hardmax, whose meaning changed likewise, is refused.
#
# Version: onnx 1.23.2, onnx.version_converter; onnxruntime 1.32.0 computes both models.
# Documented: ONNX, operators Softmax-11 (the input is coerced into 2 dimensions at axis) and Softmax-13; the page of
#   version_converter: a model that cannot be converted is an error.
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
from onnx.version_converter import convert_version

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def share(model):
    """Return the first result for 2 x 3 x 4 equal numbers."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return float(session.run(None, {"x": np.zeros((2, 3, 4), np.float32)})[0].flat[0])


def model_of(operator, axis):
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 13]>
        g (float[2,3,4] x) => (float[2,3,4] y) {{ y = {operator}<axis = {axis}>(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    return made


print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}; the first result for 2 x 3 x 4 equal numbers")
for operator, function in (("Softmax", lambda share: share), ("LogSoftmax", np.log)):
    for axis, right, wrong in ((0, 2, 24), (1, 3, 12), (-2, 3, 12), (2, 4, 4), (-1, 4, 4)):
        before = model_of(operator, axis)
        after = convert_version(before, 12)
        onnx.checker.check_model(after, full_check=True)
        holds = np.allclose([share(before), share(after)], [function(1 / right), function(1 / wrong)])
        claim(holds, f"{operator}, axis {axis}: {share(before):.4f} of opset 13, {share(after):.4f} converted to 12")
try:
    convert_version(model_of("Hardmax", 1), 12)
    claim(False, "Hardmax is refused")
except RuntimeError as error:
    claim("No Adapter" in str(error), f"Hardmax is refused: {str(error)[-60:]}")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
