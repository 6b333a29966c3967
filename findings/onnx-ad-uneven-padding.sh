#!/usr/bin/env bash
# onnx-ad 0.3.0 shifts the gradient of a convolution or an average that is padded more on one side.
#
# A causal convolution has all of its padding in front. In the gradient model that onnx-ad makes of it, the gradient of
# the input is moved by half of the difference: by one element for a kernel of three. What belongs to the first element
# is lost or lands elsewhere, without a word. The gradient of the weights is right. So is an even padding.
#
# The gradient model has a ConvTranspose with output_shape and with pads. ONNX then computes pads of its own and ignores
# the given ones. ONNX Runtime does so. ONNX's reference evaluator reads the given ones, and shows the right gradient.
#
# Version: onnx-ad 0.3.0 (2026-09), run by onnxruntime 1.32.0, beside onnx 1.23.2.
# Documented: ONNX, operator ConvTranspose-11: "If output_shape is specified pads values are ignored."
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnx-ad==0.3.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnx_ad
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
CONV = "(float[1,1,4] x, float[1,1,3] w) => (float[1,1,4] y) { y = Conv<pads = [%d, %d]>(x, w) }"
MEAN = """(float[1,1,4] x) => (float[1,1,4] y)
{ y = AveragePool<kernel_shape = [3], pads = [%d, %d], count_include_pad = 1>(x) }"""
X, W, SEED = np.array([1, 2, 3, 4.0]), np.array([1, 2, 4.0]), np.array([1, 10, 100, 1000.0])


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def by_hand(weights, before):
    """Return the gradients of the sum of SEED * y: y[at] is the sum of x[at + k - before] * weights[k]."""
    of_x, of_w = np.zeros(4), np.zeros(3)
    for at in range(4):
        for k in range(3):
            source = at + k - before
            if 0 <= source < 4:
                of_x[source] += SEED[at] * weights[k]
                of_w[k] += SEED[at] * X[source]
    return of_x, of_w


def gradients(text):
    """Return the gradients by ONNX Runtime, by ONNX's reference evaluator, and the gradient model."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]> g {text}""")
    made = onnx_ad.reverse(model, layout="onnx")
    for each in (model, made):
        onnx.checker.check_model(each, full_check=True)
    feeds = {"x": X, "w": W, "adj_y": SEED}
    shapes = {value.name: [size.dim_value or 1 for size in value.type.tensor_type.shape.dim]
              for value in made.graph.input}
    feeds = {name: feeds[name].astype(np.float32).reshape(shape) for name, shape in shapes.items()}
    names = [name for name in ("adj_x", "adj_w") if name in [value.name for value in made.graph.output]]
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    seen, read = session.run(names, feeds), ReferenceEvaluator(made).run(names, feeds)
    return [x.ravel() for x in seen], [x.ravel() for x in read], made


print(f"onnx-ad {version('onnx-ad')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
for name, text, weights in (("Conv", CONV, W), ("AveragePool", MEAN, np.full(3, 1 / 3))):
    for pads in ((1, 1), (2, 0), (0, 2)):
        seen, read, made = gradients(text % pads)
        right = by_hand(weights, pads[0])
        print(f"{name}, pads {pads}: onnx-ad {seen[0].round(3).tolist()}, by hand {right[0].round(3).tolist()}")
        even = pads == (1, 1)
        claim(np.allclose(seen[0], right[0]) == even, "right" if even else "the input's gradient is wrong")
        if not even:
            claim(np.allclose(seen[0], by_hand(weights, 1)[0]), "it is that of one element of padding on each side")
            claim(np.allclose(read[0], right[0]), "the reference evaluator, which reads the pads, shows the right one")
            nodes = [node for node in made.graph.node if node.op_type == "ConvTranspose"]
            used = {attribute.name for node in nodes for attribute in node.attribute}
            claim({"pads", "output_shape"} <= used, "a ConvTranspose has both pads and output_shape")
        if len(seen) > 1:
            claim(np.allclose(seen[1], right[1]), "the weights' gradient is right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
