#!/usr/bin/env bash
# nxrt 0.1.0.dev6 moves the points of a cubic GridSample to the nearest pixel's centre, at the border of the image.
#
# Half a pixel lies between the centre of the first pixel and the edge of the image. A point there needs no padding of
# its own: cubic interpolation takes the two pixels on either side, of which those outside are padded. nxrt moves the
# point to the centre first and gives that pixel's own value, both for "reflection" and for "border". Points between
# two centres are right, and so are padding "zeros", and the linear and the nearest mode.
#
# Version: nxrt 0.1.0.dev6 (2026-09), beside onnx 1.23.2, whose evaluator computes what the standard says, and
#   ONNX Runtime 1.32.0.
# Documented: ONNX, operator GridSample (opset 20): without align_corners, -1 and 1 are the outer edges of the border
#   pixels; padding_mode is for grid values outside of them, and for the interpolation's neighbours. PyTorch has the
#   same operator; the weights are those of its cubic kernel with -0.75.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    nxrt==0.1.0.dev6 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import nxrt
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
image = [16, 0, 0, 32]
places = [-0.25, 0, 0.5, 3.25]  # in pixels: 0 is the centre of the first one, -0.5 and 3.5 are the edges


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def kernel(distance):
    """The weight of a pixel, by its distance: the cubic kernel of Keys with -0.75."""
    d = abs(distance)
    if d <= 1:
        return 1.25 * d**3 - 2.25 * d**2 + 1
    return -0.75 * (d**3 - 5 * d**2 + 8 * d - 4)


def by_hand(place, padding):
    """The four pixels around a place, those outside mirrored at the edge, or taken as the last one."""
    total = 0.0
    for pixel in range(int(np.floor(place)) - 1, int(np.floor(place)) + 3):
        if padding == "reflection":
            inside = -1 - pixel if pixel < 0 else 7 - pixel if pixel > 3 else pixel
        else:
            inside = min(max(pixel, 0), 3)
        total += kernel(place - pixel) * image[inside]
    return total


def all_three(padding, mode="cubic"):
    model = parse_model(f"""<ir_version: 9, opset_import: ["": 20]>
        sample (float[1,1,1,4] x, float[1,1,4,2] grid) => (float[1,1,1,4] y)
        {{ y = GridSample<mode = "{mode}", padding_mode = "{padding}">(x, grid) }}""")
    onnx.checker.check_model(model, full_check=True)
    grid = np.array([[(2 * place + 1) / 4 - 1, 0] for place in places], np.float32).reshape(1, 1, 4, 2)
    inputs = {"x": np.array(image, np.float32).reshape(1, 1, 1, 4), "grid": grid}
    mine = nxrt.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    evaluated = ReferenceEvaluator(model).run(None, inputs)[0]
    found = (mine, session.run(None, inputs)[0], evaluated)
    return [np.round(output.astype(float), 4).ravel().tolist() for output in found]


print(f"nxrt {version('nxrt')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}; {image} at {places}")
for padding in ("reflection", "border"):
    mine, runtime, evaluated = all_three(padding)
    hand = [by_hand(place, padding) for place in places]
    print(f"cubic, {padding}: nxrt {mine}, ONNX Runtime {runtime}, onnx {evaluated}, by hand {hand}")
    claim(np.allclose(runtime, hand) and np.allclose(evaluated, hand), "ONNX Runtime and onnx: as by hand")
    claim(np.allclose(mine[1:3], hand[1:3]), "nxrt: right from the first centre on")
    claim(np.allclose([mine[0], mine[3]], [image[0], image[3]]), "nxrt: the outer pixel's own value next to the edge")
for mode, padding in (("cubic", "zeros"), ("linear", "reflection"), ("nearest", "border")):
    mine, runtime, evaluated = all_three(padding, mode)
    print(f"{mode}, {padding}: nxrt {mine}, ONNX Runtime {runtime}, onnx {evaluated}")
    claim(np.allclose(mine, evaluated) and np.allclose(mine, runtime), "right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
