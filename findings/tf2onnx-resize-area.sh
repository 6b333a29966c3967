#!/usr/bin/env bash
# tf2onnx 1.17.0 exports two of TensorFlow's ways to resize an image as other ones.
#
# The method "area" averages the pixels that an output pixel covers. It is exported as Resize in mode nearest, which takes
# one of them. The bicubic resize of TensorFlow 1, without half pixels, has the coefficient -0.75. It is exported with
# -0.5, which is right only for the one with half pixels. The export reports no problem, and the model is valid.
#
# Version: tf2onnx 1.17.0 with TensorFlow 2.21.0 (Keras 3.15.1), beside onnx 1.23.2.
# Documented: TensorFlow, tf.image.resize, of the method AREA: it averages by area. TensorFlow, resize_bicubic_op.cc, has
# -0.75 where half_pixel_centers is false. ONNX, operator Resize-18.
# Seen: 2026-11-30. Needs Python 3.11.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES=
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    tensorflow-cpu==2.21.0 tf2onnx==1.17.0 onnx==1.23.2 keras==3.15.1 numpy==2.4.6 protobuf==7.36.2 absl-py==2.5.1 \
    astunparse==1.6.3 certifi==2026.10.19.post1 charset-normalizer==3.5.3 flatbuffers==25.12.19 gast==0.7.0 \
    google-pasta==0.2.0 grpcio==1.85.3 h5py==3.14.0 idna==3.20 libclang==18.1.1 markdown-it-py==4.3.0 mdurl==0.1.2 \
    ml_dtypes==0.6.0 namex==0.1.0 opt_einsum==3.4.0 optree==0.20.0 packaging==26.4 Pygments==2.21.0 requests==2.34.2 \
    rich==15.0.0 six==1.17.0 termcolor==3.3.0 typing_extensions==4.16.0 urllib3==2.8.0 wrapt==2.5.2
venv/bin/python - 2>errors <<'PY' || { tail -n 20 errors; exit 1; }
import sys

import numpy as np
import onnx
import tensorflow as tf
import tf2onnx
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def both(function, *inputs):
    """Return what TensorFlow computes, what the exported model does in ONNX's reference evaluator, and its nodes."""
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in inputs]
    function = tf.autograph.experimental.do_not_convert(function)
    model, _ = tf2onnx.convert.from_function(tf.function(function, input_signature=specs), specs, opset=18)
    onnx.checker.check_model(model, full_check=True)
    names = [value.name for value in model.graph.input]
    found = ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))[0]
    return np.asarray(function(*map(tf.constant, inputs))), found, {node.op_type: node for node in model.graph.node}


print(f"tf2onnx {tf2onnx.__version__}, TensorFlow {tf.__version__}, onnx {onnx.__version__}")
squares = np.arange(6, dtype=np.float32).reshape(1, 1, 6, 1) ** 2

right, found, nodes = both(lambda x: tf.image.resize(x, (1, 4), method="area"), squares)
print(f"area, 6 pixels to 4: TensorFlow {right.ravel().round(3).tolist()}, exported {found.ravel().tolist()}")
averages = [1 / 3, 3, 34 / 3, 22]  # of 1.5 pixels each: (0 + 1 / 2) / 1.5, then (1 / 2 + 4) / 1.5, and so on
claim(np.allclose(right, np.reshape(averages, right.shape), rtol=1e-4), "TensorFlow averages 1.5 pixels")
claim(found.ravel().tolist() == [0, 1, 4, 16], "the exported model takes one pixel for each")
mode = {one.name: onnx.helper.get_attribute_value(one) for one in nodes["Resize"].attribute}["mode"]
claim(mode == b"nearest", "it has a Resize in mode nearest")

right, found, nodes = both(lambda x: tf.compat.v1.image.resize_bicubic(x, (1, 12)), squares)
coefficient = {one.name: onnx.helper.get_attribute_value(one) for one in nodes["Resize"].attribute}["cubic_coeff_a"]
print(f"bicubic, 6 pixels to 12: TensorFlow {right.ravel().tolist()}")
print(f"                          exported {found.ravel().tolist()}")
middle = (-3 * 0 + 19 * 1 + 19 * 4 - 3 * 9) / 32  # half way between two pixels, with a coefficient of -0.75
claim(abs(right.ravel()[3] - middle) < 1e-3, "TensorFlow's coefficient is -0.75")
claim(coefficient == -0.5 and abs(found.ravel()[3] - 2.25) < 1e-3, "the exported one is -0.5, which gives 2.25 there")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
