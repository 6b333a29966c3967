#!/usr/bin/env bash
# onnx-cse 0.3.1 merges two If nodes whose constants differ, and two Scan nodes whose bodies differ in their inputs.
#
# The library removes nodes that compute the same. It knows a constant of a branch, and an input of a body, by the name
# alone. Branches of two If nodes may use the same name for different constants: k is 10 in the first, 100 in the
# second, and both results become that of the first. Of two Scan bodies, one calls its inputs a and b, the other b and
# a, and both compute a - b. The second result loses its sign. With names of their own, both nodes stay, and are right.
#
# Version: onnx-cse 0.3.1 (2026-06), beside onnx 1.23.2 and ONNX Runtime 1.32.0, which agree on all models.
# Documented: onnx-cse's page: it "focuses on being safe". ONNX IR, names within a graph: the names of a subgraph
#   differ from those of the graphs around it. Two subgraphs side by side may use the same ones.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx-cse==0.3.1 xxhash==3.6.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from onnx_cse import eliminate_common_subexpressions

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def results(model, inputs):
    """What the evaluator of the standard and ONNX Runtime compute, if they agree."""
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = [[row.tolist() for row in way.run(None, inputs)] for way in (ReferenceEvaluator(model), session)]
    claim(found[0] == found[1], "onnx and ONNX Runtime agree")
    return found[0]


def two_ifs(second):
    """Two If nodes: x times 10, and x times 100, whose constants are called k and, in the second, as given."""
    return f"""two (bool up, float[2] x) => (float[2] p, float[2] q) {{
        p = If(up)<then_branch = t () => (float[2] r) <float k = {{10}}> {{ r = Mul(x, k) }},
                   else_branch = e () => (float[2] s) {{ s = Identity(x) }}>
        q = If(up)<then_branch = t () => (float[2] r) <float {second} = {{100}}> {{ r = Mul(x, {second}) }},
                   else_branch = e () => (float[2] s) {{ s = Identity(x) }}> }}"""


def two_scans(first, second):
    """Two Scan nodes over x and y: the first input minus the second, and the second minus the first."""
    return f"""two (float[2] x, float[2] y) => (float[2] p, float[2] q) {{
        p = Scan<num_scan_inputs = 2, body = s (float a, float b) => (float r) {{ r = Sub(a, b) }}>(x, y)
        q = Scan<num_scan_inputs = 2, body = s (float {first}, float {second}) => (float r)
              {{ r = Sub({second}, {first}) }}>(x, y) }}"""


print(f"onnx-cse {version('onnx-cse')}, onnx {version('onnx')}, onnxruntime {version('onnxruntime')}")
x = np.array([1, 2], np.float32)
up, pair = {"up": np.array(True), "x": x}, {"x": x, "y": np.array([10, 30], np.float32)}
cases = (
    ("If, constants k and k", two_ifs("k"), up, [[10, 20], [100, 200]], [[10, 20], [10, 20]]),
    ("If, constants k and other", two_ifs("other"), up, [[10, 20], [100, 200]], None),
    ("Scan, inputs a, b and b, a", two_scans("b", "a"), pair, [[-9, -28], [9, 28]], [[-9, -28], [-9, -28]]),
    ("Scan, inputs a, b and c, d", two_scans("c", "d"), pair, [[-9, -28], [9, 28]], None),
)
for name, text, inputs, by_hand, merged in cases:
    model = parse_model("<ir_version: 9, opset_import: [\"\": 18]> " + text)
    before = results(model, inputs)
    eliminate_common_subexpressions(model)
    after = results(model, inputs)
    nodes = [node.op_type for node in model.graph.node]
    print(f"{name}: before {before}, after {after}, nodes {nodes}; by hand {by_hand}")
    claim(before == by_hand, "before: as by hand")
    claim(after == (merged or by_hand), "after: both are the first" if merged else "after: unchanged")
    claim(nodes.count("Identity") == bool(merged), "the second is a copy" if merged else "both nodes are kept")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
