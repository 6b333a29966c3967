#!/usr/bin/env bash
# Five programs that shorten ONNX models make one random draw of two, and say nothing.
#
# Two nodes that draw random numbers look alike: same operator, same input, no seed. They are not the same number, but
# common subexpressions are merged, and then the difference of two draws is 0, and their sum has twice the variance.
# onnxoptimizer and onnxsim merge all six random operators, onnxslim four; RandomNormal and RandomUniform it draws once
# for ever, and stores as constants. onnxscript's optimizer and ONNX Runtime itself spare the others, and merge
# Bernoulli; ONNX Runtime with its optimizations switched off does not. With a different seed for each, or as outputs of
# the graph in ONNX Runtime, they stay two.
#
# Version: onnxruntime 1.32.0, onnxscript 0.7.2 with onnx-ir 1.1.0, onnxsim 0.8.1, onnxoptimizer 0.4.2, onnxslim 0.1.98,
#   all as they come, on models that onnx 1.23.2 checks.
# Documented: ONNX, operators Bernoulli (opset 15), Multinomial (7), RandomNormal, RandomNormalLike, RandomUniform and
#   RandomUniformLike (1): each draws its numbers; the seed is optional, and without it, one is generated for each.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    onnxruntime==1.32.0 onnxscript==0.7.2 onnx-ir==1.1.0 onnxsim==0.8.1 onnxoptimizer==0.4.2 onnxslim==0.1.98 \
    onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 flatbuffers==25.12.19 \
    packaging==26.4 sympy==1.14.0 mpmath==1.3.0 colorama==0.4.6
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxoptimizer
import onnxruntime
import onnxscript.optimizer
import onnxsim
import onnxslim
from onnx.parser import parse_model

onnxruntime.set_default_logger_severity(3)
x = np.full((1, 1000), 0.5, np.float32)
changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def model(first, second):
    kind = "int32" if first.startswith("Multinomial") else "float"
    made = parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        draws (float[1,1000] x) => ({kind}[1,1000] y) {{ a = {first} b = {second} y = Sub(a, b) }}""")
    onnx.checker.check_model(made, full_check=True)
    return made


def seen(made, optimized=False):
    """What becomes of a - b: by two runs of one session, with ONNX Runtime's optimizations or without."""
    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {value.name: x for value in session.get_inputs()}
    runs = [session.run(None, feeds)[0] for _ in range(2)]
    if not any(run.any() for run in runs):
        return "one draw"
    return "constant" if np.array_equal(*runs) else "two draws"


programs = {
    "nothing": lambda made: seen(made),
    "onnxruntime": lambda made: seen(made, optimized=True),
    "onnxscript": lambda made: seen(onnxscript.optimizer.optimize(made)),
    "onnxsim": lambda made: seen(onnxsim.simplify(made)[0]),
    "onnxoptimizer": lambda made: seen(onnxoptimizer.optimize(made)),
    "onnxslim": lambda made: seen(onnxslim.slim(made)),
}
operators = {
    "Bernoulli": "Bernoulli(x)",
    "Multinomial": "Multinomial<sample_size = 1000>(x)",
    "RandomNormal": "RandomNormal<shape = [1, 1000]>()",
    "RandomNormalLike": "RandomNormalLike(x)",
    "RandomUniform": "RandomUniform<shape = [1, 1000]>()",
    "RandomUniformLike": "RandomUniformLike(x)",
}
print(", ".join(f"{name} {version(name)}" for name in [*programs, "onnx"][1:]))
for program, rewritten in programs.items():
    for operator, node in operators.items():
        expected = "two draws"
        if program in ("onnxsim", "onnxoptimizer", "onnxslim") or (program != "nothing" and operator == "Bernoulli"):
            expected = "one draw"
        if program == "onnxslim" and operator in ("RandomNormal", "RandomUniform"):
            expected = "constant"
        found = rewritten(model(node, node))
        claim(found == expected, f"{operator} less {operator}, after {program}: {found}")
    found = rewritten(model("RandomNormalLike<seed = 1.0>(x)", "RandomNormalLike<seed = 2.0>(x)"))
    claim(found == "two draws", f"RandomNormalLike less RandomNormalLike, seeds 1 and 2, after {program}: {found}")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
