#!/usr/bin/env bash
# IREE 3.13.0: Div and Mod of unsigned numbers, and TopK of UINT8, work as if they were signed.
#
# 200 / 100 of UINT8 is 0, and 130 / 5 is 231: the bits of -56 / 100 and of -126 / 5. The upper half of every unsigned
# type is read as negative numbers, by Div and Mod in 8, 16, 32 and 64 bits, and by TopK, which takes 3 for larger than
# 200. Nothing is said. Numbers of the lower half are right, and so are Max, Min, Add, Mul, Less, ReduceMax and Cast of
# UINT8, and Div and Mod of INT8. Images and quantized models of UINT8 have such numbers.
#
# Version: iree-base-compiler and iree-base-runtime 3.13.0 (2026-10), iree-import-onnx and the target llvm-cpu, beside
#   onnx 1.23.2 and onnxruntime 1.32.0.
# Documented: ONNX, operators Div (opset 14), Mod (13) and TopK (11): the types include UINT8, UINT16, UINT32 and
#   UINT64; the division of integers is truncated, and TopK gives the largest elements.
# Seen: 2026-11-29. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 \
    protobuf==7.36.2 ml_dtypes==0.6.0 typing_extensions==4.16.0 flatbuffers==25.12.19 packaging==26.4 sympy==1.14.0 \
    mpmath==1.3.0
venv/bin/python - <<'PY'
import subprocess
import sys
from importlib.metadata import version

import iree.compiler
import iree.runtime
import numpy as np
import onnx
import onnxruntime
from onnx.parser import parse_model

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def runs(text, *inputs):
    """What IREE and ONNX Runtime compute; IREE gives unsigned numbers back as signed ones, of the same bits."""
    made = parse_model(f"""<ir_version: 9, opset_import: ["": 17]> numbers {text}""")
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, "model.onnx")
    importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx"]
    subprocess.run([*importer, "model.onnx", "-o", "model.mlir"], check=True)
    built = iree.compiler.compile_file("model.mlir", target_backends=["llvm-cpu"], input_type="onnx",
                                       extra_args=["--iree-llvmcpu-target-cpu=generic"])
    context = iree.runtime.SystemContext(config=iree.runtime.Config("local-sync"))
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, built))
    results = context.modules.module["numbers"](*inputs)
    results = results if isinstance(results, tuple) else (results,)
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    right = session.run(None, dict(zip((value.name for value in made.graph.input), inputs, strict=True)))
    return [got.to_host().view(want.dtype) for got, want in zip(results, right, strict=True)], right


def signed(operator, a, b):
    """The operator on the same bits, read as signed numbers; back to unsigned ones."""
    x, y = (values.view(f"i{values.itemsize}").astype(object) for values in (a, b))
    quotient = [abs(n) // abs(d) * (1 if (n < 0) == (d < 0) else -1) for n, d in zip(x, y, strict=True)]
    result = quotient if operator == "Div" else [n % d for n, d in zip(x, y, strict=True)]
    return np.array(result).astype(f"i{a.itemsize}").view(a.dtype)


print(f"IREE {version('iree-base-compiler')}, onnxruntime {version('onnxruntime')}, onnx {version('onnx')}")
for bits in (8, 16, 32, 64):
    kind, top = f"uint{bits}", 2**bits
    a = np.array([top - 56, top - 126, top - 1, 100], kind)
    b = np.array([100, 5, 16, 7], kind)
    for operator in ("Div", "Mod"):
        (got,), (want,) = runs(f"({kind}[4] a, {kind}[4] b) => ({kind}[4] y) {{ y = {operator}(a, b) }}", a, b)
        print(f"{operator} of {kind}, {a.tolist()} by {b.tolist()}: IREE {got.tolist()}, ONNX {want.tolist()}")
        claim(np.array_equal(want, a // b if operator == "Div" else a % b), "ONNX Runtime: right")
        claim(np.array_equal(got, signed(operator, a, b)), "IREE: signed")
        claim(got[3] == want[3] and not np.array_equal(got, want), "right for the lower half only")
a, b = np.array([200, 3, 130, 255], np.uint8), np.array([100, 2, 5, 16], np.uint8)
got, want = runs("(uint8[4] a) => (uint8[2] y, int64[2] i) <int64[1] k = {2}> { y, i = TopK(a, k) }", a)
print(f"TopK, two of {a.tolist()}: IREE {got[0].tolist()}, ONNX Runtime {want[0].tolist()}")
claim(want[0].tolist() == [255, 200] and got[0].tolist() == [3, 255], "IREE: 3 and -1")
for operator in ("Max", "Min", "Add", "Mul"):
    (got,), (want,) = runs(f"(uint8[4] a, uint8[4] b) => (uint8[4] y) {{ y = {operator}(a, b) }}", a, b)
    claim(np.array_equal(got, want), f"{operator} of uint8: right")
for node, kind, size in (("ReduceMax(a)", "uint8", 1), ("Cast<to = 1>(a)", "float", 4)):
    (got,), (want,) = runs(f"(uint8[4] a) => ({kind}[{size}] y) {{ y = {node} }}", a)
    claim(np.array_equal(got, want), f"{node} of uint8: right")
(got,), (want,) = runs("(uint8[4] a, uint8[4] b) => (bool[4] y) { y = Less(b, a) }", a, b)
claim(np.array_equal(got, want) and want.all(), "Less of uint8: right")
a, b = np.array([-56, 126, -1, 100], np.int8), np.array([100, 5, 16, -7], np.int8)
for operator in ("Div", "Mod"):
    (got,), (want,) = runs(f"(int8[4] a, int8[4] b) => (int8[4] y) {{ y = {operator}(a, b) }}", a, b)
    claim(np.array_equal(got, want), f"{operator} of int8: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."
