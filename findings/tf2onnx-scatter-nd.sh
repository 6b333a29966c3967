#!/usr/bin/env bash
# tf2onnx 1.17.0 exports tf.scatter_nd as a ScatterND that keeps one of several updates.
#
# TensorFlow adds up the updates with the same index. The exported ScatterND has no reduction, so that one of them is
# left. Which one, ONNX does not say: its indices must not repeat. unsorted_segment_max gives the lowest finite number for
# a segment without elements, and the exported model -infinity.
#
# Version: tf2onnx 1.17.0 with TensorFlow 2.21.0, beside onnx 1.23.2.
# Documented: TensorFlow, tf.scatter_nd: updates of one index are summed; tf.math.unsorted_segment_max: an empty
# segment has the lowest value of the type. ONNX, operator ScatterND-18.
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
places, updates = np.array([[1], [1], [3]], np.int32), np.array([1, 2, 4], np.float32)
right, found, nodes = both(lambda i, u: tf.scatter_nd(i, u, [4]), places, updates)
print(f"updates 1 and 2 at 1, and 4 at 3: TensorFlow {right.tolist()}, exported {found.tolist()}")
claim(right.tolist() == [0, 3, 0, 4], "TensorFlow adds them up")
claim(found[1] in (1, 2) and found[[0, 2, 3]].tolist() == [0, 0, 4], "the exported model keeps one")
reduction = [one.name for one in nodes["ScatterND"].attribute if one.name == "reduction" and one.s != b"none"]
claim(not reduction, "its ScatterND has no reduction")

right, found, _ = both(lambda u, i: tf.math.unsorted_segment_max(u, i[:, 0], 5), updates, places)
print(f"largest of five segments, two with elements: TensorFlow {right.tolist()}, exported {found.tolist()}")
lowest = float(np.finfo(np.float32).min)
claim(right.tolist() == [lowest, 2, lowest, 4, lowest], "without elements it is the lowest number in TensorFlow")
claim(found.tolist() == [-np.inf, 2, -np.inf, 4, -np.inf], "and -infinity in the exported model")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
