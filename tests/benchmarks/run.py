"""Measures what dmlcheck costs, each time as a ratio to the least that the same job could cost on the same machine.

    python tests/benchmarks/run.py [NAME ...] [--rounds N] [--only NAME]

Both sides of a ratio are measured in turn, and the best time of each counts, so that what else the machine does matters
little; two processes need two idle cores all the same. Goals are those of the project: start-up 1.45, a run 1.3, two
processes 0.75 of the time of one, two workers of dask 0.7 (1 where starting them takes as long as the cases), an ONNX
model 5, a sum 3, a GEMM 1.6, a convolution 2, a pooling 2.5, a normalization 3, judging a GEMM or a convolution 3 times
the reference alone, a resampling 4, moved elements 2, a gather 6, the first of sorted rows 2, an LSTM 3, an attention
3, an element-wise operator 4, and 3 times the memory of the same NumPy expression in FLOAT32.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILES, MORE_FILES, CASES_A_FILE = 40, 200, 100
SUM_ELEMENTS = 2**26
ELEMENTS = 2**24
SIDE = 2**12  # of a square matrix of as many

DESC = """\
operator: DML_OPERATOR_ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [0]
  AxisDirection: INCREASING
"""
CASE = """\
  - name: sum-{number}
    desc:
      Function: SUM
      InputTensor: {{DataType: FLOAT32, Sizes: [3, 3]}}
      OutputTensor: {{DataType: FLOAT32, Sizes: [1, 3]}}
      Axes: [0]
    inputs: {{InputTensor: [[1, 2, 3], [3, 0, 4], [2, 4, {number}]]}}
    outputs: {{OutputTensor: [[6, 6, {total}]]}}
"""
LOAD_ALL = """\
import glob, sys, yaml
for path in sorted(glob.glob(sys.argv[1] + "/*.yaml")):
    with open(path, "rb") as file:
        yaml.load(file, yaml.CSafeLoader)
"""

Job = Callable[[], object]


def start_up(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck validate one.yaml`, and importing the two libraries that every call needs."""
    path = folder / "one.yaml"
    path.write_text(DESC, encoding="utf-8")
    return command(dmlcheck(), "validate", str(path)), command(sys.executable, "-c", "import click, yaml")


def run(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run` of 4,000 small cases in 40 files, and loading the same files with yaml.CSafeLoader."""
    write_cases(folder, FILES)
    return command(dmlcheck(), "run", str(folder), *IN_ONE), command(sys.executable, "-c", LOAD_ALL, str(folder))


def jobs(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run -j 2` of 20,000 small cases in 200 files, and the same in one process."""
    write_cases(folder, MORE_FILES)
    return command(dmlcheck(), "run", str(folder), "-j", "2"), command(dmlcheck(), "run", str(folder), *IN_ONE)


def dask(_: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run` of the shipped cases on two workers of dask, started for it, and in one process."""
    return command(dmlcheck(), "run", *ON_DASK), command(dmlcheck(), "run", *IN_ONE)


def dask_tiny(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run` of 20,000 cases of three elements on two workers of dask, and in one process.

    The import of dask and the start of the workers take about as long as half of these cases.
    """
    write_cases(folder, MORE_FILES)
    return command(dmlcheck(), "run", str(folder), *ON_DASK), command(dmlcheck(), "run", str(folder), *IN_ONE)


def dask_running(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run` of the same cases on two workers of dask that were there before, and in one process."""
    from distributed import LocalCluster

    write_cases(folder, MORE_FILES)
    workers = OPEN.enter_context(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
    words = (dmlcheck(), "run", str(folder))
    return command(*words, "--executor", f"dask:{workers.scheduler_address}"), command(*words, *IN_ONE)


def dask_millisecond(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run` of the same 20,000 cases, by an implementation that takes 1 ms for each."""
    write_cases(folder, MORE_FILES)
    (folder / "busy.py").write_text(BUSY, encoding="utf-8")
    words = (dmlcheck(), "run", ".", "--implementation", "python:busy:Busy")
    return command(*words, *ON_DASK, folder=folder), command(*words, folder=folder)


OPEN = contextlib.ExitStack()  # what a benchmark needs until it ends
IN_ONE = ("-j", "1")  # process
ON_DASK = ("--executor", "dask", "-j", "2")
BUSY = """\
import time

class Busy:
    name = "busy"

    def unsupported(self, desc):
        return None

    def run(self, desc, inputs):
        end = time.perf_counter() + 0.001
        while time.perf_counter() < end:
            pass
        return {"OutputTensor": inputs["InputTensor"].sum(axis=0, keepdims=True)}
"""


def write_cases(folder: Path, files: int) -> None:
    """Write files of 100 small cases each."""
    head = "operator: DML_OPERATOR_REDUCE\nsource: by hand\ncases:\n"
    body = "".join(CASE.format(number=number, total=7 + number) for number in range(CASES_A_FILE))
    for number in range(files):
        (folder / f"{number:03}.yaml").write_text(head + body, encoding="utf-8")


def model(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck validate` of an ONNX model of 2,000 nodes, and importing what reads it."""
    from onnx import TensorProto, helper

    types = ("Relu", "Sigmoid", "Exp", "Softmax", "Neg", "Tanh", "Abs", "Floor", "Erf", "Transpose")
    nodes = [helper.make_node(types[index % 10], [f"x{index}"], [f"x{index + 1}"]) for index in range(2000)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in ("x0", "x2000")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    return command(dmlcheck(), "validate", str(path)), command(sys.executable, "-c", "import numpy, onnx")


def sum_(_: Path) -> tuple[Job, Job]:
    """Return SUM over 2^26 FLOAT32, and numpy's sum of the same in float64."""
    import numpy as np

    import dmlcheck as library

    values = np.random.default_rng(7).standard_normal(SUM_ELEMENTS, dtype=np.float32)
    desc = {
        "Function": "SUM",
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [SUM_ELEMENTS]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1]},
        "Axes": [0],
    }
    return lambda: library.evaluate("REDUCE", desc, {"InputTensor": values}), lambda: values.sum(dtype=np.float64)


def gemm(_: Path) -> tuple[Job, Job]:
    """Return GEMM of two FLOAT32 matrices of 1024 x 1024, and NumPy's product of the same in float64."""
    import numpy as np

    import dmlcheck as library

    generator = np.random.default_rng(7)
    a, b = (generator.standard_normal((1024, 1024), dtype=np.float32) for _ in "ab")
    tensor = {"DataType": "FLOAT32", "Sizes": [1024, 1024]}
    desc = {
        **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), tensor),
        "TransA": "NONE",
        "TransB": "NONE",
        "Alpha": 1,
        "Beta": 0,
    }
    wide = [x.astype(np.float64) for x in (a, b)]
    return lambda: library.evaluate("GEMM", desc, {"ATensor": a, "BTensor": b}), lambda: wide[0] @ wide[1]


def normalization(_: Path) -> tuple[Job, Job]:
    """Return MEAN_VARIANCE_NORMALIZATION1 of 64 channels of 128 x 128 FLOAT32, and the formula in NumPy's float64."""
    import numpy as np

    import dmlcheck as library

    generator = np.random.default_rng(7)
    sizes, channels = (1, 64, 128, 128), (1, 64, 1, 1)
    x, scale, bias = (generator.standard_normal(of, dtype=np.float32) for of in (sizes, channels, channels))
    inputs = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias}
    tensors = {name: {"DataType": "FLOAT32", "Sizes": list(array.shape)} for name, array in inputs.items()}
    output = {"OutputTensor": tensors["InputTensor"]}
    desc = {**tensors, **output, "Axes": [2, 3], "NormalizeVariance": 1, "Epsilon": 1e-5}

    def plain() -> object:
        wide = x.astype(np.float64)
        distance = wide - wide.mean(axis=(2, 3), keepdims=True)
        variance = np.square(distance).mean(axis=(2, 3), keepdims=True)
        return (scale * distance / np.sqrt(variance + 1e-5) + bias).astype(np.float32)

    return lambda: library.evaluate("MEAN_VARIANCE_NORMALIZATION1", desc, inputs), plain


def convolution(_: Path) -> tuple[Job, Job]:
    """Return a 3x3 CONVOLUTION of 64 to 64 channels of 56x56 FLOAT32, and sliding windows with einsum in float64."""
    import numpy as np

    import dmlcheck as library

    generator = np.random.default_rng(7)
    x, kernel = (generator.standard_normal(sizes, dtype=np.float32) for sizes in ((1, 64, 56, 56), (64, 64, 3, 3)))
    tensors = {"InputTensor": x, "FilterTensor": kernel}
    ones, zeros = [1, 1], [0, 0]
    desc = {
        **{name: {"DataType": "FLOAT32", "Sizes": list(array.shape)} for name, array in tensors.items()},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 64, 56, 56]},
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "GroupCount": 1,
        "OutputPadding": zeros,
        **dict.fromkeys(("Strides", "Dilations", "StartPadding", "EndPadding"), ones),
    }
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    filter_ = kernel.astype(np.float64)

    def plain() -> object:
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        return np.einsum("nchwij,kcij->nkhw", windows, filter_, optimize=True)

    return lambda: library.evaluate("CONVOLUTION", desc, tensors), plain


def attention(_: Path) -> tuple[Job, Job]:
    """Return MULTIHEAD_ATTENTION of 8 heads of 512 queries and keys of size 64, and its formula in NumPy's float64."""
    import numpy as np

    import dmlcheck as library

    generator = np.random.default_rng(7)
    names = ("QueryTensor", "KeyTensor", "ValueTensor")
    inputs = {name: generator.standard_normal((1, 512, 512), dtype=np.float32) for name in names}
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 512, 512]}
    fields = {"Scale": 0.125, "MaskFilterValue": -10000, "HeadCount": 8, "MaskType": "NONE"}
    desc = {**dict.fromkeys((*names, "OutputTensor"), tensor), **fields}

    def plain() -> object:
        q, k, v = (x.astype(np.float64).reshape(1, 512, 8, 64).transpose(0, 2, 1, 3) for x in inputs.values())
        scores = q @ k.swapaxes(-1, -2) * 0.125
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        found = weights / weights.sum(axis=-1, keepdims=True) @ v
        return found.transpose(0, 2, 1, 3).reshape(1, 512, 512).astype(np.float32)

    return lambda: library.evaluate("MULTIHEAD_ATTENTION", desc, inputs), plain


def judged(operator: str, desc: dict[str, Any], inputs: dict[str, Any], found: Any) -> tuple[Job, Job]:
    """Return judging what NumPy's FLOAT32 gives for an operator, and what the reference alone takes of that."""
    from dmlcheck import validation
    from dmlcheck.cases.prepare import Prepared
    from dmlcheck.cases.records import Case
    from dmlcheck.reference import engine
    from dmlcheck.running.verdict import Limits, judge
    from dmlcheck.specs.names import NEWEST_LEVEL

    tensors = {name: {"DataType": "FLOAT32", "Sizes": list(array.shape)} for name, array in inputs.items()}
    output = {"DataType": "FLOAT32", "Sizes": list(found.shape)}
    valid, _ = validation.validate(operator, {**tensors, "OutputTensor": output, **desc}, NEWEST_LEVEL)
    if valid is None:
        raise ValueError(operator)
    case, limits = Case(operator, operator, "", operator, None, {}, inputs), Limits()
    prepared, actual = Prepared(valid, inputs), {"OutputTensor": found}
    return lambda: judge(case, prepared, actual, limits), lambda: engine.evaluate(valid, inputs)


def judged_gemm(_: Path) -> tuple[Job, Job]:
    """Return judging a GEMM of 768 x 768 and 768 x 3072 FLOAT32, and computing it."""
    import numpy as np

    generator = np.random.default_rng(7)
    a, b = (generator.standard_normal(sizes, dtype=np.float32) for sizes in ((1, 1, 768, 768), (1, 1, 768, 3072)))
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
    return judged("GEMM", fields, {"ATensor": a, "BTensor": b}, a @ b)


def judged_convolution(_: Path) -> tuple[Job, Job]:
    """Return judging a 3x3 CONVOLUTION of 64 to 64 channels of 56x56 FLOAT32, and computing it."""
    import numpy as np

    generator = np.random.default_rng(7)
    x, kernel = (generator.standard_normal(sizes, dtype=np.float32) for sizes in ((1, 64, 56, 56), (64, 64, 3, 3)))
    fields = {
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "GroupCount": 1,
        "OutputPadding": [0, 0],
        **{name: [1, 1] for name in ("Strides", "Dilations", "StartPadding", "EndPadding")},
    }
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[0]
    found = kernel.reshape(64, -1) @ windows.transpose(0, 3, 4, 1, 2).reshape(576, -1)
    return judged("CONVOLUTION", fields, {"InputTensor": x, "FilterTensor": kernel}, found.reshape(1, 64, 56, 56))


def pooling(_: Path) -> tuple[Job, Job]:
    """Return AVERAGE_POOLING of windows of 3 x 3 at every second place of 64 x 112 x 112, and NumPy's mean of them."""
    import numpy as np

    import dmlcheck as library

    x = np.random.default_rng(7).standard_normal((1, 64, 112, 112), dtype=np.float32)
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 64, 112, 112]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 64, 55, 55]},
        "Strides": [2, 2],
        "WindowSize": [3, 3],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "IncludePadding": 0,
    }

    def plain() -> object:
        view = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (2, 3))
        return view[:, :, ::2, ::2].mean(axis=(4, 5)).astype(np.float32)

    return lambda: library.evaluate("AVERAGE_POOLING", desc, {"InputTensor": x}), plain


def padding(_: Path) -> tuple[Job, Job]:
    """Return PADDING1 of 2^24 FLOAT32 with REFLECTION, 3 and 5 elements at each side, and numpy.pad of the same."""
    import numpy as np

    x = matrix()
    fields = {
        "PaddingMode": "REFLECTION",
        "PaddingValueDataType": "FLOAT32",
        "PaddingValue": 0,
        "StartPadding": [3, 5],
        "EndPadding": [3, 5],
    }
    return moving("PADDING1", x, (SIDE + 6, SIDE + 10), fields), lambda: np.pad(x, ((3, 3), (5, 5)), "reflect")


def slice_(_: Path) -> tuple[Job, Job]:
    """Return SLICE1 of every element of 2^24 FLOAT32, the last one first in both dimensions, and NumPy's copy of it."""
    x = matrix()
    fields = {"InputWindowOffsets": [0, 0], "InputWindowSizes": [SIDE, SIDE], "InputWindowStrides": [-1, -1]}
    return moving("SLICE1", x, (SIDE, SIDE), fields), x[::-1, ::-1].copy


def join(_: Path) -> tuple[Job, Job]:
    """Return JOIN of 8 parts to 2^24 FLOAT32 along the last axis, and numpy.concatenate of them."""
    import numpy as np

    import dmlcheck as library

    parts = [np.ascontiguousarray(part) for part in np.split(matrix(), 8, 1)]
    desc = {
        "InputTensors": [{"DataType": "FLOAT32", "Sizes": [SIDE, SIDE // 8]}] * 8,
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [SIDE, SIDE]},
        "Axis": 1,
    }
    return lambda: library.evaluate("JOIN", desc, {"InputTensors": parts}), lambda: np.concatenate(parts, 1)


def tile(_: Path) -> tuple[Job, Job]:
    """Return TILE of 1024 x 1024 FLOAT32, 4 times in both dimensions, and numpy.tile of the same."""
    import numpy as np

    x = np.ascontiguousarray(matrix()[: SIDE // 4, : SIDE // 4])
    return moving("TILE", x, (SIDE, SIDE), {"Repeats": [4, 4]}), lambda: np.tile(x, (4, 4))


def matrix() -> Any:
    """Return a square matrix of 2^24 FLOAT32."""
    import numpy as np

    return np.random.default_rng(7).standard_normal((SIDE, SIDE), dtype=np.float32)


def moving(operator: str, x: Any, sizes: tuple[int, int], fields: dict[str, Any]) -> Job:
    """Return an operator that moves the elements of one FLOAT32 matrix into another."""
    import dmlcheck as library

    tensors = {"InputTensor": x.shape, "OutputTensor": sizes}
    desc = {name: {"DataType": "FLOAT32", "Sizes": list(of)} for name, of in tensors.items()}
    return lambda: library.evaluate(operator, desc | fields, {"InputTensor": x})


def resample(_: Path) -> tuple[Job, Job]:
    """Return RESAMPLE of 16 images of 128 x 128 FLOAT32 to twice the size, LINEAR, and NumPy's of rows and columns."""
    import numpy as np

    import dmlcheck as library

    x = np.random.default_rng(7).standard_normal((1, 16, 128, 128), dtype=np.float32)
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 128, 128]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 256, 256]},
        "InterpolationMode": "LINEAR",
        "Scales": [1, 1, 2, 2],
    }

    def plain() -> object:
        at = (np.arange(256) + 0.5) / 2 - 0.5
        low = np.floor(at).astype(int)
        part = at - low
        first, last = np.clip(low, 0, 127), np.clip(low + 1, 0, 127)
        wide = x.astype(np.float64)
        rows = wide[:, :, first] * (1 - part)[:, None] + wide[:, :, last] * part[:, None]
        return (rows[..., first] * (1 - part) + rows[..., last] * part).astype(np.float32)

    return lambda: library.evaluate("RESAMPLE", desc, {"InputTensor": x}), plain


def gather(_: Path) -> tuple[Job, Job]:
    """Return GATHER of 20,000 rows of 64 FLOAT32 of 50,000, and numpy.take of the same."""
    import numpy as np

    import dmlcheck as library

    generator = np.random.default_rng(7)
    x = generator.standard_normal((50_000, 64), dtype=np.float32)
    indices = generator.integers(0, len(x), (1, 20_000), np.uint32)
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [50_000, 64]},
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 20_000]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [20_000, 64]},
        "Axis": 0,
        "IndexDimensions": 1,
    }
    inputs = {"InputTensor": x, "IndicesTensor": indices}
    return lambda: library.evaluate("GATHER", desc, inputs), lambda: np.take(x, indices[0], axis=0)


def top(_: Path) -> tuple[Job, Job]:
    """Return TOP_K1 of 8 of 10,000 FLOAT32 in 256 rows, the largest first, and a stable numpy.argsort of the rows."""
    import numpy as np

    import dmlcheck as library

    x = np.random.default_rng(7).standard_normal((256, 10_000), dtype=np.float32)
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [256, 10_000]},
        "OutputValueTensor": {"DataType": "FLOAT32", "Sizes": [256, 8]},
        "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [256, 8]},
        "Axis": 1,
        "K": 8,
        "AxisDirection": "DECREASING",
    }
    return lambda: library.evaluate("TOP_K1", desc, {"InputTensor": x}), lambda: np.argsort(x, axis=1, kind="stable")


def lstm(_: Path) -> tuple[Job, Job]:
    """Return an LSTM of 64 steps, a batch of 16, 128 inputs and 128 hidden elements, and its equations in float64."""
    import numpy as np

    import dmlcheck as library

    generator = np.random.default_rng(7)
    shapes = {
        "Input": (1, 64, 16, 128),
        "Weight": (1, 1, 512, 128),
        "Recurrence": (1, 1, 512, 128),
        "Bias": (1, 1, 1, 1024),
    }
    tensors = {f"{name}Tensor": generator.normal(size=of).astype(np.float32) * 0.1 for name, of in shapes.items()}
    sizes = {**{name: x.shape for name, x in tensors.items()}, "OutputSequenceTensor": (64, 1, 16, 128)}
    desc = {
        **{name: {"DataType": "FLOAT32", "Sizes": list(of)} for name, of in sizes.items()},
        "ActivationDescs": [{"Type": f"ACTIVATION_{name}"} for name in ("SIGMOID", "TANH", "TANH")],
        "Direction": "FORWARD",
        "ClipThreshold": 0,
        "UseClipThreshold": False,
        "CoupleInputForget": False,
    }

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    def plain() -> object:
        x, weights, recurrence, bias = (part.astype(np.float64) for part in tensors.values())
        h = c = np.zeros((16, 128))
        states = []
        for t in range(64):
            sums = x[0, t] @ weights[0, 0].T + h @ recurrence[0, 0].T + bias[0, 0, 0, :512] + bias[0, 0, 0, 512:]
            i, o, f, g = np.split(sums, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            states.append(h)
        return np.stack(states).astype(np.float32)

    return lambda: library.evaluate("LSTM", desc, tensors), plain


def element_wise(rounds: int, only: str) -> None:
    """Print the ratios of operators over 2^24 FLOAT32 to the NumPy expression in FLOAT32, of time and of memory."""
    import numpy as np
    from elementwise import ROWS, TENSORS, Row

    import dmlcheck as library

    generator = np.random.default_rng(7)
    pools = {
        "x": [generator.standard_normal(ELEMENTS, dtype=np.float32) for _ in "xy"],
        "u": [generator.uniform(-1, 1, ELEMENTS).astype(np.float32)],
        "p": [generator.uniform(0, 2, ELEMENTS).astype(np.float32)],
        "q": [generator.uniform(1, 3, ELEMENTS).astype(np.float32)],
        "b": [generator.integers(0, 2, ELEMENTS, dtype=np.uint8) for _ in "xy"],
    }

    def sides(row: Row) -> tuple[Job, Job]:
        sizes = [ELEMENTS] if row.columns is None else [ELEMENTS // row.columns, row.columns]
        flat = [pools[letter][row.ranges[:place].count(letter)] for place, letter in enumerate(row.ranges)]
        arrays = [array.reshape(sizes) for array in flat]
        given = dict(zip(TENSORS.get(row.operator) or TENSORS[row.ranges], arrays, strict=True))
        tensors = {name: {"DataType": _TYPES[array.dtype.name], "Sizes": sizes} for name, array in given.items()}
        output = "OutputGradientTensor" if "InputGradientTensor" in given else "OutputTensor"
        desc = {**tensors, output: {"DataType": row.output, "Sizes": sizes}, **row.fields}
        return lambda: library.evaluate(row.operator, desc, given), lambda: row.expression(*arrays)

    for row in ROWS:
        if only not in row.title:
            continue
        ours, expression = sides(row)
        with np.errstate(all="ignore"):
            pairs = [(seconds(ours), seconds(expression)) for _ in range(rounds)]
            memory = f"memory {peak(ours) / peak(expression):.2f} (goal 3)"
        mine, least = (min(side) for side in zip(*pairs, strict=True))
        print(f"{row.title}: {mine:.3f} s against {least:.3f} s, ratio {mine / least:.2f} (goal 4), {memory}")  # noqa: T201 - a program


_TYPES = {"float32": "FLOAT32", "uint8": "UINT8"}


def peak(job: Job) -> int:
    """Return how much memory a job takes beyond what is there, in bytes."""
    tracemalloc.start()
    job()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


BENCHMARKS = {
    "start-up": (start_up, 1.45, 15),
    "run": (run, 1.3, 7),
    "jobs": (jobs, 0.75, 5),
    "dask": (dask, 0.7, 2),
    "dask-tiny": (dask_tiny, 1.0, 5),
    "dask-running": (dask_running, 0.7, 5),
    "dask-millisecond": (dask_millisecond, 0.7, 1),
    "model": (model, 5.0, 5),
    "sum": (sum_, 3.0, 5),
    "gemm": (gemm, 1.6, 9),
    "normalization": (normalization, 3.0, 9),
    "resample": (resample, 4.0, 9),
    "convolution": (convolution, 2.0, 9),
    "judged-gemm": (judged_gemm, 3.0, 9),
    "judged-convolution": (judged_convolution, 3.0, 9),
    "pooling": (pooling, 2.5, 9),
    "gather": (gather, 6.0, 25),
    "top": (top, 2.0, 5),
    "lstm": (lstm, 3.0, 25),
    "attention": (attention, 3.0, 9),
    "padding": (padding, 2.0, 9),
    "slice": (slice_, 2.0, 9),
    "join": (join, 2.0, 9),
    "tile": (tile, 2.0, 9),
}


def dmlcheck() -> str:
    """Return the path of the console script that belongs to this interpreter."""
    script = Path(sysconfig.get_path("scripts")) / ("dmlcheck.exe" if os.name == "nt" else "dmlcheck")
    return str(script)


def command(*arguments: str, folder: Path | None = None) -> Job:
    """Return a job that runs a command in a folder, and checks that it succeeds."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=environment, cwd=folder)


def seconds(job: Job) -> float:
    """Return how long a job takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main() -> None:
    """Run the benchmarks that were named, or all."""
    parser = argparse.ArgumentParser(description="ratios to the least that a job could cost")
    parser.add_argument("names", nargs="*", help=f"which to run: {', '.join(BENCHMARKS)}, element-wise")
    parser.add_argument("--rounds", type=int, help="how often each side is measured")
    parser.add_argument("--only", default="", help="of element-wise, the operators whose name contains this")
    options = parser.parse_args()
    for name in options.names or (*BENCHMARKS, "element-wise"):
        if name == "element-wise":
            element_wise(options.rounds or 5, options.only)
            continue
        if name not in BENCHMARKS:
            parser.error(f"{name} is not one of {', '.join(BENCHMARKS)}, element-wise")
        prepare, goal, rounds = BENCHMARKS[name]
        with tempfile.TemporaryDirectory() as folder, OPEN:
            ours, least = prepare(Path(folder))
            seconds(ours), seconds(least)  # once to warm up
            pairs = [(seconds(ours), seconds(least)) for _ in range(options.rounds or rounds)]
            mine, other = (min(side) for side in zip(*pairs, strict=True))
            print(f"{name}: {mine:.3f} s against {other:.3f} s, ratio {mine / other:.2f} (goal {goal})")  # noqa: T201 - a program


if __name__ == "__main__":
    main()
