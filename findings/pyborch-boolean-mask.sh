#!/usr/bin/env bash
# pyborch 1.14.1 hides the keys that a boolean attention mask shows, and shows the others.
#
# The package gives PyTorch's functions, "every value held to real PyTorch's". In scaled_dot_product_attention, True
# in attn_mask means that the key takes part. pyborch takes it as MultiheadAttention's attn_mask, where True hides the
# key. A mask that shows one key gives the average of the others, and a mask that shows all keys gives NaN. The same
# mask as numbers to add, 0 and -inf, is right, and so is is_causal.
#
# Version: pyborch 1.14.1 (2026-09), its core on NumPy (import borch), beside onnx 1.23.2, whose operator has the same
#   meaning of the mask.
# Documented: PyTorch 2.13, torch.nn.functional.scaled_dot_product_attention: "A boolean mask where a value of True
#   indicates that the element should take part in attention"; ONNX, operator Attention (opset 23), attn_mask: likewise.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    pyborch==1.14.1 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0
venv/bin/python -W ignore - <<'PY'
import sys
from importlib.metadata import version

import borch
import numpy as np
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

# One query of zeros: all three keys have the same weight, so the result is the average of the values that are seen.
query = np.zeros((1, 1, 1, 2), np.float32)
keys = np.ones((1, 1, 3, 2), np.float32)
values = np.array([1, 10, 100], np.float32).reshape(1, 1, 3, 1)
evaluator = ReferenceEvaluator(parse_model("""<ir_version: 11, opset_import: ["": 23]>
    attention (float[1,1,1,2] q, float[1,1,3,2] k, float[1,1,3,1] v, bool[1,3] mask) => (float[1,1,1,1] y)
    { y = Attention(q, k, v, mask) }"""))


def pyborch(mask=None, **options):
    tensors = (borch.tensor(array) for array in (query, keys, values))
    mask = None if mask is None else borch.tensor(mask)
    return float(borch.nn.functional.scaled_dot_product_attention(*tensors, attn_mask=mask, **options).numpy().item())


changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


print(f"pyborch {version('pyborch')}, onnx {version('onnx')}; values 1, 10, 100")
claim(abs(pyborch() - 37) < 1e-4, "without a mask: the average of all, 37")
claim(abs(pyborch(is_causal=True) - 1) < 1e-4, "is_causal: the first query sees the first key only")
cases = {(True, False, False): (1, 55), (False, True, False): (10, 50.5), (True, True, False): (5.5, 100),
         (True, True, True): (37, np.nan)}
for seen, (by_hand, expected) in cases.items():
    mask = np.array([seen])
    onnx = evaluator.run(None, {"q": query, "k": keys, "v": values, "mask": mask})[0].item()
    numbers = pyborch(np.where(mask, 0, -np.inf).astype(np.float32))
    got = pyborch(mask)
    print(f"{seen}: pyborch {got:.4g}, as numbers {numbers:.4g}, onnx {onnx:.4g}, by hand {by_hand}")
    claim(np.allclose([onnx, numbers], by_hand), "the evaluator, and pyborch's mask as numbers, see what is True")
    claim(np.isclose(got, expected, equal_nan=True), "pyborch's boolean mask sees what is False")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
