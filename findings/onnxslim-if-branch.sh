#!/usr/bin/env bash
# onnxslim 0.1.98 breaks a model with an If of a known condition, and says nothing.
#
# slim() puts the nodes of the taken branch in the place of the If, and gives the branch's outputs the names of the
# If's. Nodes of the branch that read such an output keep its old name, which no node makes any more: the model that
# comes back is invalid. Where no node of the branch reads an output of the branch, the result is right. With onnxruntime
# installed as well, onnxslim computes conditions too, and two of ONNX's own node tests become invalid in the same way
# (affine_grid_2d_expanded and affine_grid_3d_expanded).
#
# Version: onnxslim 0.1.98 (2026-10), on models that onnx 1.23.2 checks and computes.
# Documented: onnxslim's README promises fewer operators and the same accuracy. ONNX's IR page wants every input of a
#   node to be an output of another node, an input of the graph or an initializer, as onnx.checker tests.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxslim==0.1.98 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 \
    packaging==26.4 colorama==0.4.6 sympy==1.14.0 mpmath==1.3.0
venv/bin/python - <<'PY'
import sys
import warnings
from importlib.metadata import version

import numpy as np
import onnx
import onnxslim
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
changed = []


def show(name, model, x, product, expected):
    """Print what becomes of a valid model that gives x + 2 and a product."""
    outputs = [x + 2, product]
    onnx.checker.check_model(model, full_check=True)
    assert all(map(np.allclose, ReferenceEvaluator(model).run(None, {"x": x}), outputs)), "not the known outputs"
    slim = onnxslim.slim(onnx.ModelProto.FromString(model.SerializeToString()))
    made = {value.name for value in (*slim.graph.input, *slim.graph.initializer)}
    made |= {output for node in slim.graph.node for output in node.output}
    lost = sorted({read for node in slim.graph.node for read in node.input if read} - made)
    try:
        onnx.checker.check_model(slim)
        seen = "valid"
        if not all(np.allclose(*pair, atol=1e-6) for pair in zip(ReferenceEvaluator(slim).run(None, {"x": x}), outputs, strict=True)):
            seen = "valid, other results"
    except onnx.checker.ValidationError:
        seen = "invalid"
    print(f"{name}: {seen}" + (f"; read and never made: {', '.join(lost)}" if lost else ""))
    if seen != expected:
        print(f"  <- CHANGED, it was {expected}")
        changed.append(name)


print(f"onnxslim {version('onnxslim')}, onnx {version('onnx')}; what slim() makes of")
x = np.array([1, 2], np.float32)
for condition, branch in ((1, "then"), (0, "else")):
    for read, expected in (("x", "valid"), ("a", "invalid")):
        model = parse_model(f"""<ir_version: 10, opset_import: ["": 22]>
            small (float[2] x) => (float[2] sum, float[2] product) <bool condition = {{{condition}}}, float two = {{2}}> {{
                sum, product = If(condition) <
                    then_branch = t () => (float[2] a, float[2] b) {{ a = Add(x, two) b = Mul({read}, two) }},
                    else_branch = e () => (float[2] a, float[2] b) {{ a = Add(x, two) b = Mul({read}, two) }}>
            }}""")
        show(f"If, branch {branch}, second output computed from {read}", model, x, 2 * (x if read == "x" else x + 2), expected)
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
