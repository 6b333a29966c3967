#!/usr/bin/env bash
# onnx 1.23.2: the reference evaluator runs Softmax, LogSoftmax and Hardmax of opset 12 and older as those of opset 13.
#
# Until opset 12 they flatten their input to two axes, by default at axis 1, and work over all that follows it; since 13
# over one axis alone, by default the last. The evaluator knows the newer ones only: Softmax of [1, 2, 2] equal numbers
# gives 1/2, where the model says 1/4, and no error is raised. onnx.version_converter knows better: it writes the
# flattening of Softmax and LogSoftmax out, and the evaluator then gives 1/4: one model has two results in one package.
# ONNX Runtime gives 1/4 for both. An axis that is the last one is right.
#
# Version: onnx 1.23.2, its reference evaluator and version converter, beside onnxruntime 1.32.0.
# Documented: ONNX, operators Softmax, LogSoftmax and Hardmax (opset 11): the input is coerced into two dimensions,
#   [a_0 * ... * a_(k-1), a_k * ... * a_(n-1)] with k = axis, 1 by default, and the operator works over the second.
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
from onnx.version_converter import convert_version

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def over(operator, x, axes):
    """The operator over these axes together, by NumPy alone; the numbers of x are equal."""
    count = np.prod([x.shape[axis] for axis in axes])
    if operator == "Hardmax":
        first = np.zeros_like(x)
        first[tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(x.ndim))] = 1
        return first
    return np.full_like(x, 1 / count if operator == "Softmax" else -np.log(count))


def text(values):
    return np.round(values.ravel().astype(np.float64), 4).tolist()


def runs(made, x):
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return ReferenceEvaluator(made).run(None, {"x": x})[0], session.run(None, {"x": x})[0]


def model(operator, opset, sizes, attribute=""):
    made = parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]>
        most (float{sizes} x) => (float{sizes} y) {{ y = {operator}{attribute}(x) }}""")
    onnx.checker.check_model(made, full_check=True)
    return made


print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}; an input of zeros")
for operator in ("Softmax", "LogSoftmax", "Hardmax"):
    for opset in (9, 11, 12, 13):
        for sizes, attribute, axes in (
            ([1, 2, 2], "<axis = 1>", (1, 2)), ([2, 3, 2, 2], "<axis = 1>", (1, 2, 3)), ([1, 2, 2], "", (1, 2)),
            ([2, 3, 2, 2], "<axis = 2>", (2, 3)), ([2, 3, 2], "<axis = 2>", (2,)), ([2, 3], "<axis = 1>", (1,)),
        ):
            x = np.zeros(sizes, np.float32)
            evaluator, runtime = runs(model(operator, opset, sizes, attribute), x)
            alone = (int(attribute[-2]),) if attribute else (2,)
            right = over(operator, x, axes if opset < 13 else alone)
            wrong = opset < 13 and len(axes) > 1
            if sizes == [1, 2, 2]:
                print(f"{operator}{attribute} of opset {opset}: evaluator {text(evaluator)}, "
                      f"ONNX Runtime {text(runtime)}")
            holds = np.allclose(runtime, right) and np.allclose(evaluator, right) != wrong
            if wrong:
                holds &= np.allclose(evaluator, over(operator, x, alone))
            found = "wrong" if wrong else "right"
            claim(holds, f"{operator}{attribute}, opset {opset}, {sizes}: the evaluator is {found}")
for operator in ("Softmax", "LogSoftmax"):
    x = np.zeros((1, 2, 2), np.float32)
    newer = convert_version(model(operator, 12, [1, 2, 2]), 13)
    evaluator, runtime = runs(newer, x)
    print(f"{operator} of opset 12, converted to 13, is {', '.join(node.op_type for node in newer.graph.node)}: "
          f"evaluator {text(evaluator)}")
    right = over(operator, x, (1, 2))
    claim(np.allclose(evaluator, right) and np.allclose(runtime, right), "right after conversion")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
