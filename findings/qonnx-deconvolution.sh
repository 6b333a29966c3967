#!/usr/bin/env bash
# qonnx 1.0.0 turns a convolution with an upsampling into a ConvTranspose, and ignores how the upsampling is done.
#
# SubPixelToDeconvolution replaces a Conv and a DepthToSpace. It always orders the weights for mode CRD, so that DCR,
# ONNX's default, gives other results. A dilated Conv, it warns, is skipped: it is replaced all the same, and the
# output has other sizes. ResizeConvolutionToDeconvolution replaces a nearest Resize and a Conv as if each element was
# repeated. With nearest_mode floor or ceil that is often not so.
#
# Version: qonnx 1.0.0 (2026-02), run by onnxruntime 1.32.0, beside onnx 1.23.2.
# Documented: ONNX, operators DepthToSpace-13: "By default, mode = DCR.", and Resize-19. qonnx documents that biases
#   and the modes linear and cubic are not supported.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    qonnx==1.0.0 toposort==1.10 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - 2> log <<'PY' || { tail -n 20 log; exit 1; }
import sys
import warnings
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes
from qonnx.transformation.resize_conv_to_deconv import ResizeConvolutionToDeconvolution
from qonnx.transformation.subpixel_to_deconv import SubPixelToDeconvolution

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def run(model, x):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def both(text, transformation, x):
    """Return a model's result, that of the transformed model, and the warnings."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]> g {text}""")
    onnx.checker.check_model(model, full_check=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        after = ModelWrapper(model).transform(InferShapes()).transform(transformation())
    claim([node.op_type for node in after.graph.node] == ["ConvTranspose"], "there is one ConvTranspose in their place")
    return run(model, x), run(after.model, x), [str(one.message) for one in said]


print(f"qonnx {version('qonnx')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
x = np.ones((1, 1, 1, 1), np.float32)
CRD = [1, 2, 3, 4, 5, 6, 7, 8]  # two channels of 2 by 2: the channels are the slow part
for mode, by_hand in (('mode = "CRD", ', CRD), ('mode = "DCR", ', CRD[::2] + CRD[1::2]), ("", CRD[::2] + CRD[1::2])):
    right, found, said = both(
        f"""(float[1,1,1,1] x) => (float[1,2,2,2] y) <float[8,1,1,1] w = {{1, 2, 3, 4, 5, 6, 7, 8}}>
        {{ t = Conv<kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], group = 1>(x, w)
        y = DepthToSpace<{mode}blocksize = 2>(t) }}""", SubPixelToDeconvolution, x,
    )
    print(f"channels 1 to 8, {mode or 'no mode, '}blocksize 2: after qonnx {found.ravel().tolist()}, by hand {by_hand}")
    claim(right.ravel().tolist() == by_hand, "ONNX Runtime agrees with the hand before")
    claim(found.ravel().tolist() == CRD and not said, "after qonnx it is CRD, without a warning")

right, found, said = both(
    f"""(float[1,1,3,3] x) => (float[1,1,6,6] y) <float[4,1,3,3] w = {{{", ".join(["1"] * 36)}}}>
    {{ t = Conv<kernel_shape = [3, 3], strides = [1, 1], dilations = [2, 2], pads = [2, 2, 2, 2], group = 1>(x, w)
    y = DepthToSpace<mode = "CRD", blocksize = 2>(t) }}""", SubPixelToDeconvolution, np.ones((1, 1, 3, 3), np.float32),
)
print(f"a dilated Conv: {list(right.shape)} before, {list(found.shape)} after qonnx, which says {said}")
claim(right.shape == (1, 1, 6, 6) and found.shape == (1, 1, 7, 7), "the output has other sizes")
claim(any(one.startswith("Skipping") for one in said), "it warns that it skips this one")

x = np.array([[[[1, 2], [3, 4]]]], np.float32)
repeated = [[1, 1, 2, 2]] * 2 + [[3, 3, 4, 4]] * 2
for attributes, by_hand in (
    ("", repeated),
    (', nearest_mode = "ceil", coordinate_transformation_mode = "asymmetric"', [[1, 2, 2, 2]] + [[3, 4, 4, 4]] * 3),
    (', nearest_mode = "floor"', [[1, 1, 1, 2]] * 3 + [[3, 3, 3, 4]]),
):
    right, found, said = both(
        f"""(float[1,1,2,2] x) => (float[1,1,4,4] y) <float[1,1,1,1] w = {{1}}, float[4] scales = {{1, 1, 2, 2}}>
        {{ t = Resize<mode = "nearest"{attributes}>(x, , scales)
        y = Conv<kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], group = 1>(t, w) }}""",
        ResizeConvolutionToDeconvolution, x,
    )
    print(f"Resize{attributes}: after qonnx {found[0, 0].tolist()}, by hand {by_hand}")
    claim(right[0, 0].tolist() == by_hand, "ONNX Runtime agrees with the hand before")
    claim(found[0, 0].tolist() == repeated and not said, "after qonnx each element is repeated, without a warning")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
