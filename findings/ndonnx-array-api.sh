#!/usr/bin/env bash
# ndonnx 0.23.0: cumulative_prod, bitwise_right_shift and logaddexp are not those of the array API standard.
#
# cumulative_prod sums logarithms: of 3, 7 and 11 as INT64 it is 2, 20 and 230, and from a negative number on it is NaN,
# or the smallest INT64. A shift to the right divides by a power of two of the same data type. By 7 places for INT8, and
# by 63 for INT64, that power is negative: 64 becomes -1, and -1 becomes 0. logaddexp adds exponentials: of 100 and 100
# in FLOAT32 it is infinite. The models that ndonnx writes compute the same as its arrays. There is no warning.
#
# Version: ndonnx 0.23.0 (with spox 0.18.2), run by ONNX Runtime 1.32.0; onnx 1.23.2.
# Documented: ndonnx: an implementation of the array API standard (2024.12) that writes ONNX models. The standard:
#   cumulative_prod; bitwise_right_shift: as floor(x1 / 2**x2); logaddexp: log(exp(x1) + exp(x2)). Expected are
#   hand computation and the results of NumPy, which is another implementation of the standard.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    ndonnx==0.23.0 spox==0.18.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import ndonnx
import numpy as np
import onnx
import onnxruntime

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def computed(function, x):
    """Return what an array, and the model that ndonnx writes for it, give."""
    array = function(ndonnx, ndonnx.asarray(x)).unwrap_numpy()
    argument = ndonnx.argument(shape=("n",), dtype=ndonnx.asarray(x).dtype)
    model = ndonnx.build({"x": argument}, {"y": function(ndonnx, argument)})
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return array, session.run(None, {"x": x})[0]


def compared(name, function, x, by_hand, wrong):
    array, model = computed(function, x)
    right = function(np, x)
    print(f"{name} of {x.tolist()}, {x.dtype}: ndonnx {array.tolist()}, NumPy {right.tolist()}")
    claim(np.allclose(right.astype(float), np.array(by_hand, float)), "NumPy agrees with the hand")
    claim(np.array_equal(array, model, equal_nan=True) and array.dtype == right.dtype, "array and model agree")
    expected = np.array(by_hand if wrong is None else wrong, array.dtype)
    if array.dtype.kind == "f":
        claim(np.allclose(array, expected, rtol=1e-5, equal_nan=True), "ndonnx: " + ("wrong" if wrong else "right"))
    else:
        claim(np.array_equal(array, expected), "ndonnx: " + ("wrong" if wrong else "right"))


def product(library, x):
    return library.cumulative_prod(x)


def twice(library, x):
    return library.logaddexp(x, x)


def shifted(places, kind):
    return lambda library, x: library.bitwise_right_shift(x, library.asarray(np.array(places, kind)))


packages = ("ndonnx", "spox", "onnx", "onnxruntime", "numpy")
print(", ".join(f"{name} {version(name)}" for name in packages))
nan, least = float("nan"), -(2**63)
compared("cumulative_prod", product, np.array([2, 3, 4], np.float32), [2, 6, 24], None)
compared("cumulative_prod", product, np.array([1, -2, 3], np.float32), [1, -2, -6], [1, nan, nan])
compared("cumulative_prod", product, np.array([3, 7, 11]), [3, 21, 231], [2, 20, 230])
compared("cumulative_prod", product, np.array([3, -1, 5]), [3, -3, -15], [2, least, least])
for bits in (8, 16, 32, 64):
    kind = np.dtype(f"int{bits}")
    x = np.array([2 ** (bits - 2), -1, -(2 ** (bits - 1))], kind)
    compared(f"bitwise_right_shift by {bits - 2}", shifted(bits - 2, kind), x, [1, -1, -2], None)
    compared(f"bitwise_right_shift by {bits - 1}", shifted(bits - 1, kind), x, [0, -1, -1], [-1, 0, 1])
claim(-1 >> 7 == -1, "Python: -1 >> 7 is -1")
compared("logaddexp twice", twice, np.array([0, 10], np.float32), [np.log(2), 10 + np.log(2)], None)
compared("logaddexp twice", twice, np.array([100], np.float32), [100 + np.log(2)], [np.inf])
compared("logaddexp twice", twice, np.array([-1000.0]), [-1000 + np.log(2)], [-np.inf])
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
