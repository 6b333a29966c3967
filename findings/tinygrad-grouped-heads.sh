#!/usr/bin/env bash
# tinygrad 0.14.0: grouped-query Attention gives the query heads the wrong key and value heads.
#
# With 4 query heads and 2 key heads, queries 0 and 1 share the first key head, queries 2 and 3 the second. tinygrad
# repeats the heads as a whole, so that 0 and 2 share the first: half of the heads look at other keys. With one key
# head, or as many as query heads, the two are the same, and it is right. ONNX's own node tests attention_3d_gqa and
# attention_4d_gqa give other numbers. A language model that shares keys in groups runs, and what it says is wrong.
#
# Version: tinygrad 0.14.0 (2026-08), tinygrad.nn.onnx, on its own device PYTHON (no compiler needed), beside onnx
#   1.23.2 and onnxruntime 1.32.0.
# Documented: ONNX, operator Attention (opset 23), which points for groups to arXiv 2305.13245: neighbouring query
#   heads are divided into groups, and each shares one key head and one value head. The operator's function in ONNX
#   repeats each head next to itself.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    tinygrad==0.14.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 \
    typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4
DEV=PYTHON XDG_CACHE_HOME=$work venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
from tinygrad.nn.onnx import OnnxRunner

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(queries, keys, rank):
    """For each query head the number of the value head that it takes: by tinygrad, ONNX Runtime, the evaluator."""
    attributes = f"<q_num_heads = {queries}, kv_num_heads = {keys}>" if rank == 3 else ""
    sizes = [[1, 1, heads] if rank == 3 else [1, heads, 1, 1] for heads in (queries, keys)]
    made = parse_model(f"""<ir_version: 10, opset_import: ["": 23]>
        heads (float{sizes[0]} q, float{sizes[1]} k, float{sizes[1]} v) => (float{sizes[0]} y)
        {{ y = Attention{attributes}(q, k, v) }}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    inputs = {"q": np.zeros(sizes[0], np.float32), "k": np.zeros(sizes[1], np.float32)}
    inputs["v"] = np.arange(keys, dtype=np.float32).reshape(sizes[1])
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    answers = [OnnxRunner("model.onnx")(dict(inputs))["y"].numpy(), session.run(None, inputs)[0]]
    answers.append(ReferenceEvaluator(made).run(None, inputs)[0])
    return [answer.ravel().tolist() for answer in answers]


print(f"tinygrad {version('tinygrad')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
for rank in (3, 4):
    for queries, keys in ((4, 4), (4, 1), (4, 2), (6, 2), (6, 3)):
        mine, theirs, right = runs(queries, keys, rank)
        print(f"{rank} axes, {queries} query heads, {keys} key heads: tinygrad {mine}, ONNX Runtime {theirs}")
        claim(theirs == right == [head // (queries // keys) for head in range(queries)], "right: neighbours share")
        claim(mine == [head % keys for head in range(queries)], "tinygrad: one after the other")
        claim((mine == right) == (keys in (1, queries)), "the same" if keys in (1, queries) else "not the same")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
