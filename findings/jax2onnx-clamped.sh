#!/usr/bin/env bash
# jax2onnx 0.17.1 exports a dynamic_slice that is not moved back into the array, and a one_hot that wraps indices.
#
# JAX moves a slice that would end outside the array back, so that its size is always the given one. The exported Slice
# is cut off: the model declares three elements and gives one. dynamic_update_slice is right. one_hot of JAX is zero for
# an index that is negative; the exported OneHot marks the place counted from the end.
#
# Version: jax2onnx 0.17.1 (2026-10), of jax 0.10.2, beside onnx 1.23.2 and ONNX Runtime 1.32.0.
# Documented: JAX, jax.lax.dynamic_slice: indices are clamped, and the slice has the given size; jax.nn.one_hot: indices
#   outside of 0 to num_classes give zeros. ONNX, operators Slice-13 and OneHot-11.
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
from jax import lax
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
x = np.arange(5, dtype=np.float32)


def three(x, start):
    return lax.dynamic_slice(x, (start[0],), (3,))


def replaced(x, start):
    return lax.dynamic_update_slice(x, np.full(3, 9, np.float32), (start[0],))


for start, by_hand, wrong in (
    (0, [0, 1, 2], None), (2, [2, 3, 4], None), (-3, [2, 3, 4], None), (3, [2, 3, 4], [3, 4]),
    (4, [2, 3, 4], [4]), (-1, [2, 3, 4], [4]),
):
    given = [x, np.array([start], np.int32)]
    compared(f"dynamic_slice of three from {start}", three, given, by_hand, wrong)
declared = to_onnx(three, [jax.ShapeDtypeStruct((5,), np.float32), jax.ShapeDtypeStruct((1,), np.int32)])
sizes = [size.dim_value for size in declared.graph.output[0].type.tensor_type.shape.dim]
claim(sizes == [3], "the model declares three elements")
compared("dynamic_update_slice from 4", replaced, [x, np.array([4], np.int32)], [0, 1, 9, 9, 9])


def marked(indices):
    return jax.nn.one_hot(indices, 3)


none, first, second, third = [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]
compared("one_hot of 0, 1, 2, 3", marked, [np.array([0, 1, 2, 3], np.int32)], [first, second, third, none])
given = np.array([-1, -3, -4], np.int32)
compared("one_hot of -1, -3, -4", marked, [given], [none] * 3, [third, first, none])
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
