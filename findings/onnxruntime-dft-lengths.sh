#!/usr/bin/env bash
# ONNX Runtime 1.32.0: a DFT whose length is not a power of two is off by much more than one that is.
#
# For powers of two the errors are those of FLOAT32. For other lengths they are larger, and four times the length makes
# them about eight times as large: of 4095 numbers between -1 and 1 the largest error is about 0.1, over a thousand times
# that of 4096. A tone of one frequency gets others that are not there. Matrices of FLOAT32 cosines and sines, multiplied
# with the same numbers, are as exact for all lengths as the transform of powers of two.
#
# Version: ONNX Runtime 1.32.0, execution provider CPU, beside onnx 1.23.2.
# Documented: ONNX, operator DFT-17 (and 20), by its sum of x * exp(-2 pi i k n / N). Expected is NumPy's transform of
#   FLOAT64, and for some frequencies the sum itself.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
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
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def spectra(x):
    """Return what ONNX Runtime, the reference evaluator, FLOAT32 matrices and FLOAT64 give."""
    n = len(x)
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        g (float[1,{n},1] x) => (float[1,{n},2] y) {{ y = DFT(x) }}""")
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = [way.run(None, {"x": x.reshape(1, n, 1)})[0][0] for way in (session, ReferenceEvaluator(model))]
    angles = 2 * np.pi * (np.outer(np.arange(n), np.arange(n)) % n) / n
    matrices = np.cos(angles).astype(np.float32) @ x - 1j * (np.sin(angles).astype(np.float32) @ x)
    return *(y[:, 0] + 1j * y[:, 1] for y in found), matrices, np.fft.fft(x.astype(float)), angles


print(f"onnxruntime {version('onnxruntime')}, onnx {version('onnx')}, numpy {version('numpy')}")
rng = np.random.default_rng(1)
errors = {}
for n in (256, 255, 1024, 1000, 4096, 4095):
    x = rng.uniform(-1, 1, n).astype(np.float32)
    runtime, evaluated, matrices, right, angles = spectra(x)
    sums = np.exp(-1j * angles[[1, n // 3]]) @ x.astype(float)
    claim(np.allclose(right[[1, n // 3]], sums, atol=1e-9), f"{n}: two frequencies of NumPy's agree with the sum")
    errors[n], by_evaluator, by_matrices = (float(np.abs(y - right).max()) for y in (runtime, evaluated, matrices))
    print(f"{n}: largest error {errors[n]:.1e}, reference evaluator {by_evaluator:.1e}, FLOAT32 matrices {by_matrices:.1e}")
    claim(by_evaluator < 1e-4 and by_matrices < 1e-3, f"{n}: FLOAT32 can do it")
for power, other, factor in ((256, 255, 50), (1024, 1000, 50), (4096, 4095, 200)):
    claim(errors[power] < 1e-3 and errors[other] > factor * errors[power], f"{other} is far less exact than {power}")

tone = np.cos(2 * np.pi * 500 * np.arange(4095) / 4095).astype(np.float32)
runtime, evaluated, *_ = spectra(tone)
away = np.ones(4095, bool)
away[[500, 4095 - 500]] = False
print(f"a tone, largest of the other frequencies: {np.abs(runtime[away]).max():.1e}, evaluator {np.abs(evaluated[away]).max():.1e}")
claim(np.abs(evaluated[away]).max() < 1e-3 < 0.05 < np.abs(runtime[away]).max(), "ONNX Runtime hears others")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
