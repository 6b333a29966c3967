#!/usr/bin/env bash
# pnnx 20261020 converts SpaceToDepth of ONNX to an ncnn layer with another order of the channels.
#
# ONNX puts the channels of the upper left element of each block first, then those of the upper right one, and so on.
# PyTorch's pixel_unshuffle, to which pnnx converts it, puts all elements of the first channel first. With one channel,
# both are the same. pnnx says nothing. DepthToSpace in mode CRD, which is PyTorch's order, is right.
#
# Version: pnnx 20261020, ncnn 1.0.20261020 (2026-10), beside onnx 1.23.2.
# Documented: ONNX, operator SpaceToDepth (opset 13): its output is that of which DepthToSpace in mode DCR makes the
#   input again. PyTorch, pixel_unshuffle: (C, H * r, W * r) to (C * r * r, H, W), r * r inside of C.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    pnnx==20261020 ncnn==1.0.20261020 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0
venv/bin/python - <<'PY'
import subprocess
import sys
from importlib.metadata import distribution, version
from pathlib import Path

import ncnn
import numpy as np
import onnx
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []
PNNX = distribution("pnnx").locate_file("pnnx/pnnx")  # the program; its Python part needs PyTorch


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def converted(text, x):
    """Return the result in ncnn, that of ONNX's reference evaluator, and the line of the ncnn layer."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["": 18]> g {text}""")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    shape = ",".join(str(size) for size in x.shape)
    done = subprocess.run([PNNX, "model.onnx", f"inputshape=[{shape}]f32"], capture_output=True, text=True, check=True)
    claim("ignore" not in done.stderr, "pnnx has no message about something left out")
    net = ncnn.Net()
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    assert net.load_param("model.ncnn.param") == 0 and net.load_model("model.ncnn.bin") == 0
    run = net.create_extractor()
    run.input("in0", ncnn.Mat(x[0]).clone())  # without the batch, which ncnn does not have
    found = np.array(run.extract("out0")[1])
    right = ReferenceEvaluator(model).run(None, {"x": x})[0]
    layer = Path("model.ncnn.param").read_text().splitlines()[-1]
    return found.ravel().tolist(), right.ravel().tolist(), " ".join(layer.split())


print(f"pnnx {version('pnnx')}, ncnn {version('ncnn')}, onnx {version('onnx')}")
one = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
two = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 2, 2)
cases = (
    ("SpaceToDepth<blocksize = 2>", one, "1,1,2,2", "1,4,1,1", [1, 2, 3, 4], None),
    ("SpaceToDepth<blocksize = 2>", two, "1,2,2,2", "1,8,1,1", [1, 5, 2, 6, 3, 7, 4, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
    ("DepthToSpace<blocksize = 2, mode = \"CRD\">", two.reshape(1, 8, 1, 1), "1,8,1,1", "1,2,2,2",
     [1, 2, 3, 4, 5, 6, 7, 8], None),
)
for call, x, before, after, by_hand, wrong in cases:
    found, right, layer = converted(f"(float[{before}] x) => (float[{after}] y) {{ y = {call}(x) }}", x)
    print(f"{call} of {before}: ncnn {found}, onnx {right}, by hand {by_hand}; {layer}")
    claim(right == by_hand, "the reference evaluator agrees with the hand")
    claim(found == (wrong or by_hand), "ncnn: element by element of each channel" if wrong else "ncnn: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
