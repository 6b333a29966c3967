#!/usr/bin/env bash
# Aidge 0.10.1 takes auto_pad SAME_UPPER for SAME_LOWER, and the other way round.
#
# Where the padding is odd, SAME_UPPER puts the extra element behind the input and SAME_LOWER before it. Pools of Aidge
# do the opposite: each gives what ONNX defines for the other. With windows of odd sizes both are right, so models with
# 3 x 3 windows do not show it.
#
# Version: aidge-core, aidge-onnx and aidge-backend-cpu 0.10.1 (2026-09), beside onnx 1.23.2.
# Documented: ONNX, operators MaxPool-12 and AveragePool-11: of odd padding, SAME_UPPER
# has the extra element at the end, SAME_LOWER at the beginning.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    aidge-core==0.10.1 aidge-onnx==0.10.1 aidge-backend-cpu==0.10.1 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 \
    ml_dtypes==0.6.0 typing_extensions==4.16.0 Jinja2==3.1.6 MarkupSafe==3.0.4 tqdm==4.70.1 matplotlib==3.11.2 \
    packaging==26.4 pillow==13.0.0 kiwisolver==1.5.1 contourpy==1.3.3 cycler==0.12.1 fonttools==4.68.0 \
    pyparsing==3.3.3 python-dateutil==4.0.0 rich==15.0.0 markdown-it-py==4.3.0 mdurl==0.1.2 Pygments==2.21.0 \
    requests==2.34.2 urllib3==2.8.0 idna==3.20 charset-normalizer==3.5.3 certifi==2026.10.19.post1 \
    safetensors==0.8.0 colorama==0.4.6
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import aidge_backend_cpu  # noqa: F401
import aidge_core
import aidge_onnx
import numpy as np
import onnx
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

aidge_core.Log.set_console_level(aidge_core.Level.Error)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def computed(text, **inputs):
    """Return what Aidge's CPU and ONNX's reference evaluator make of a model of one node."""
    model = parse_model(text)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    graph = aidge_onnx.load_onnx("model.onnx")
    graph.set_backend("cpu")
    graph.forward_dims([list(x.shape) for x in inputs.values()], True)
    aidge_core.SequentialScheduler(graph).forward(data=[aidge_core.Tensor(x) for x in inputs.values()])
    node, number = next(iter(graph.get_ordered_outputs()))
    return np.array(node.get_operator().get_output(number)), ReferenceEvaluator(model).run(None, inputs)[0]


print(f"Aidge {version('aidge-core')}, onnx {version('onnx')}")
x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
for operator in ("MaxPool", "AveragePool"):
    for size in (2, 3, 4):
        found, right = {}, {}
        for pad in ("SAME_UPPER", "SAME_LOWER"):
            model = f"""<ir_version: 8, opset_import: ["": 17]> g (float[1, 1, 5, 5] x) => (float[1, 1, 5, 5] y)
                {{ y = {operator}<kernel_shape = [{size}, {size}], auto_pad = "{pad}">(x) }}"""
            found[pad], right[pad] = computed(model, x=x)
            first = [y[0, 0, 0].astype(float).round(2).tolist() for y in (found[pad], right[pad])]
            print(f"{operator} {size} x {size}, {pad}: first row in Aidge {first[0]}, in ONNX {first[1]}")
        is_right = all(np.allclose(found[pad], right[pad]) for pad in found)
        is_exchanged = np.allclose(found["SAME_UPPER"], right["SAME_LOWER"])
        is_exchanged = is_exchanged and np.allclose(found["SAME_LOWER"], right["SAME_UPPER"])
        claim(is_exchanged, f"{operator} {size} x {size}: each gives what the other should")
        claim(is_right == (size == 3), f"{operator} {size} x {size}: right only if the size is odd")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
