#!/usr/bin/env bash
# tract 0.23.9: causal Attention with a cache of keys hides the newest keys.
#
# With past_key and past_value, as in every step of a generating model, is_causal = 1 should let a query see the whole
# past and the new keys up to its own. tract lays the triangle at the first key of the past: a step of one new token
# sees the oldest key alone, and nothing changes with what was said since. Without a past the results are right, and
# so is the step without is_causal, so the mistake shows only once the cache is used. The cache itself is right.
#
# Version: tract 0.23.9 (Python package, 2026-10), beside onnxruntime 1.32.0 and onnx 1.23.2, which agree.
# Documented: ONNX, operator Attention (opsets 23 and 24): query i sees key j where j <= i + offset, and the offset is
#   the length of the past. ONNX's own node test attention_4d_causal_with_past_and_present says the same.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    tract==0.23.9 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
import tract
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator


def run(causal, past, new, opset):
    """Give Attention's Y by each program: equal scores, so Y is the mean of the values that a query sees."""
    before = f", float[1,1,{past},1] PK, float[1,1,{past},1] PV" if past else ""
    cache = f", float[1,1,{past + new},1] NK, float[1,1,{past + new},1] NV" if past else ""
    step = "Y, NK, NV = " if past else "Y = "
    made = parse_model(f"""<ir_version: 10, opset_import: ["": {opset}]>
        step (float[1,1,{new},1] Q, float[1,1,{new},1] K, float[1,1,{new},1] V{before}) => (float[1,1,{new},1] Y{cache})
        {{ {step} Attention<is_causal={causal}>(Q, K, V{', , PK, PV' if past else ''}) }}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    values = np.arange(past + new, dtype=np.float32).reshape(1, 1, -1, 1)
    zeros = np.zeros((1, 1, new, 1), np.float32)
    inputs = {"Q": zeros, "K": zeros, "V": values[:, :, past:]}
    if past:
        inputs |= {"PK": np.zeros((1, 1, past, 1), np.float32), "PV": values[:, :, :past]}
    runnable = tract.onnx().load("model.onnx").into_model().into_runnable()
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    answers = {
        "tract": [output.to_numpy() for output in runnable.run(list(inputs.values()))],
        "onnxruntime": session.run(None, inputs),
        "onnx": ReferenceEvaluator(made).run(None, inputs),
    }
    if past:
        assert all(np.array_equal(outputs[2], values) for outputs in answers.values()), "the cache differs"
    return {name: np.round(outputs[0].ravel().astype(np.float64), 4).tolist() for name, outputs in answers.items()}


print(", ".join(f"{name} {version(name)}" for name in ("tract", "onnxruntime", "onnx")), "- values 0, 1, 2, ...")
right, wrong = [], []
for opset in (23, 24):
    for causal, past, new, expected, of_tract in (
        (1, 0, 4, [0.0, 0.5, 1.0, 1.5], [0.0, 0.5, 1.0, 1.5]),
        (0, 3, 1, [1.5], [1.5]),
        (1, 3, 1, [1.5], [0.0]),
        (1, 6, 1, [3.0], [0.0]),
        (1, 2, 2, [1.0, 1.5], [0.0, 0.5]),
    ):
        seen = run(causal, past, new, opset)
        holds = seen == {"tract": of_tract, "onnxruntime": expected, "onnx": expected}
        (right if holds else wrong).append(seen)
        print(f"opset {opset}, is_causal {causal}, {past} past and {new} new: {seen}" + ("" if holds else "  <- CHANGED"))
sys.exit(f"{len(wrong)} changed" if wrong else 0)
PY
echo "The behaviour is as described."
