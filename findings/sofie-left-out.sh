#!/usr/bin/env bash
# SOFIE 0.1.0 writes C++ for ONNX models, and leaves out parts of their operators without a word.
#
# MaxPool with dilations takes the largest of all elements between the first and the last of a window, as if the window
# had no gaps. Gemm counts beta as 1. ReduceSum without axes and with noop_with_empty_axes = 1 adds up everything.
# check_model says that all of it is supported. Without these attributes the results are right, and Gemm obeys alpha.
#
# Version: sofie 0.1.0 (2026-10), the Python package of CERN's SOFIE, beside onnx 1.23.2, whose evaluator computes what
#   the standard says.
# Documented: ONNX, operators MaxPool (opset 12): dilations are the steps between the elements of a window; Gemm (13):
#   alpha * A * B + beta * C; ReduceSum (13): with noop_with_empty_axes = 1 and no axes, the output is the input.
# Seen: 2026-11-30. Needs Python 3.11 or newer, and g++ for the C++ that the package writes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    sofie==0.1.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0

# Reads no file but the weights: the input comes as arguments. SOFIE's code calls BLAS for a Gemm, here a plain one.
cat > main.cpp <<'CPP'
#include <cstdlib>
#include <iostream>
#include "model.hxx"

extern "C" void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
                       const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
                       const int *ldc)
{
   for (int j = 0; j < *n; j++)
      for (int i = 0; i < *m; i++) {
         float sum = 0;
         for (int l = 0; l < *k; l++)
            sum += (*ta == 'n' ? a[i + l * *lda] : a[l + i * *lda]) * (*tb == 'n' ? b[l + j * *ldb] : b[j + l * *ldb]);
         c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
      }
}

int main(int count, char **arguments)
{
   std::vector<float> input;
   for (int i = 1; i < count; i++)
      input.push_back(std::atof(arguments[i]));
   SOFIE_model::Session session("model.dat");
   for (float number : session.infer(input.data()))
      std::cout << number << "\n";
}
CPP
venv/bin/python - <<'PY'
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import onnx
import sofie
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def both(sizes, weights, call, x):
    """The numbers of SOFIE's program for a model, and those of the evaluator of the standard."""
    made = parse_model(f"""<ir_version: 9, opset_import: ["": 19]>
        model (float[{sizes}] x) => (float[{sizes.replace("5", "n")}] y) <{weights}> {{ y = {call} }}""")
    onnx.checker.check_model(made, full_check=True)
    shaped = np.array(x, np.float32).reshape([int(size) for size in sizes.split(",")])
    right = ReferenceEvaluator(made).run(None, {"x": shaped})[0]
    del made.graph.output[:]
    made.graph.output.append(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, right.shape))
    onnx.save(made, "model.onnx")
    claim(sofie.onnx.check_model("model.onnx"), "check_model: supported")
    parsed = sofie.onnx.parse("model.onnx")
    parsed.generate()
    parsed.output_generated("model.hxx")
    subprocess.run(["g++", "-std=c++20", "-w", "-o", "program", "main.cpp"], check=True)
    printed = subprocess.run(["./program", *map(str, x)], check=True, capture_output=True, text=True).stdout
    return [float(line) for line in printed.split()], right.ravel().tolist()


print(f"sofie {version('sofie')}, onnx {version('onnx')}")
row, pair, gemm = [1, 9, 2, 8, 3], [1, 2], "float[2,2] b = {1, 0, 0, 1}, float[2] c = {10, 20}"
cases = (
    ("1,1,1,5", "", "MaxPool<kernel_shape = [1, 2]>(x)", row, [9, 9, 8, 8], None),
    ("1,1,1,5", "", "MaxPool<kernel_shape = [1, 2], dilations = [1, 2]>(x)", row, [2, 9, 3], [9, 9, 8]),
    ("1,2", gemm, "Gemm<alpha = 0.5>(x, b, c)", pair, [10.5, 21], None),
    ("1,2", gemm, "Gemm<beta = 0.5>(x, b, c)", pair, [6, 12], [11, 22]),
    ("1,2", "", "ReduceSum<noop_with_empty_axes = 1>(x)", pair, [1, 2], [3]),
)
for sizes, weights, call, x, by_hand, expected in cases:
    got, right = both(sizes, weights, call, x)
    print(f"{call} of {x}: SOFIE {got}, onnx {right}, by hand {by_hand}")
    claim(np.allclose(right, by_hand), "ONNX: as by hand")
    claim(got == (expected or by_hand), f"SOFIE: {expected}" if expected else "SOFIE: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
