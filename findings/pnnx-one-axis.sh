#!/usr/bin/env bash
# pnnx 20261020 converts a reduction over one axis of an ONNX model to an ncnn layer that reduces nothing.
#
# The list of axes in the ncnn file is empty if the ONNX node has one axis, and ncnn then returns the input. Two axes
# are kept, and are right. The sum, the mean and the norms behave alike, and the product is right. pnnx says nothing.
# The PyTorch file that it writes beside the ncnn file has the axis.
#
# Version: pnnx 20261020, ncnn 1.0.20261020 (2026-10), beside onnx 1.23.2.
# Documented: ONNX, operators ReduceSum-13, ReduceMean-18: axes are "A list of integers, along which to reduce."
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
    """Return the result in ncnn, that of ONNX's reference evaluator, and both files that pnnx writes."""
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
    run.input("in0", ncnn.Mat(x).clone())
    found = np.array(run.extract("out0")[1])
    right = ReferenceEvaluator(model).run(None, {"x": x})[0]
    return found, right, Path("model.ncnn.param").read_text(), Path("model_pnnx.py").read_text()


print(f"pnnx {version('pnnx')}, ncnn {version('ncnn')}, onnx {version('onnx')}")
x = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 2, 2)
for name, in_torch, by_hand in (
    ("ReduceSum", "torch.sum(v_0, dim=2", [[4, 6], [12, 14]]),
    ("ReduceMean", "torch.mean(v_0, dim=2", [[2, 3], [6, 7]]),
    ("ReduceL1", "torch.norm(v_0, dim=2", [[4, 6], [12, 14]]),
):
    found, right, layers, torch_file = converted(
        f"(float[1,2,2,2] x) => (float[1,2,1,2] y) <int64[1] a = {{2}}> {{ y = {name}(x, a) }}", x
    )
    print(f"{name} over axis 2: ncnn {found.ravel().tolist()}, by hand {by_hand}")
    claim(right.reshape(2, 2).tolist() == by_hand, "the reference evaluator agrees with the hand")
    claim(np.array_equal(found.ravel(), x.ravel()), "ncnn returns the input")
    claim("-23303=0 " in layers, "the ncnn layer has no axes")
    claim(in_torch in torch_file, "the PyTorch file has axis 2")
for name, axes, sizes, by_hand in (
    ("ReduceSum", "1, 3", "1,1,2,1", [14, 22]), ("ReduceMean", "1, 3", "1,1,2,1", [3.5, 5.5]),
    ("ReduceProd", "2", "1,2,1,2", [3, 8, 35, 48]),
):
    count = len(axes.split(","))
    found, right, layers, _ = converted(
        f"(float[1,2,2,2] x) => (float[{sizes}] y) <int64[{count}] a = {{{axes}}}> {{ y = {name}(x, a) }}", x
    )
    print(f"{name} over {axes}: ncnn {found.ravel().tolist()}, by hand {by_hand}")
    claim(right.ravel().tolist() == found.ravel().tolist() == by_hand, "right")
    claim(f"-23303={count}," in layers, f"the ncnn layer has axes: {count}")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
