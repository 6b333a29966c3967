#!/usr/bin/env bash
# onnxruntime-ggml 0.2.0 computes with numbers of 32 bits where a model says double, and the output says double.
#
# Add of 1e300 and 1 is infinite, 1 + 2^-50 is 1, and numbers below 1e-45 are 0. Where and Concat, which only hand their
# elements on, round them too. Clip of INT64 goes the same way: 2^24 + 1 becomes 2^24, though Add, Max and Where of
# INT64 are exact. The provider takes these nodes, although ONNX Runtime, which it could leave them to, has doubles.
#
# Version: onnxruntime-ggml 0.2.0 (2026-09), a provider for ONNX Runtime, here with onnxruntime 1.30.0 and onnx 1.23.2.
# Documented: ONNX, TensorProto.DataType: DOUBLE is the 64-bit IEEE 754 format; operators Add, Concat, Where and Clip
#   (opsets 9 to 14) keep the type. The page of the package says nothing about types.
# Seen: 2026-11-29. Needs Python 3.11 or newer, and glibc 2.35 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxruntime-ggml==0.2.0 onnxruntime==1.30.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
ORT_GGML_LOG=error venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
import onnxruntime_ggml
from onnx.parser import parse_model

onnxruntime.set_default_logger_severity(3)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(node, count, **inputs):
    """What the provider and ONNX Runtime alone compute; the element type is that of input a."""
    types = {"float64": "double", "int64": "int64", "bool": "bool"}
    declared = ", ".join(f"{types[value.dtype.name]}[{len(value)}] {name}" for name, value in inputs.items())
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        one ({declared}) => ({types[inputs["a"].dtype.name]}[{count}] y)
        <int64 low = {{0}}, int64 high = {{1099511627776}}> {{ y = {node} }}""")
    onnx.checker.check_model(made, full_check=True)
    model = made.SerializeToString()
    ggml = onnxruntime_ggml.InferenceSession(model, {"device": "cpu"}).run(None, inputs)[0]
    alone = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, inputs)[0]
    beside = f", ONNX Runtime alone {alone.tolist()}" if ggml.dtype == float else ""
    print(f"{node}: ggml {ggml.dtype} {ggml.tolist()}{beside}")
    return ggml, alone


print(f"onnxruntime-ggml {version('onnxruntime-ggml')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
a, b, c = np.array([1e300, 1 + 2**-50, 1e-300]), np.array([1.0, 0.0, 0.0]), np.array([True, True, True])
with np.errstate(over="ignore"):
    rounded = np.float32(a).astype(np.float64)
for node, inputs, right in (("Add(a, b)", {"a": a, "b": b}, a + b), ("Where(c, a, b)", {"c": c, "a": a, "b": b}, a)):
    ggml, alone = runs(node, 3, **inputs)
    claim(np.array_equal(alone, right), "ONNX Runtime alone: exact")
    claim(ggml.dtype == np.float64 and np.array_equal(ggml, rounded), "the provider: doubles, rounded to FLOAT32")
ggml, alone = runs("Concat<axis = 0>(a, b)", 6, a=a, b=b)
claim(np.array_equal(alone, [*a, *b]) and np.array_equal(ggml, [*rounded, *b]), "only the provider rounds")

a, b = np.array([2**24 + 1, 2**31 + 1, 2**33 + 3]), np.array([1, 1, 1])
for node, right in (("Add(a, b)", a + b), ("Max(a, b)", a), ("Where(c, a, b)", a)):
    claim(np.array_equal(runs(node, 3, **({"c": c} if "c" in node else {}), a=a, b=b)[0], right), "INT64, exact")
right = np.clip(a, 0, 2**40)
claim(np.array_equal(right, a), "all within the bounds of the Clip")
ggml = runs("Clip(a, low, high)", 3, a=a)[0]
claim(np.array_equal(ggml, np.float32(a).astype(np.int64)), "INT64, rounded to FLOAT32")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
