#!/usr/bin/env bash
# Aidge 0.10.1 drops elements where a Dropout is not in training.
#
# A Dropout without the input training_mode passes its input on, as exported models expect. In Aidge it sets about half
# of the elements to 0 and doubles the others.
#
# Version: aidge-core, aidge-onnx and aidge-backend-cpu 0.10.1 (2026-09), beside onnx 1.23.2.
# Documented: ONNX, operator Dropout-13: without training_mode, output is the same as data.
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
COUNT = 1000
x = np.arange(1, COUNT + 1, dtype=np.float32)
model = f'<ir_version: 8, opset_import: ["": 17]> g (float[{COUNT}] x) => (float[{COUNT}] y) {{ y = Dropout(x) }}'
found, right = computed(model, x=x)
kept = found != 0
print(f"of {COUNT} elements Aidge keeps {int(kept.sum())}; the first ten are {found[:10].tolist()}")
claim(np.array_equal(right, x), "ONNX keeps all as they are")
claim(0.4 * COUNT < kept.sum() < 0.6 * COUNT, "Aidge drops about half")
claim(np.array_equal(found[kept], 2 * x[kept]), "the others are doubled")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
