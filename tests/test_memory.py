"""Peak memory: inputs, outputs and 256 MiB; and what cannot fit is refused before it is allocated."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import json_of

import dmlcheck
from dmlcheck.values import memory

MIB = 2**20
HEADROOM = 256 * MIB
LARGE = [16_385, 2049]  # 33.6 million elements; the machine of a test has less memory than they take

measured = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no resource module to measure with")

PEAK = """
import sys

def peak():
    try:
        # What getrusage says of this process alone: its own figure starts from the parent's.
        with open("/proc/self/status", encoding="ascii") as file:
            (line,) = (line for line in file if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
"""
EVALUATE = """
import json
import numpy as np
import dmlcheck

operator, desc, value, place = json.loads(sys.argv[1])
tensor = desc["InputTensor"]
array = np.full(tensor["Sizes"], value, dtype=tensor["DataType"].lower())
if place is not None:
    array[tuple(place)] = 2 * value
(output,) = dmlcheck.evaluate(operator, desc, {"InputTensor": array}).values()
flat = output.reshape(-1)
print(json.dumps([peak(), array.nbytes + output.nbytes, float(flat[0]), float(flat.max()), int((flat != 0).sum())]))
"""
RUN = """
from dmlcheck.cli import main

try:
    main(sys.argv[1:], prog_name="dmlcheck")
except SystemExit as end:
    code = int(end.code or 0)
sys.stdout.flush()
print()
print(peak(), code)
"""


def python(script: str, *arguments: str) -> str:
    """Return what a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK + script, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ROWS = [1 << 20, 64]
COLUMNS = [64, 1 << 20]
ONE_ROW = [1, 1 << 26]


@pytest.mark.slow
@measured
@pytest.mark.parametrize(
    ("operator", "fields", "data_type", "sizes", "axes", "place", "expected"),
    [
        ("ARGMAX", {"AxisDirection": "INCREASING"}, "FLOAT32", COLUMNS, [1], [0, 12_345], [12_345, 12_345, 1]),
        ("ARGMAX", {"AxisDirection": "DECREASING"}, "FLOAT32", COLUMNS, [0], [5, 7], [63, 63, 1 << 20]),
        ("ARGMAX", {"AxisDirection": "DECREASING"}, "INT8", ONE_ROW, [1], None, [2**26 - 1, 2**26 - 1, 1]),
        ("REDUCE", {"Function": "SUM"}, "FLOAT32", ONE_ROW, [1], None, [2**26, 2**26, 1]),
        ("REDUCE", {"Function": "SUM"}, "FLOAT16", ROWS, [1], [3, 4], [64, 65, 1 << 20]),
        ("REDUCE", {"Function": "LOG_SUM_EXP"}, "FLOAT16", ONE_ROW, [1], None, [19.015625, 19.015625, 1]),
        (
            "REDUCE",
            {"Function": "LOG_SUM_EXP"},
            "FLOAT32",
            COLUMNS,
            [0],
            None,
            [5.158883094787598, 5.158883094787598, 1 << 20],
        ),
        ("ACTIVATION_HARDMAX1", {}, "FLOAT16", ONE_ROW, [1], [0, 99], [0, 1, 1]),
        ("ACTIVATION_HARDMAX1", {}, "FLOAT16", ROWS, [1], [0, 9], [0, 1, 1 << 20]),
    ],
)
def test_evaluate_takes_its_inputs_its_outputs_and_256_mib(
    operator: str,
    fields: dict[str, Any],
    data_type: str,
    sizes: list[int],
    axes: list[int],
    place: list[int] | None,
    expected: list[float],
) -> None:
    """Of 2^26 ones, and a 2: log(2^26 e) = 19.0218, log(2^6 e) = 5.158883."""
    is_mark = operator == "ACTIVATION_HARDMAX1"
    desc = {
        "InputTensor": {"DataType": data_type, "Sizes": sizes},
        "OutputTensor": {
            "DataType": "UINT32" if operator == "ARGMAX" else data_type,
            "Sizes": sizes if is_mark else [1 if axis in axes else size for axis, size in enumerate(sizes)],
        },
        "Axes": axes,
        **fields,
    }
    most, allowed, *found = json.loads(python(EVALUATE, json.dumps([operator, desc, 1, place])))
    assert found == expected
    assert most <= allowed + HEADROOM


CASE_FILES = {
    "ARGMAX": (
        """\
operator: ARGMAX
desc:
  InputTensor: {DataType: INT32, Sizes: [1, 67108864]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 1]}
  Axes: [1]
  AxisDirection: INCREASING
inputs: {InputTensor: {sequence: {start: -5, step: 1}}}
outputs: {OutputTensor: [[67108863]]}
""",
        256 * MIB,
        0,
    ),
    "SUM": (
        """\
operator: REDUCE
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [1, 67108864]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1]}
  Axes: [1]
inputs: {InputTensor: {random: {seed: 7, low: 0, high: 1}}}
outputs: {OutputTensor: [[33554432]]}
tolerance: {relative: 0.001}
""",
        256 * MIB,
        0,
    ),
    "SCATTER": (
        """\
operator: SCATTER
desc:
  InputTensor: {DataType: INT32, Sizes: [16777216]}
  IndicesTensor: {DataType: UINT32, Sizes: [16777216]}
  UpdatesTensor: {DataType: INT32, Sizes: [16777216]}
  OutputTensor: {DataType: INT32, Sizes: [16777216]}
  Axis: 0
inputs:
  InputTensor: {fill: -1}
  IndicesTensor: {sequence: {start: 16777215, step: -1}}
  UpdatesTensor: {sequence: {start: 0, step: 1}}
outputs: {OutputTensor: {sequence: {start: 16777215, step: -1}}}
""",
        (5 + 2) * 64 * MIB,  # a line is scattered as a whole: where its updates go takes 8 bytes each
        0,
    ),
    "TOP_K": (
        """\
operator: TOP_K
desc:
  InputTensor: {DataType: INT32, Sizes: [67108864]}
  OutputValueTensor: {DataType: INT32, Sizes: [2]}
  OutputIndexTensor: {DataType: UINT32, Sizes: [2]}
  Axis: 0
  K: 2
inputs: {InputTensor: {sequence: {start: -5, step: 1}}}
outputs: {OutputValueTensor: [67108858, 67108857], OutputIndexTensor: [67108863, 67108862]}
""",
        4 * 256 * MIB,  # a sequence is sorted as a whole, in three times its size
        0,
    ),
    # The mean of e^x from -1 to 1 is sinh 1: 26 log 2 + log 1.17520119 = 18.18326.
    "LOG_SUM_EXP": (
        """\
operator: REDUCE
desc:
  Function: LOG_SUM_EXP
  InputTensor: {DataType: FLOAT32, Sizes: [1, 67108864]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1]}
  Axes: [1]
inputs: {InputTensor: {random: {seed: 7, low: -1, high: 1}}}
outputs: {OutputTensor: [[18.18326]]}
tolerance: {absolute: 0.001}
""",
        256 * MIB,
        0,
    ),
    # The largest of each row is its last, and the 0 that is expected there is wrong: 64 mismatches.
    "HARDMAX1": (
        """\
operator: ACTIVATION_HARDMAX1
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [64, 1048576]}
  OutputTensor: {DataType: FLOAT32, Sizes: [64, 1048576]}
  Axes: [1]
inputs: {InputTensor: {sequence: {start: 0, step: 0.25}}}
outputs: {OutputTensor: {fill: 0}}
""",
        512 * MIB,
        64,
    ),
}


@pytest.mark.slow
@measured
@pytest.mark.parametrize("name", CASE_FILES)
def test_run_takes_its_inputs_its_outputs_and_256_mib(name: str, tmp_path: Path) -> None:
    text, allowed, mismatches = CASE_FILES[name]
    case, report = tmp_path / "case.yaml", tmp_path / "report.json"
    case.write_text(text, encoding="utf-8")
    most, code = map(int, python(RUN, "run", str(case), "--json", str(report)).splitlines()[-1].split())
    (result,) = json_of(report)["cases"]
    assert sum(output["mismatches"] for output in result["outputs"].values()) == mismatches
    assert code == (1 if mismatches else 0)
    assert most <= allowed + HEADROOM


# ---- what cannot fit


def argmax(sizes: list[int], out_sizes: list[int]) -> dict[str, Any]:
    return {
        "InputTensor": {"DataType": "INT64", "Sizes": sizes},
        "OutputTensor": {"DataType": "INT64", "Sizes": out_sizes},
        "Axes": [axis for axis, (size, kept) in enumerate(zip(sizes, out_sizes, strict=True)) if size != kept],
        "AxisDirection": "INCREASING",
    }


HARDMAX1 = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": LARGE},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": LARGE},
    "Axes": [1],
}
RANDOM = {"random": {"seed": 1, "low": 0, "high": 9}}


@pytest.mark.parametrize(
    ("operator", "desc", "values", "words"),
    [
        ("ARGMAX", argmax(LARGE, [16_385, 1]), RANDOM, ["InputTensor INT64 {16385, 2049}", "take 0.5 GiB"]),
        ("ARGMAX", argmax(LARGE, LARGE), {"fill": 1}, ["OutputTensor INT64 {16385, 2049}", "take 0.5 GiB"]),
        ("ARGMAX", argmax([2**24, 1], [2**24, 1]), RANDOM, ["InputTensor INT64 {16777216, 1}", "take 0.5 GiB"]),
        ("ACTIVATION_HARDMAX1", HARDMAX1, RANDOM, ["InputTensor FLOAT32 {16385, 2049}", "take 0.5 GiB"]),
        ("ACTIVATION_HARDMAX1", HARDMAX1, {"fill": 1}, ["OutputTensor FLOAT32 {16385, 2049}", "take 0.4 GiB"]),
    ],
)
def test_a_tensor_that_cannot_fit_is_refused_by_name_and_size(
    operator: str, desc: dict[str, Any], values: Any, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: HEADROOM + 127 * MIB)
    tracemalloc.start()
    try:
        with pytest.raises(dmlcheck.InvalidInput) as refused:
            dmlcheck.evaluate(operator, desc, {"InputTensor": values})
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.rule == "tensor-too-large"
    assert diagnostic.pointer == "desc"
    for word in words:
        assert word in diagnostic.message
    assert most < 32 * MIB


@pytest.mark.slow
def test_an_expected_output_counts_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MiB of input are filled, 64 MiB of output are computed, and 64 MiB are expected."""
    case = tmp_path / "case.yaml"
    case.write_text(
        """\
operator: ACTIVATION_HARDMAX1
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [4194304, 4]}
  OutputTensor: {DataType: FLOAT32, Sizes: [4194304, 4]}
  Axes: []
inputs: {InputTensor: {fill: 3}}
outputs: {OutputTensor: {sequence: {start: 1, step: 0}}}
""",
        encoding="utf-8",
    )
    cases = dmlcheck.load_cases(case)
    for available, outcome in ((128 * MIB + HEADROOM, "passed"), (128 * MIB + HEADROOM - 1, "error")):
        monkeypatch.setattr(memory, "available_bytes", lambda available=available: available)
        (result,) = dmlcheck.run_cases(cases)
        assert result.outcome == outcome
        assert [diagnostic.rule for diagnostic in result.diagnostics] == ["tensor-too-large"] * (outcome == "error")


def test_a_broadcast_tensor_takes_what_its_buffer_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 GiB of elements, all of them one row of 2^10."""
    monkeypatch.setattr(memory, "available_bytes", lambda: HEADROOM + 4 * MIB)
    desc = {
        "Function": "MAX",
        "InputTensor": {"DataType": "INT8", "Sizes": [1 << 14, 1 << 10], "Strides": [0, 1]},
        "OutputTensor": {"DataType": "INT8", "Sizes": [1 << 14, 1]},
        "Axes": [1],
    }
    found = dmlcheck.evaluate("REDUCE", desc, {"InputTensor": {"random": {"seed": 3, "low": 5, "high": 5}}})
    assert found["OutputTensor"].tolist() == [[5]] * (1 << 14)


def test_values_that_are_all_wrong_are_not_listed_all() -> None:
    sizes = [1 << 10, 1 << 11]
    floats, bytes_ = ({"DataType": data_type, "Sizes": sizes} for data_type in ("FLOAT32", "UINT8"))
    desc = {"InputTensor": bytes_, "ScaleTensor": floats, "OutputTensor": floats}
    inputs = {"InputTensor": np.ones(sizes, np.uint8), "ScaleTensor": np.zeros(sizes, np.float32)}
    inputs["ScaleTensor"][0, :3] = 1
    with pytest.raises(dmlcheck.InvalidInput):
        dmlcheck.evaluate("ELEMENT_WISE_DEQUANTIZE_LINEAR", desc, inputs)  # loads what it needs
    tracemalloc.start()
    with pytest.raises(dmlcheck.InvalidInput) as raised:
        dmlcheck.evaluate("ELEMENT_WISE_DEQUANTIZE_LINEAR", desc, inputs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * math.prod(sizes)
    places = [diagnostic.message.partition(" is ")[0] for diagnostic in raised.value.diagnostics]
    assert places == [f"ScaleTensor[0, {place}]" for place in range(3, 13)]


@pytest.mark.slow
def test_an_array_that_is_there_already_takes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: HEADROOM + 4 * MIB)
    array = np.broadcast_to(np.float32(2), (1 << 22, 16))
    desc = {
        "Function": "MAX",
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1 << 22, 16]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16]},
        "Axes": [0],
    }
    assert dmlcheck.evaluate("REDUCE", desc, {"InputTensor": array})["OutputTensor"].tolist() == [[2] * 16]


def test_small_tensors_do_not_depend_on_the_memory_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    desc = argmax([2, 3], [2, 1])
    found = dmlcheck.evaluate("ARGMAX", desc, {"InputTensor": [[1, 3, 2], [9, 8, 7]]})
    assert found["OutputTensor"].tolist() == [[1], [0]]


@pytest.mark.slow
@measured
def test_a_run_reports_what_does_not_fit_and_stays_small(tmp_path: Path) -> None:
    """An input, an output and what is expected of it take 384 MiB, and 512 are there with the 256 for the kernel."""
    case, report = tmp_path / "case.yaml", tmp_path / "report.json"
    values = "{sequence: {start: 0, step: 1}}"
    case.write_text(
        f"""\
operator: ARGMAX
desc:
  InputTensor: {{DataType: INT64, Sizes: [4096, 4096]}}
  OutputTensor: {{DataType: INT64, Sizes: [4096, 4096]}}
  Axes: []
  AxisDirection: INCREASING
inputs: {{InputTensor: {values}}}
outputs: {{OutputTensor: {values}}}
""",
        encoding="utf-8",
    )
    small = "from dmlcheck.values import memory\nmemory.available_bytes = lambda: 2**29\n"
    *printed, last = python(small + RUN, "run", str(case), "--json", str(report)).splitlines()
    most, code = map(int, last.split())
    assert code == 1
    assert "tensor-too-large" in "\n".join(printed)
    (result,) = json_of(report)["cases"]
    assert result["outcome"] == "error"
    (diagnostic,) = result["diagnostics"]
    assert diagnostic["rule"] == "tensor-too-large"
    assert "{4096, 4096}" in diagnostic["message"]
    assert "take 0.6 GiB" in diagnostic["message"]
    assert most < HEADROOM


def test_as_many_cores_as_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert memory.cores() == 3
    monkeypatch.delattr(memory.os, "sched_getaffinity")
    monkeypatch.setattr(memory.os, "cpu_count", lambda: 7)
    assert memory.cores() == 7
    monkeypatch.setattr(memory.os, "cpu_count", lambda: None)
    assert memory.cores() == 1
