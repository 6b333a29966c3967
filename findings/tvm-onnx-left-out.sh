#!/usr/bin/env bash
# TVM 0.27.0 imports ONNX models, and leaves out parts of their operators without a word.
#
# Mean and InvStdDev, the second and third output of LayerNormalization, are the number 0 without dimensions. IsInf
# finds both infinities also when detect_positive or detect_negative is 0. ConvTranspose with output_shape = [5, 5]
# gives 4 x 4. NonMaxSuppression whose max_output_boxes_per_class is an input of the graph selects nothing, as if it
# were 0; as a constant, it is obeyed. Other things that TVM does not do are refused.
#
# Version: apache-tvm 0.27.0.post1 (2026-09), its importer relax.frontend.onnx, beside onnx 1.23.2.
# Documented: ONNX, operators LayerNormalization (opset 17): Mean and InvStdDev keep the rank of X, the normalized axes
#   with size 1; IsInf (20): an infinity whose attribute is 0 gives false; ConvTranspose (11): output_shape, if given,
#   is the output's, and decides the padding; NonMaxSuppression (11): its third input is the limit for each class.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import tvm
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def floats(*values, sizes=-1):
    return np.array(values, np.float32).reshape(sizes)


def runs(text, **inputs):
    """What TVM, and what the evaluator of the standard compute of a graph, given as text."""
    made = parse_model("<ir_version: 10, opset_import: [\"\": 21]> " + text)
    onnx.checker.check_model(made, full_check=True)
    built = tvm.compile(from_onnx(made, keep_params_in_input=False), "llvm")
    got = relax.VirtualMachine(built, tvm.cpu())["main"](*map(tvm.runtime.tensor, inputs.values()))
    got = [got.numpy()] if hasattr(got, "numpy") else [output.numpy() for output in got]
    return got, ReferenceEvaluator(made).run(None, inputs)


def same(left, right):
    return left.shape == right.shape and np.allclose(left, right)


print(f"TVM {version('apache-tvm')}, onnx {version('onnx')}")
x = floats(1, 2, 3, 4, 5, 6, sizes=(2, 3))
got, right = runs("""layer (float[2,3] x, float[3] scale) => (float[2,3] y, float[2,1] mean, float[2,1] inverse)
    { y, mean, inverse = LayerNormalization(x, scale) }""", x=x, scale=floats(1, 1, 1))
claim(same(got[0], right[0]), "LayerNormalization, Y: right")
for name, mine, theirs in zip(("Mean", "InvStdDev"), got[1:], right[1:], strict=True):
    print(f"LayerNormalization, {name}: TVM {mine.tolist()}, ONNX {theirs.tolist()}")
    claim(mine.shape == () and mine == 0 and theirs.shape == (2, 1), f"{name} is a lone 0")

for attributes in ("", "<detect_negative = 0>", "<detect_positive = 0>"):
    x = floats(-np.inf, np.inf, 1)
    got, right = runs(f"infinite (float[3] x) => (bool[3] y) {{ y = IsInf{attributes}(x) }}", x=x)
    print(f"IsInf{attributes} of [-inf, inf, 1]: TVM {got[0].tolist()}, ONNX {right[0].tolist()}")
    claim(got[0].tolist() == [True, True, False] and same(got[0], right[0]) == (not attributes), "both are found")

for size in (4, 5):
    got, right = runs(f"""transposed (float[1,1,2,2] x, float[1,1,2,2] w) => (float[1,1,{size},{size}] y)
        {{ y = ConvTranspose<strides = [2, 2], output_shape = [{size}, {size}]>(x, w) }}""",
        x=floats(1, 2, 3, 4, sizes=(1, 1, 2, 2)), w=np.ones((1, 1, 2, 2), np.float32))
    print(f"ConvTranspose, output_shape [{size}, {size}]: TVM {list(got[0].shape)}, ONNX {list(right[0].shape)}")
    claim(got[0].shape == (1, 1, 4, 4) and right[0].shape == (1, 1, size, size), "TVM gives 4 x 4")

boxes, scores = floats(0, 0, 1, 1, 0, 0, 1, 1, 0, 10, 1, 11, sizes=(1, 3, 4)), floats(9, 8, 7, sizes=(1, 1, 3))
limit = {"a constant": ("", "int64[1] k = {3}, ", {}), "an input": (", int64[1] k", "", {"k": np.array([3])})}
for name, (declared, constant, inputs) in limit.items():
    got, right = runs(f"""few (float[1,3,4] boxes, float[1,1,3] scores{declared}) => (int64[n,3] y)
        <{constant}float[1] most = {{0.5}}> {{ y = NonMaxSuppression(boxes, scores, k, most) }}""",
        boxes=boxes, scores=scores, **inputs)
    print(f"NonMaxSuppression, limit 3 as {name}: TVM {got[0].tolist()}, ONNX {right[0].tolist()}")
    claim(right[0].tolist() == [[0, 0, 0], [0, 0, 2]], "ONNX: the first box and the last")
    claim(got[0].tolist() == ([] if inputs else right[0].tolist()), "TVM: none" if inputs else "TVM: the same")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
