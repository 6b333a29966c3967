#!/usr/bin/env bash
# TVM 0.27.0 reads the momentum of ONNX's BatchNormalization the other way round.
#
# In training mode, ONNX keeps momentum (0.9 by default) of the mean and variance that come in, and adds the rest of
# those of the batch. TVM keeps the rest, and adds momentum of those of the batch, as PyTorch means the word: with a
# momentum of 0.9, the mean of one batch all but replaces the running one. At 0.5 both agree. The normalized output
# does not depend on it and is right, so nothing shows until the model is used with the mean and variance it collected.
#
# Version: apache-tvm 0.27.0.post1 (2026-09), its importer relax.frontend.onnx, beside onnx 1.23.2.
# Documented: ONNX, operator BatchNormalization (opset 15): running_mean is input_mean times momentum plus the mean of
#   the batch times (1 - momentum), and running_var likewise, with the variance of the population.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import tvm
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def floats(*values, sizes=-1):
    return np.array(values, np.float32).reshape(sizes)


def runs(text, **inputs):
    """What TVM, and what the evaluator of the standard compute of a graph, given as text."""
    made = parse_model("<ir_version: 10, opset_import: [\"\": 21]> " + text)
    onnx.checker.check_model(made, full_check=True)
    built = tvm.compile(from_onnx(made, keep_params_in_input=False), "llvm")
    got = relax.VirtualMachine(built, tvm.cpu())["main"](*map(tvm.runtime.tensor, inputs.values()))
    got = [got.numpy()] if hasattr(got, "numpy") else [output.numpy() for output in got]
    return got, ReferenceEvaluator(made).run(None, inputs)


def same(left, right):
    return left.shape == right.shape and np.allclose(left, right)


print(f"TVM {version('apache-tvm')}, onnx {version('onnx')}; a batch of mean 4 and variance 1, after 0 and 0")
x, zero, one = floats(3, 5, sizes=(2, 1)), floats(0), floats(1)
for momentum in (None, 0.9, 0.5, 0.25):
    attributes = "training_mode = 1" + ("" if momentum is None else f", momentum = {momentum}")
    got, right = runs(f"""norm (float[2,1] x, float[1] scale, float[1] bias, float[1] mean, float[1] var)
        => (float[2,1] y, float[1] next_mean, float[1] next_var)
        {{ y, next_mean, next_var = BatchNormalization<{attributes}>(x, scale, bias, mean, var) }}""",
        x=x, scale=one, bias=zero, mean=zero, var=zero)
    kept = 0.9 if momentum is None else momentum
    show = [[np.round(output.ravel().astype(float), 4).tolist() for output in outputs[1:]] for outputs in (got, right)]
    print(f"momentum {momentum or 'left out'}: TVM {show[0]}, ONNX {show[1]}")
    claim(same(got[0], right[0]), "the normalized output is right")
    claim(np.allclose(right[1:], [[4 * (1 - kept)], [1 - kept]]), "ONNX adds 1 - momentum of the batch's")
    claim(np.allclose(got[1:], [[4 * kept], [kept]]), "TVM adds momentum of the batch's")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
