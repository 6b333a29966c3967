#!/usr/bin/env bash
# tinygrad 0.14.0: a strided 1 x 1 Conv with auto_pad SAME takes the other elements, and dilations shrink the output.
#
# Where the stride is larger than the kernel, there is nothing to pad. tinygrad's padding is then negative and cuts the
# first row and column off: a 1 x 1 Conv with stride 2, the shortcut of a residual network, takes the odd elements in
# place of the even ones. The sizes are right and nothing is said. With dilations, the padding is that of the kernel
# without them, and the output is smaller than the input, which SAME is there to prevent; it has the sizes that the
# model declares no more. Strides and kernels of the usual sizes are right, and so is the same padding in numbers.
#
# Version: tinygrad 0.14.0 (2026-08), tinygrad.nn.onnx, on its own device PYTHON (no compiler needed), beside onnx
#   1.23.2 and onnxruntime 1.32.0, which refuses dilations with auto_pad.
# Documented: ONNX, operator Conv (opset 22), attribute auto_pad: the input is padded so that the output has
#   ceil(input / stride) elements; pads: values are 0 or more.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    tinygrad==0.14.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
DEV=PYTHON XDG_CACHE_HOME=$work venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from tinygrad.nn.onnx import OnnxRunner

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(size, kernel, attributes):
    """tinygrad's result and the right one, of a Conv of ones over 0, 1, 2, ...: as many elements as the model says."""
    stride = 2 if "strides = [2]" in attributes else 1
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        same (float[1,1,{size}] x) => (float[1,1,{-(-size // stride)}] y)
        <float[1,1,{kernel}] w = {{{", ".join(["1"] * kernel)}}}> {{ y = Conv<{attributes}>(x, w) }}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    inputs = {"x": np.arange(size, dtype=np.float32).reshape(1, 1, size)}
    right = ReferenceEvaluator(made).run(None, inputs)[0]
    if "dilations" not in attributes:
        session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
        claim(np.array_equal(session.run(None, inputs)[0], right), "ONNX Runtime and the evaluator agree")
    seen = OnnxRunner("model.onnx")(inputs)["y"].numpy()
    print(f"{size} elements, kernel of {kernel}, {attributes}: tinygrad {seen.ravel().tolist()}, "
          f"ONNX {right.ravel().tolist()}")
    return seen.ravel().tolist(), right.ravel().tolist()


print(f"tinygrad {version('tinygrad')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
for way in ("UPPER", "LOWER"):
    for kernel, stride in ((3, 1), (3, 2), (2, 2)):
        seen, right = runs(4, kernel, f'auto_pad = "SAME_{way}", strides = [{stride}]')
        claim(seen == right, "right")
seen, right = runs(6, 1, 'auto_pad = "SAME_UPPER", strides = [2]')
claim(right == [0, 2, 4] and seen == [1, 3, 5], "the odd elements in place of the even ones")
seen, right = runs(6, 1, "pads = [0, 0], strides = [2]")
claim(seen == right == [0, 2, 4], "the same in numbers: right")
seen, right = runs(5, 3, 'auto_pad = "SAME_UPPER", dilations = [2]')
claim(right == [2, 4, 6, 4, 6] and seen == [4, 6, 4], "3 elements in place of 5")
seen, right = runs(5, 3, "pads = [2, 2], dilations = [2]")
claim(seen == right == [2, 4, 6, 4, 6], "the same in numbers: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
