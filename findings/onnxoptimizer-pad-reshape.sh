#!/usr/bin/env bash
# onnxoptimizer 0.4.2 moves a padding with zeros into a MaxPool, and drops a Reshape whose zero the next one needs.
#
# The padding of a MaxPool is never the largest element, as if it were minus infinity. A Pad of zeros in front of it is
# something else: a window of negative numbers and a zero has the maximum 0. The optimizer merges the two, as it rightly
# does for an AveragePool that counts its padding. Of two Reshapes in a row it drops the first, although a zero in the
# second one's shape copies the size that the first one gave: the result gets other sizes. If the sizes do not go up,
# the optimized model fails where the original ran. Both passes are among those that optimize() runs by default.
#
# Version: onnxoptimizer 0.4.2 (2026-01), passes fuse_pad_into_pool and eliminate_consecutive_idempotent_ops, beside
#   onnx 1.23.2 and ONNX Runtime 1.32.0.
# Documented: ONNX, operators Pad-13: constant_value, by default 0, is what is padded; MaxPool-12; Reshape-14: a size
#   of 0 is taken from the input tensor.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxoptimizer==0.4.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxoptimizer
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def results(model, x):
    """Return what ONNX Runtime, without optimizations of its own, and the reference evaluator compute."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [way.run(None, {"x": x})[0].tolist() for way in (session, ReferenceEvaluator(model))]


def compared(name, text, x, by_hand, expected, nodes):
    """Check the results of a model before and after the optimizer, and the nodes that it leaves."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 17]> g {text}""")
    onnx.checker.check_model(model, full_check=True)
    shorter = onnxoptimizer.optimize(model)
    before, after = results(model, x), results(shorter, x)
    left = [node.op_type for node in shorter.graph.node]
    print(f"{name}: before {before[0]}, after {after[0]}, nodes left {left}")
    claim(before == [by_hand, by_hand], "before: as by hand, in both runtimes")
    claim(after == [expected, expected] and left == nodes, "after: " + ("right" if expected == by_hand else "wrong"))


print(f"onnxoptimizer {version('onnxoptimizer')}, onnx {version('onnx')}, onnxruntime {version('onnxruntime')}")
negative = np.array([[[-1, -2, -3, -4]]], np.float32)  # with a zero at each end: 0 -1 | -2 -3 | -4 0
padded = """(float[1,1,4] x) => (float[1,1,3] y) <int64[6] ends = {0, 0, 1, 0, 0, 1}, float fill = {%s}>
    { p = Pad(x, ends, fill) y = %s<kernel_shape = [2], strides = [2]%s>(p) }"""
compared("MaxPool", padded % (0, "MaxPool", ""), negative, [[[0, -2, 0]]], [[[-1, -2, -4]]], ["MaxPool"])
compared("MaxPool of ones", padded % (1, "MaxPool", ""), negative, [[[1, -2, 1]]], [[[1, -2, 1]]], ["Pad", "MaxPool"])
average = padded % (0, "AveragePool", "")
compared("AveragePool", average, negative, [[[-0.5, -2.5, -2]]], [[[-0.5, -2.5, -2]]], ["AveragePool"])

x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
reshaped = """(float[2,2,3] x) => (float[N,M] y) <int64[%d] one = {%s}, int64[2] other = {%s}>
    { r = Reshape(x, one) y = Reshape(r, other) }"""
rows = x.reshape(-1, 3).tolist()
compared("sizes 4, 3 and 0, -1", reshaped % (2, "4, 3", "0, -1"), x, rows, x.reshape(2, 6).tolist(), ["Reshape"])
compared("sizes 4, 3 and 4, -1", reshaped % (2, "4, 3", "4, -1"), x, rows, rows, ["Reshape"])
model = parse_model('<ir_version: 8, opset_import: ["": 17]> g ' + reshaped % (2, "3, 4", "0, 4"))
claim(results(model, x)[0] == x.reshape(3, 4).tolist(), "sizes 3, 4 and 0, 4: the original runs")
try:
    results(onnxoptimizer.optimize(model), x)
    claim(False, "the optimized model fails")
except Exception as error:
    print(str(error).split("\n")[0][:120])
    claim("Reshape" in str(error), "the optimized model fails in its Reshape")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
