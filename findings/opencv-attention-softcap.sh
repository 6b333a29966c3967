#!/usr/bin/env bash
# OpenCV 5.0.0: Attention with a softcap looks at keys that its mask hides, as ONNX itself said until 1.21.
#
# The mask adds -infinity to the scores of hidden keys. Where the softcap comes after the mask, tanh brings it back to
# -softcap, and a hidden key has its share: with softcap 1 more than a tenth. ONNX 1.21.0 defined and computed it so,
# and 1.22.0 turned the order round, within opsets 23 and 24: one model has two meanings, by the age of what runs it.
# OpenCV 5.0.0 has the old one, ONNX Runtime 1.32.0 the new one. The share shrinks as the softcap grows, and with 50 it
# cannot be seen.
#
# Version: opencv-python-headless 5.0.0.93 (2026-07), onnxruntime 1.32.0, onnx 1.21.0 and 1.23.2.
# Documented: ONNX, operator Attention (opset 23), the figure of the pattern: Add of the mask, then softcap, up to 1.21;
#   softcap, then Add of the mask, from 1.22 on (onnx pull request 7867). The version of the operator is the same.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
install() {
    venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: "$@"
}
install opencv-python-headless==5.0.0.93 onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 \
    ml_dtypes==0.6.0 typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
install --target older onnx==1.21.0
cat >evaluate.py <<'PY'
import sys

import numpy as np
import onnx
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

INPUTS = {
    "Q": np.ones((1, 1, 1, 1), np.float32),  # one query, and two keys that are alike; the second is hidden
    "K": np.ones((1, 1, 2, 1), np.float32),
    "V": np.array([10, 20], np.float32).reshape(1, 1, 2, 1),
    "mask": np.array([[True, False]]),
}


def model(softcap):
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 23]>
        masked (float[1,1,1,1] Q, float[1,1,2,1] K, float[1,1,2,1] V, bool[1,2] mask) => (float[1,1,1,1] Y)
        {{ Y = Attention<scale = 1.0, softcap = {softcap}>(Q, K, V, mask) }}""")
    onnx.checker.check_model(made, full_check=True)
    return made


def standard(softcap):
    return ReferenceEvaluator(model(softcap)).run(None, INPUTS)[0].item()


if __name__ == "__main__":
    print(onnx.__version__, *map(standard, map(float, sys.argv[1:])))
PY
PYTHONPATH=older venv/bin/python evaluate.py 0.0 1.0 3.0 50.0 >older.txt
venv/bin/python - <<'PY'
import math
import sys
from importlib.metadata import version

import cv2
import numpy as np
import onnx
import onnxruntime
from evaluate import INPUTS, model, standard

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def opencv(softcap):
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model(softcap).SerializeToString(), np.uint8))
    for name, value in INPUTS.items():
        net.setInput(value, name)
    return net.forward().item()


def runtime(softcap):
    session = onnxruntime.InferenceSession(model(softcap).SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, INPUTS)[0].item()


release, *older = open("older.txt").read().split()
print(f"OpenCV {version('opencv-python-headless')}, onnxruntime {onnxruntime.__version__}; values 10, and 20 hidden")
claim(release == "1.21.0" and onnx.__version__ == "1.23.2", "onnx 1.21.0 and 1.23.2")
for softcap, before in zip((0.0, 1.0, 3.0, 50.0), map(float, older), strict=True):
    share = 0  # of the hidden key, if its score becomes -softcap
    if softcap:
        share = 1 / (1 + math.exp(softcap * math.tanh(1 / softcap) + softcap))
    results = {"OpenCV": opencv(softcap), "onnx 1.21.0": before, "onnx 1.23.2": standard(softcap)}
    results["ONNX Runtime"] = runtime(softcap)
    print(f"softcap {softcap:g}: {results}")
    for name in ("OpenCV", "onnx 1.21.0"):
        claim(abs(results[name] - 10 - 10 * share) < 1e-4, f"{name}: the hidden key's share is {share:.4f}, as by hand")
    claim(results["onnx 1.23.2"] == results["ONNX Runtime"] == 10, "onnx 1.23.2 and ONNX Runtime: none")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
