#!/usr/bin/env bash
# onnxruntime-ggml 0.2.0 gives Max and Min of the first two inputs, whatever follows.
#
# The operators take any number of inputs. The provider takes the node off ONNX Runtime's hands, and drops the third
# input and all after it, without a word. Max of a Max is right, and so are Sum and Mean, which the provider leaves to
# ONNX Runtime, as it could have left these. ONNX's own node tests max_example and min_example have three inputs.
#
# Version: onnxruntime-ggml 0.2.0 (2026-09), a provider for ONNX Runtime, here with onnxruntime 1.30.0 and onnx 1.23.2.
# Documented: ONNX, operators Max and Min (opset 13): element by element, of each of the input tensors, which may be one
#   to 2147483647. The page of the package: ggml comes first, with ONNX Runtime's CPU provider as fallback.
# Seen: 2026-11-29. Needs Python 3.11 or newer, and glibc 2.35 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxruntime-ggml==0.2.0 onnxruntime==1.30.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
ORT_GGML_LOG=error venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
import onnxruntime_ggml
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

inputs = {"a": [3, 2, 1], "b": [1, 4, 4], "c": [2, 5, 0], "d": [9, -9, 7]}
inputs = {name: np.array(values, np.float32) for name, values in inputs.items()}
onnxruntime.set_default_logger_severity(3)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(nodes, names):
    """What the provider, ONNX Runtime alone and the standard's evaluator compute of the inputs with these names."""
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        several ({", ".join(f"float[3] {name}" for name in names)}) => (float[3] y) {{ {nodes} }}""")
    onnx.checker.check_model(made, full_check=True)
    feeds = {name: inputs[name] for name in names}
    model = made.SerializeToString()
    ggml = onnxruntime_ggml.InferenceSession(model, {"device": "cpu"})
    alone = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    outputs = [ggml.run(None, feeds), alone.run(None, feeds), ReferenceEvaluator(made).run(None, feeds)]
    return [output[0].tolist() for output in outputs]


print(f"onnxruntime-ggml {version('onnxruntime-ggml')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
for operator in ("Max", "Min", "Sum", "Mean"):
    for names in ("ab", "abc", "abcd"):
        ggml, alone, right = runs(f"y = {operator}({', '.join(names)})", names)
        print(f"{operator} of {len(names)}: ggml {ggml}, ONNX Runtime alone {alone}, ONNX {right}")
        wrong = operator in ("Max", "Min") and len(names) > 2
        claim(np.allclose(ggml, right) != wrong, "wrong" if wrong else "right")
        claim(np.allclose(alone, right), "ONNX Runtime alone: right")
        if wrong:
            claim(ggml == runs(f"y = {operator}(a, b)", "ab")[2], "it is the result of the first two inputs")
ggml, _, right = runs("two = Max(a, b) three = Max(two, c) y = Max(three, d)", "abcd")
claim(ggml == right, "Max of Max, two inputs each: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
