#!/usr/bin/env bash
# Aidge 0.10.1 weighs the wrong corners in a linear GridSample, and turns the sign.
#
# Each of the four elements around a place gets the weight of the one opposite to it, and the result is negated: between
# positive elements it is negative, and in the place of an element it is minus the next one along both axes.
# mode = nearest is right.
#
# Version: aidge-core, aidge-onnx and aidge-backend-cpu 0.10.1 (2026-09), beside onnx 1.23.2.
# Documented: ONNX, operator GridSample-20: linear interpolation of the elements around a place.
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
ROWS, COLUMNS = 3, 4
x = np.arange(1, 13, dtype=np.float32).reshape(ROWS, COLUMNS) ** 2
grid = np.array([(-1, -1), (-0.5, -0.2), (0.1, 0.3), (0.5, 0.7), (0.2, 0)], np.float32)


def at(row, column):
    return x[row, column] if row < ROWS and column < COLUMNS else 0


def opposite(place):
    """Return the negated sum of the elements around a place, each with the weight of the opposite one."""
    column, row = (place + 1) / 2 * (COLUMNS - 1, ROWS - 1)
    left, top = int(column), int(row)
    to_right, down = column - left, row - top
    return -(
        at(top, left) * to_right * down
        + at(top, left + 1) * (1 - to_right) * down
        + at(top + 1, left) * to_right * (1 - down)
        + at(top + 1, left + 1) * (1 - to_right) * (1 - down)
    )


for mode in ("nearest", "linear"):
    found, right = computed(
        f"""<ir_version: 9, opset_import: ["": 20]>
        g (float[1, 1, 3, 4] x, float[1, 1, 5, 2] grid) => (float[1, 1, 1, 5] y)
        {{ y = GridSample<mode = "{mode}", align_corners = 1>(x, grid) }}""",
        x=x.reshape(1, 1, ROWS, COLUMNS),
        grid=grid.reshape(1, 1, 5, 2),
    )
    found, right = found.ravel(), right.ravel()
    print(f"{mode}: Aidge {found.astype(float).round(2).tolist()}, ONNX {right.astype(float).round(2).tolist()}")
    if mode == "nearest":
        claim(np.array_equal(found, right), "nearest: right")
    else:
        claim(np.allclose(found, [opposite(place) for place in grid], atol=1e-3), "linear: opposite weights, negated")
        claim(not np.isclose(found, right).any(), "linear: no element is right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
