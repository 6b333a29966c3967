#!/usr/bin/env bash
# jaxonnxruntime 0.3.0: a Gemm factor of 0 counts as 1, Div of integers rounds down, OneHot wraps what is outside.
#
# Gemm with alpha = 0 or beta = 0 gives the product and the addend in full: the importer takes a zero for an attribute
# that is missing. -7 / 2 of INT32 is -4, where ONNX truncates to -3. OneHot marks index 3 of a depth of 3 at place 0,
# and index -4 at place 2, where ONNX has a row without a mark. None of it gives a warning.
#
# Version: jaxonnxruntime 0.3.0 with jax 0.10.2, beside onnxruntime 1.32.0; opset 17.
# Documented: ONNX, operators Gemm: Y = alpha * A' * B' + beta * C; Div (opset 14): integer division truncates toward
#   zero; OneHot (opset 11): values outside [-depth, depth - 1] give rows in which all elements are off_value.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    jaxonnxruntime==0.3.0 jax==0.10.2 jaxlib==0.10.2 absl-py==2.5.0 opt_einsum==3.4.0 scipy==1.17.1 \
    onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
JAX_PLATFORMS=cpu JAX_ENABLE_X64=1 venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from jaxonnxruntime.backend import Backend
from onnx.parser import parse_model

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def seen(graph, *inputs):
    """What jaxonnxruntime gives for a graph, and what ONNX Runtime does."""
    made = parse_model(f'<ir_version: 8, opset_import: ["": 17]> one {graph}')
    onnx.checker.check_model(made, full_check=True)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    named = {value.name: array for value, array in zip(made.graph.input, inputs, strict=True)}
    return np.asarray(Backend.prepare(made).run(list(inputs))[0]).tolist(), session.run(None, named)[0].tolist()


print(f"jaxonnxruntime {version('jaxonnxruntime')}, jax {version('jax')}, onnxruntime {onnxruntime.__version__}")
a, b, c = np.float32([[1, 2]]), np.float32([[3], [4]]), np.float32([100])
for factors, right in (("alpha = 0.0", 100), ("beta = 0.0", 11), ("alpha = 0.0, beta = 0.0", 0), ("alpha = 2.0", 122)):
    node = f"{{ y = Gemm<{factors}>(a, b, c) }}"
    found, runtime = seen(f"(float[1,2] a, float[2,1] b, float[1] c) => (float[1,1] y) {node}", a, b, c)
    print(f"Gemm, {factors}, of a product of 11 and an addend of 100: {found[0][0]}, ONNX Runtime {runtime[0][0]}")
    is_zero = "0.0" in factors
    claim(runtime == [[right]], "ONNX Runtime: right")
    claim(found == [[111 if is_zero else right]], "zeros count as 1" if is_zero else "right")
x, y = np.int32([-7, 7, -7, 7]), np.int32([2, -2, -2, 2])
found, runtime = seen("(int32[4] x, int32[4] y) => (int32[4] z) { z = Div(x, y) }", x, y)
print(f"Div of {x.tolist()} by {y.tolist()}: {found}, ONNX Runtime {runtime}")
claim(found == [-4, -4, 3, 3] and runtime == [-3, -3, 3, 3], "rounded down, not truncated")
places = np.int64([0, 3, -1, -4])
found, runtime = seen("(int64[4] i) => (float[4,3] y) <int64 d = {3}, float[2] v = {0, 1}> { y = OneHot(i, d, v) }", places)
print(f"OneHot of {places.tolist()}: {found}, ONNX Runtime {runtime}")
first, last, none = [1, 0, 0], [0, 0, 1], [0, 0, 0]
claim(found == [first, first, last, last] and runtime == [first, none, last, none], "indices outside are wrapped")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
