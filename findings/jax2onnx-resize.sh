#!/usr/bin/env bash
# jax2onnx 0.17.1 exports two of JAX's ways to resize an image as other ones.
#
# JAX takes for mode nearest the pixel that the centre of the new one lies in: floor((i + 0.5) * old / new). The exported
# Resize rounds (i + 0.5) * old / new - 0.5, halves down: the same for whole factors upwards, another pixel for half of
# the size and for 6 / 4. In mode cubic, JAX leaves pixels outside the image out, and weighs the others up; the exported
# Resize has the right coefficient, but repeats the pixel at the edge. Mode linear is right. Nothing is refused.
#
# Version: jax2onnx 0.17.1 (2026-10), of jax 0.10.2, beside onnx 1.23.2 and ONNX Runtime 1.32.0.
# Documented: JAX, jax.image.resize. ONNX, operator Resize-19: nearest_mode, floor among others; exclude_outside.
#   Expected are values by hand.
# Seen: 2026-12-01. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work JAX_PLATFORMS=cpu
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    jax2onnx==0.17.1 jax==0.10.2 jaxlib==0.10.2 flax==0.12.8 equinox==0.13.8 onnx==1.23.2 onnxruntime==1.32.0 \
    numpy==2.4.6 absl-py==2.5.1 aiofiles==25.1.0 anyio==4.16.0 chex==0.1.92 click==8.5.1 dataclasses-json==0.6.7 \
    dm_pix==0.4.5 einops==0.8.2 etils==1.15.0 filelock==4.3.1 flatbuffers==25.12.19 fsspec==2026.9.0 h11==0.16.0 \
    hf-xet==1.8.0 httpcore2==2.16.2 httpx2==2.16.2 huggingface_hub==2.4.0 humanize==4.17.0 idna==3.20 \
    jaxtyping==0.3.11 markdown-it-py==4.3.0 marshmallow==3.26.2 mdurl==0.1.2 ml_dtypes==0.6.0 mpmath==1.3.0 \
    msgpack==1.2.4 mypy_extensions==1.2.0 netron==9.3.3 onnx-ir==1.1.0 opt_einsum==3.4.0 optax==0.2.8 \
    orbax-checkpoint==0.11.36 orbax-export==0.0.8 packaging==26.4 protobuf==7.36.2 psutil==7.2.2 Pygments==2.21.0 \
    PyYAML==6.0.4 rich==15.0.0 scipy==1.17.1 simplejson==4.3.0 sympy==1.14.0 tensorstore==0.1.86 toolz==1.2.0 \
    tqdm==4.70.1 treescope==0.1.10 truststore==0.10.5 typing-inspect==0.9.0 typing_extensions==4.16.0 uvloop==0.23.0 \
    wadler_lindig==0.1.8 zipp==4.1.2
venv/bin/python - 2> log <<'PY' || { cat log; exit 1; }
import sys
from importlib.metadata import version

import jax
import numpy as np
import onnx
import onnxruntime
from jax2onnx import to_onnx
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def results(function, *inputs):
    """Return what JAX, and what ONNX Runtime and the reference evaluator make of the exported model."""
    model = to_onnx(function, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs])
    onnx.checker.check_model(model)
    named = {value.name: x for value, x in zip(model.graph.input, inputs, strict=True)}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = [way.run(None, named)[0] for way in (session, ReferenceEvaluator(model))]
    return np.asarray(jax.jit(function)(*inputs)), *found


def same(left, right):
    return left.shape == right.shape and np.allclose(left, right, rtol=1e-4, atol=1e-6)


def compared(name, function, inputs, by_hand, wrong=None):
    """Check JAX against the hand, and the exported model against what it is expected to give, if that is wrong."""
    right, runtime, evaluated = results(function, *inputs)
    by_hand = np.array(by_hand, right.dtype)
    print(f"{name}: JAX {right.astype(float).round(4).tolist()}, exported {runtime.astype(float).round(4).tolist()}")
    claim(same(right, by_hand), "JAX: as by hand")
    claim(same(runtime, evaluated), "ONNX Runtime and the reference evaluator agree on the model")
    expected = by_hand if wrong is None else np.array(wrong, right.dtype)
    claim(same(runtime, expected), "the model is " + ("right" if wrong is None else "wrong"))


packages = ("jax2onnx", "jax", "onnx", "onnxruntime")
print(", ".join(f"{name} {version(name)}" for name in packages))
x = np.array([[0, 1, 4, 9]], np.float32)


def resized(size, method):
    return lambda x: jax.image.resize(x, (1, size), method, antialias=False)


def nearest(size, rounded):
    return [[float(x[0, rounded((i + 0.5) * 4 / size)]) for i in range(size)]]


def centre(at):
    return int(np.floor(at))


def rounded_down(at):
    return int(np.ceil(at - 0.5 - 0.5))


for size in (4, 8):
    compared(f"nearest, 4 pixels to {size}", resized(size, "nearest"), [x], nearest(size, centre))
for size in (2, 3, 6, 7):
    right, wrong = nearest(size, centre), nearest(size, rounded_down)
    compared(f"nearest, 4 pixels to {size}", resized(size, "nearest"), [x], right, wrong)
compared("linear, 4 pixels to 8", resized(8, "linear"), [x], [[0, 0.25, 0.75, 1.75, 3.25, 5.25, 7.75, 9]])


def cubic(size, repeat):
    """Return a cubic interpolation with the coefficient -0.5, with the edge repeated or left out."""
    results = []
    for i in range(size):
        at = (i + 0.5) * 4 / size - 0.5
        places = np.arange(np.floor(at) - 1, np.floor(at) + 3)
        d = np.abs(at - places)
        near, far = 1.5 * d**3 - 2.5 * d**2 + 1, -0.5 * d**3 + 2.5 * d**2 - 4 * d + 2
        weights = np.where(d <= 1, near, far)
        if not repeat:
            weights = weights * ((places >= 0) & (places < 4))
        results.append(weights @ x[0][np.clip(places, 0, 3).astype(int)].astype(float) / weights.sum())
    return [results]


for size in (6, 8):
    compared(f"cubic, 4 pixels to {size}", resized(size, "cubic"), [x], cubic(size, False), cubic(size, True))
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
