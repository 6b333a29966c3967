#!/usr/bin/env bash
# ONNX GraphSurgeon 0.6.1 and onnxoptimizer 0.4.2 shorten a Shape as if it had no start and end.
#
# From opset 15 on, Shape may give only the sizes from start up to end. Where the sizes are known, fold_constants() of
# GraphSurgeon puts all of them in its place: the constant is too long. Followed by a Gather of one index or a Slice, it
# takes the index from all sizes, also where another size is unknown. onnxoptimizer does that with a Slice behind a
# Shape; its other passes about Shape, and Shapes without the attributes, are right. Each shortened model passes ONNX's
# checker.
#
# Version: onnx-graphsurgeon 0.6.1 (2026-04), Graph.fold_constants(); onnxoptimizer 0.4.2 (2026-01), optimize() with its
#   default passes, among them eliminate_slice_after_shape; beside onnx 1.23.2 and ONNX Runtime 1.32.0.
# Documented: ONNX, operator Shape-15: start (inclusive, 0 by default) and end (exclusive, by default the rank) slice
#   the shape, negative ones count from the end.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx-graphsurgeon==0.6.1 onnxoptimizer==0.4.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 \
    ml_dtypes==0.6.0 typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnx_graphsurgeon
import onnxoptimizer
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
SIZES = [2, 3, 4, 5]
x = np.zeros(SIZES, np.float32)


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def surgeon(model):
    graph = onnx_graphsurgeon.import_onnx(onnx.shape_inference.infer_shapes(model))
    return onnx_graphsurgeon.export_onnx(graph.fold_constants().cleanup())


def runtime(model):
    """Return what ONNX Runtime, without optimizations of its own, gives."""
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0].tolist()


def compared(declared, text, by_hand, expected):
    """Check the results before, and after each of the two tools; None is for a right one."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 17]> g (float[{declared}] x) => {text}""")
    onnx.checker.check_model(model, full_check=True)
    before = [runtime(model), ReferenceEvaluator(model).run(None, {"x": x})[0].tolist()]
    print(f"({declared}) {text.split('{')[-1].rstrip('} ').strip()}: {before[0]}")
    claim(before == [by_hand, by_hand], "before: as by hand, in both runtimes")
    tools = ("GraphSurgeon", surgeon), ("onnxoptimizer", onnxoptimizer.optimize)
    for (name, tool), wrong in zip(tools, expected, strict=True):
        after = runtime(tool(model))
        print(f"  after {name}: {after}")
        claim(after == (by_hand if wrong is None else wrong), f"{name}: " + ("right" if wrong is None else "wrong"))


packages = ("onnx-graphsurgeon", "onnxoptimizer", "onnx", "onnxruntime")
print(", ".join(f"{name} {version(name)}" for name in packages))
compared("2,3,4,5", "(int64[n] y) { y = Shape(x) }", SIZES, (None, None))
compared("2,3,4,5", "(int64[n] y) { y = Shape<start = 1, end = 3>(x) }", SIZES[1:3], (SIZES, None))
doubled = [2 * size for size in SIZES]
compared("2,3,4,5", "(int64[n] y) { s = Shape<start = -2>(x) y = Add(s, s) }", doubled[-2:], (doubled, None))
gather = "(int64 y) <int64 i = {%d}> { s = Shape%s(x) y = Gather(s, i) }"
compared("N,3,4,5", gather % (1, ""), 3, (None, None))
compared("N,3,4,5", gather % (1, "<start = 1>"), 4, (3, None))
compared("N,3,4,5", gather % (-1, "<end = -1>"), 4, (5, None))
part = "(int64[n] y) <int64[1] from = {1}, int64[1] to = {3}> { s = Shape%s(x) y = Slice(s, from, to) }"
compared("N,3,4,5", part % "", [3, 4], (None, None))
compared("N,3,4,5", part % "<start = 1>", [4, 5], ([3, 4], [3, 4]))
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
