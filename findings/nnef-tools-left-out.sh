#!/usr/bin/env bash
# nnef-tools 1.0.11 converts ONNX models to NNEF and leaves out attributes and inputs of their operators.
#
# Elu with alpha = 2 becomes elu(x), whose factor is 1, and Selu with its own alpha and gamma becomes selu(x) of the
# usual numbers. Max and Min of three inputs become max(a, b) and min(a, b). The converter reports success. tract reads
# the converted model and computes what the text says. LeakyRelu keeps its alpha, and Sum its third input.
#
# Version: nnef-tools 1.0.11 with nnef 1.0.10 (2026-05), of the Khronos Group, beside tract 0.23.9, which loads NNEF,
#   and onnx 1.23.2, whose evaluator computes what the standard says.
# Documented: ONNX, operators Elu and Selu (opset 6): alpha, gamma; Max and Min (13): one to 2147483647 inputs. NNEF
#   1.0, as nnef has it: elu takes alpha, by default 1.0, selu takes alpha and lambda, max and min take two tensors.
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


def converted(call, count):
    """The lines of the NNEF model that compute, what tract gives for it, and what ONNX says."""
    names = ["a", "b", "c"][:count]
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 13]>
        one ({", ".join(f"float[3] {name}" for name in names)}) => (float[3] y) {{ y = {call}({", ".join(names)}) }}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    command = [sys.executable, *CONVERT.split(), "--input-model", "model.onnx", "--output-model", "model.nnef"]
    subprocess.run(command, check=True, capture_output=True)
    with open("model.nnef/graph.nnef") as file:
        lines = [line.strip(" ;\n") for line in file if "y = " in line]
    inputs = [np.array(row, np.float32) for row in ([-1, 0, 2], [1, -3, 0], [9, 9, -9])[:count]]
    right = ReferenceEvaluator(made).run(None, dict(zip(names, inputs, strict=True)))[0]
    if call.startswith("S"):  # Selu and Sum are not among what tract reads
        return lines, None, right
    return lines, tract.nnef().load("model.nnef").into_runnable().run(inputs)[0].to_numpy(), right


print(f"nnef-tools {version('nnef-tools')}, tract {version('tract')}, onnx {version('onnx')}; [-1, 0, 2], [1, -3, 0], "
      "[9, 9, -9]")
e = np.exp(-1) - 1
cases = (
    ("LeakyRelu<alpha = 0.5>", 1, None, [-0.5, 0, 2], [-0.5, 0, 2]),
    ("Elu", 1, ["y = elu(a)"], [e, 0, 2], [e, 0, 2]),
    ("Elu<alpha = 2.0>", 1, ["y = elu(a)"], [2 * e, 0, 2], [e, 0, 2]),
    ("Selu<alpha = 2.0, gamma = 3.0>", 1, ["y = selu(a)"], [6 * e, 0, 6], None),
    ("Max", 2, ["y = max(a, b)"], [1, 0, 2], [1, 0, 2]),
    ("Max", 3, ["y = max(a, b)"], [9, 9, 2], [1, 0, 2]),
    ("Min", 3, ["y = min(a, b)"], [-1, -3, -9], [-1, -3, 0]),
    ("Sum", 3, ["y = add_n([a, b, c])"], [9, 6, -7], None),
)
for call, count, text, by_hand, expected in cases:
    lines, got, right = converted(call, count)
    show = "not run" if got is None else np.round(got.astype(float), 3).tolist()
    print(f"{call} of {count}: {lines[0]}; tract {show}, onnx {np.round(right.astype(float), 3).tolist()}")
    claim(np.allclose(right, by_hand), f"ONNX, as by hand: {np.round(by_hand, 3).tolist()}")
    if text is not None:
        claim(lines == text, f"the converted model: {text[0]}")
    if expected is not None:
        claim(np.allclose(got, expected), "right" if expected == by_hand else "without what was left out")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
