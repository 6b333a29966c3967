#!/usr/bin/env bash
# onnxifier 2.0.3 turns a Split that does not go up into slices of other sizes.
#
# With num_outputs, ONNX makes all parts as large as the size divided by their number, rounded up; only the last is
# smaller: 7 in two are 4 and 3. A default pass of onnxifier replaces Split by Slices, of which the last gets the remainder
# of the division: 7 in two become 6 and 1, 10 in four become four of 2, and two elements are lost. Splits that go up, and
# those whose sizes are given, are right.
#
# Version: onnxifier 2.0.3, convert_graph() with its default passes, here split_to_slice; beside onnx 1.23.2 and ONNX
#   Runtime 1.32.0.
# Documented: ONNX, operator Split-18: if the tensor is not evenly splittable into num_outputs, the last chunk is smaller.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxifier==2.0.3 colorlog==6.12.0 networkx==3.6.1 tabulate==0.10.0 termcolor==3.3.0 onnx==1.23.2 \
    onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 flatbuffers==25.12.19 \
    packaging==26.4
venv/bin/python - 2> log <<'PY' || { cat log; exit 1; }
import contextlib
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxifier
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def parts(model, x):
    """Return the parts by ONNX Runtime, and by the reference evaluator."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [[part.tolist() for part in way.run(None, {"x": x})] for way in (session, ReferenceEvaluator(model))]


def compared(size, count, by_hand, wrong=None, sizes=""):
    """Check a Split of so many elements before and after onnxifier; by_hand and wrong are the sizes of its parts."""
    names = [f"y{index}" for index in range(count)]
    outputs = ", ".join(f"float[{part}] {name}" for part, name in zip(by_hand, names, strict=True))
    call = "Split(x, sizes)" if sizes else f"Split<num_outputs = {count}>(x)"
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        g (float[{size}] x) => ({outputs}) {sizes} {{ {", ".join(names)} = {call} }}""")
    onnx.checker.check_model(model, full_check=True)
    x = np.arange(size, dtype=np.float32)
    pieces = [piece.tolist() for piece in np.split(x, np.cumsum(by_hand)[:-1])]
    claim(parts(model, x) == [pieces, pieces], "before: as by hand, in both runtimes")
    with contextlib.redirect_stdout(sys.stderr):
        sliced = onnxifier.convert_graph(model).model
    runtime, evaluator = parts(sliced, x)
    found = [len(piece) for piece in runtime]
    print(f"{size} in {count}: ONNX {by_hand}, onnxifier {found}, nodes {sorted({n.op_type for n in sliced.graph.node})}")
    claim(runtime == evaluator and found == (wrong or by_hand), "after: " + ("wrong" if wrong else "right"))


print(f"onnxifier {version('onnxifier')}, onnx {version('onnx')}, onnxruntime {version('onnxruntime')}")
compared(6, 2, [3, 3])
compared(7, 2, [4, 3], [6, 1])
compared(5, 2, [3, 2], [4, 1])
compared(7, 2, [4, 3], sizes="<int64[2] sizes = {4, 3}>")
compared(10, 4, [3, 3, 3, 1], [2, 2, 2, 2])
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
