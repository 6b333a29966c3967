#!/usr/bin/env bash
# nnef-tools 1.0.11 converts ONNX's auto_pad SAME_LOWER to a padding of another size, or at the other end.
#
# The converter computes the padding itself. It takes the sizes of input and output the other way round, so that
# stride 2 gets too much of it: nine elements become six where ONNX says five. And it gives the smaller half to the
# beginning, as SAME_UPPER does. The converted model runs in tract without a word. SAME_UPPER is right.
#
# Version: nnef-tools 1.0.11 with nnef 1.0.10 (2026-05), of the Khronos Group, beside tract 0.23.9, which loads NNEF,
#   and onnx 1.23.2, whose evaluator computes what the standard says.
# Documented: ONNX, operators Conv and AveragePool (opset 11), auto_pad: the output has ceil(input / stride)
#   elements, and for SAME_LOWER the extra element of an odd padding is added at the beginning.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    nnef-tools==1.0.11 nnef==1.0.10 tract==0.23.9 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 future==1.0.0 six==1.17.0
venv/bin/python - <<'PY'
import re
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import onnx
import tract
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
CONVERT = "-m nnef_tools.convert --keep-io-names --input-format onnx --output-format nnef"


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def converted(operator, auto_pad, length, kernel, stride):
    """The padding in the NNEF model, what tract gives for it, and what ONNX says."""
    weights = "w" if operator == "Conv" else ""
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 13]>
        one (float[1,1,1,{length}] x) => (float[1,1,1,n] y)
        <float[1,1,1,{kernel}] w = {{{", ".join(["1"] * kernel)}}}>
        {{ y = {operator}<kernel_shape = [1, {kernel}], strides = [1, {stride}], auto_pad = "{auto_pad}">
          (x{", w" if weights else ""}) }}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    command = [sys.executable, *CONVERT.split(), "--input-model", "model.onnx", "--output-model", "model.nnef"]
    subprocess.run(command, check=True, capture_output=True)
    with open("model.nnef/graph.nnef") as file:
        padding = re.findall(r"y = .*padding = \[(.*?)\]", file.read())[0]
    x = np.arange(1, length + 1, dtype=np.float32).reshape(1, 1, 1, length)
    got = tract.nnef().load("model.nnef").into_runnable().run([x])[0].to_numpy()
    return padding, got.ravel().tolist(), ReferenceEvaluator(made).run(None, {"x": x})[0].ravel().tolist()


print(f"nnef-tools {version('nnef-tools')}, tract {version('tract')}, onnx {version('onnx')}; 1, 2, 3 and so on, "
      "weights of 1")
cases = (
    ("Conv", "SAME_UPPER", 4, 2, 1, [3, 5, 7, 4], [3, 5, 7, 4]),
    ("Conv", "SAME_LOWER", 4, 2, 1, [1, 3, 5, 7], [3, 5, 7, 4]),
    ("Conv", "SAME_UPPER", 9, 3, 2, [3, 9, 15, 21, 17], [3, 9, 15, 21, 17]),
    ("Conv", "SAME_LOWER", 9, 3, 2, [3, 9, 15, 21, 17], [1, 6, 12, 18, 24, 9]),
    ("AveragePool", "SAME_UPPER", 4, 2, 1, [1.5, 2.5, 3.5, 4], [1.5, 2.5, 3.5, 4]),
    ("AveragePool", "SAME_LOWER", 4, 2, 1, [1, 1.5, 2.5, 3.5], [1.5, 2.5, 3.5, 4]),
    ("AveragePool", "SAME_LOWER", 9, 3, 2, [1.5, 3, 5, 7, 8.5], [1, 2, 4, 6, 8, 9]),
)
for operator, auto_pad, length, kernel, stride, by_hand, expected in cases:
    padding, got, right = converted(operator, auto_pad, length, kernel, stride)
    print(f"{operator}, {auto_pad}, {length} elements, kernel {kernel}, stride {stride}: padding [{padding}], "
          f"tract {got}, onnx {right}")
    claim(right == by_hand, f"ONNX, as by hand: {by_hand}")
    claim(got == expected, "right" if expected == by_hand else f"the converted model: {expected}")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
