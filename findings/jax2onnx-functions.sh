#!/usr/bin/env bash
# jax2onnx 0.17.1: igamma is off by up to 8 %, an attention hides queries, rounding away from zero rounds to even.
#
# igamma(0.5, x), which is erf(sqrt(x)), is 0.808 for x = 1 in place of 0.843, and 0.920 for 5 in place of 0.998. With
# key_value_seq_lengths and no lengths of the queries, the exported attention gives zeros for all queries but the first.
# lax.round to the nearest, halves away from zero, becomes Round, which rounds halves to even. None of it is refused.
#
# Version: jax2onnx 0.17.1 (2026-10), of jax 0.10.2, beside onnx 1.23.2 and ONNX Runtime 1.32.0.
# Documented: JAX, jax.lax.igamma: the regularized lower incomplete gamma function; jax.nn.dot_product_attention:
#   key_value_seq_lengths cuts keys and values; jax.lax.RoundingMethod.AWAY_FROM_ZERO. ONNX, operator Round-22.
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
import math
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
x = np.array([0.1, 0.5, 1, 2, 5], np.float32)
half = np.full(5, 0.5, np.float32)
erf = [math.erf(math.sqrt(float(number))) for number in x]
compared("igamma of 0.5", lax.igamma, [half, x], erf, [0.334263, 0.658048, 0.807834, 0.905138, 0.920143])
compared("igammac of 0.5", lax.igammac, [half, x], [1 - y for y in erf], [0.665736, 0.341952, 0.192166, 0.094862, 0.079857])

numbers = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.75], np.float32)
for method, by_hand, wrong in (
    (lax.RoundingMethod.TO_NEAREST_EVEN, [-2, -2, 0, 0, 2, 2, 1], None),
    (lax.RoundingMethod.AWAY_FROM_ZERO, [-3, -2, -1, 1, 2, 3, 1], [-2, -2, 0, 0, 2, 2, 1]),
):
    compared(f"round, {method.name}", lambda x, method=method: lax.round(x, method), [numbers], by_hand, wrong)

# Queries and keys of zeros: the result is the mean of the values that are seen.
queries, keys = np.zeros((1, 4, 1, 1), np.float32), np.zeros((1, 3, 1, 1), np.float32)
values = np.array([1, 2, 6], np.float32).reshape(1, 3, 1, 1)


def attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v).ravel()


def shortened(q, k, v, lengths):
    return jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=lengths).ravel()


def both(q, k, v, q_lengths, lengths):
    attended = jax.nn.dot_product_attention(q, k, v, query_seq_lengths=q_lengths, key_value_seq_lengths=lengths)
    return attended.ravel()


two, four = np.array([2], np.int32), np.array([4], np.int32)
compared("attention, all keys", attention, [queries, keys, values], [3] * 4)
compared("attention, two keys", shortened, [queries, keys, values, two], [1.5] * 4, [1.5, 0, 0, 0])
compared("attention, four queries, two keys", both, [queries, keys, values, four, two], [1.5] * 4)
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
