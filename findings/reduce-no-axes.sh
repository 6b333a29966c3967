#!/usr/bin/env bash
# emx-onnx-cgen 1.4.0 and spingalett 1.5.0: a reduction over no axes leaves out its function, Pow cuts its exponent.
#
# With noop_with_empty_axes = 1 and no axes, ReduceL1 is Abs, ReduceL2 is Abs, ReduceSumSquare is Mul with itself, and
# ReduceLogSum is Log: nothing is summed up, the rest is still done. Both packages return the input. Pow of INT32 with a
# FLOAT exponent of 1.5 is computed with an exponent of 1. emx-onnx-cgen's ReduceLogSumExp of 100 is infinite, as it
# adds exponentials, where spingalett subtracts the maximum first.
#
# Version: emx-onnx-cgen 1.4.0 (2026-07), its onnx_backend, which compiles the C; spingalett 1.5.0 (2026-10), Graph;
#   beside onnx 1.23.2 and ONNX Runtime 1.32.0, which agree with each other.
# Documented: ONNX, operators ReduceSumSquare-18 and the others: with true "no reduction is applied, but other
#   operations will be performed"; Pow-15: the exponent has a type of its own, the result has that of the base;
#   ReduceLogSumExp-18.
# Seen: 2026-12-01. Needs Python 3.11 or newer, and gcc for the C that emx-onnx-cgen writes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    emx-onnx-cgen==1.4.0 emx-regex-cgen==0.2.0 Jinja2==3.1.6 MarkupSafe==3.0.4 sympy==1.14.0 mpmath==1.3.0 \
    spingalett==1.5.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import emx_onnx_cgen.onnx_backend as emx
import numpy as np
import onnx
import onnxruntime
import spingalett
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def compared(call, x, right, of_emx, of_spingalett, weights=""):
    """Check the results of four programs for a model of one node, whose output is as large as its input."""
    kind = {"float32": "float", "int32": "int32"}[x.dtype.name]
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        g ({kind}[{len(x)}] x) => ({kind}[{len(right)}] y) {weights} {{ y = {call} }}""")
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for runtime in (session, ReferenceEvaluator(model)):
        claim(np.allclose(runtime.run(None, {"x": x})[0], right), f"{type(runtime).__name__}: as by hand")
    graph = spingalett.Graph.from_bytes(model.SerializeToString())
    for name, y, expected in (
        ("emx-onnx-cgen", emx.run_model(model, [x])[0], of_emx),
        ("spingalett", graph.run({"x": x})["y"], of_spingalett),
    ):
        print(f"{call} of {x.tolist()}: {name} {y.tolist()}, by hand {np.round(right, 4).tolist()}")
        is_right = expected is None
        claim(np.allclose(y, right if is_right else expected), f"{name} is " + ("right" if is_right else "wrong"))


print(f"emx-onnx-cgen {version('emx-onnx-cgen')}, spingalett {version('spingalett')}, onnxruntime {version('onnxruntime')}")
x = np.array([-3, 2], np.float32)
noop = "<noop_with_empty_axes = 1>(x)"
for name, right in (("ReduceSum", x), ("ReduceMax", x), ("ReduceL1", [3, 2]), ("ReduceL2", [3, 2]), ("ReduceSumSquare", [9, 4])):
    wrong = None if right is x else x
    compared(name + noop, x, right, wrong, wrong)
compared("ReduceLogSum" + noop, np.array([1, 2], np.float32), [0, np.log(2)], [1, 2], [1, 2])
compared("ReduceSumSquare<keepdims = 1>(x)", x, [13], None, None)
compared("Pow(x, by)", np.array([4, 9, 5], np.int32), [8, 27, 11], [4, 9, 5], [4, 9, 5], "<float by = {1.5}>")
compared("Pow(x, by)", np.array([4, 9, 5], np.int32), [16, 81, 25], None, None, "<float by = {2}>")
compared("ReduceLogSumExp(x)", np.array([1, 2], np.float32), [np.log(np.exp(1) + np.exp(2))], None, None)
compared("ReduceLogSumExp(x)", np.array([100, 100], np.float32), [100 + np.log(2)], [np.inf], None)
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
