"""The harness in C++ that lies beside the guide: it compiles, speaks the protocol, and is what the guide shows."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, json_of, write
from guide_pages import GUIDE, PAGES, blocks

HARNESS = GUIDE / "harness.cpp"
TEXT = HARNESS.read_text(encoding="utf-8")
HEAD, _, REST = TEXT.partition("// ---- yours\n")
YOURS, _, TAIL = REST.partition("// ----")
COMPILER = next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), None)

ADD = """\
operator: ELEMENT_WISE_ADD1
source: by hand
inputs: {ATensor: [1, -2, .inf, 0.5, 4, 16777216], BTensor: [2, 2, 1, 0.25, 1e30, 1]}
desc:
  ATensor: &packed {DataType: FLOAT32, Sizes: [2, 3]}
  BTensor: *packed
  OutputTensor: *packed
cases:
- {name: packed, outputs: {OutputTensor: [3, 0, .inf, 0.75, 1e30, 16777216]}}
- {name: wrong, outputs: {OutputTensor: [3, 0, .inf, 0.75, 1e30, 0]}}
- name: strided
  desc: {ATensor: {DataType: FLOAT32, Sizes: [2, 3], Strides: [4, 1]},
    OutputTensor: {DataType: FLOAT32, Sizes: [2, 3], Strides: [1, 2]}}
  outputs: {OutputTensor: [3, 0, .inf, 0.75, 1e30, 16777216]}
- name: repeated-row
  desc: {BTensor: {DataType: FLOAT32, Sizes: [2, 3], Strides: [0, 1]}}
  inputs: {BTensor: [10, 20, 30, 10, 20, 30]}
  outputs: {OutputTensor: [11, 18, .inf, 10.5, 24, 16777246]}
- name: halves
  desc: {ATensor: &half {DataType: FLOAT16, Sizes: [2, 3]}, BTensor: *half, OutputTensor: *half}
  inputs: {ATensor: {fill: 1}, BTensor: {fill: 1}}
- {name: fused, desc: {FusedActivation: {Type: ACTIVATION_RELU}}}
- name: other-sizes
  desc: {BTensor: {DataType: FLOAT32, Sizes: [3, 2]}}
  invalid: [size-mismatch]
"""
# What somebody may put in its place: integers of all widths, arrays of tensors, two outputs, scalars and texts.
OTHER = """\
std::string hello() { return R"({"name": "other", "validates": true})"; }

void run(const std::string& op, const Json& desc, Tensors& inputs, Tensors& outputs) {
    if (op == "DML_OPERATOR_JOIN") {  // along the first axis, packed
        uint64_t at = 0;
        Tensor& out = outputs.at("OutputTensor").at(0);
        for (Tensor& part : inputs.at("InputTensors"))
            for (uint64_t i = 0; i < part.count(); ++i) out.at<int64_t>(at++) = part.at<int64_t>(i);
    } else if (op == "DML_OPERATOR_SPLIT") {
        uint64_t at = 0;
        for (Tensor& part : outputs.at("OutputTensors"))
            for (uint64_t i = 0; i < part.count(); ++i)
                part.at<uint8_t>(i) = inputs.at("InputTensor").at(0).at<uint8_t>(at++);
    } else if (op == "DML_OPERATOR_FILL_VALUE_CONSTANT") {
        Tensor& out = outputs["OutputTensor"][0];
        for (uint64_t i = 0; i < out.count(); ++i) out.at<int64_t>(i) = desc["Value"].integer();
    } else if (op == "DML_OPERATOR_ACTIVATION_LINEAR") {
        const double alpha = desc["Alpha"].number(), beta = desc["Beta"].number();
        Tensor &in = inputs.at("InputTensor").at(0), &out = outputs.at("OutputTensor").at(0);
        for (uint64_t i = 0; i < out.count(); ++i) out.at<float>(i) = float(alpha * in.at<float>(i) + beta);
    } else if (op == "DML_OPERATOR_ACTIVATION_RELU") {
        throw Invalid("its sizes differ");
    } else throw std::runtime_error("no \\"" + op + "\\"\\n\\\\");
}

"""
OTHERS = """\
source: by hand
cases:
- name: join
  operator: JOIN
  desc: {InputTensors: [{DataType: INT64, Sizes: [1, 2]}, {DataType: INT64, Sizes: [2, 2]}], Axis: 0,
    OutputTensor: {DataType: INT64, Sizes: [3, 2]}}
  inputs: {InputTensors: [[1, -2], [9223372036854775807, 4, 5, 6]]}
  outputs: {OutputTensor: [1, -2, 9223372036854775807, 4, 5, 6]}
- name: split
  operator: SPLIT
  desc: {OutputTensors: [{DataType: UINT8, Sizes: [1, 2]}, {DataType: UINT8, Sizes: [2, 2]}], Axis: 0,
    InputTensor: {DataType: UINT8, Sizes: [3, 2]}}
  inputs: {InputTensor: [1, 2, 3, 4, 5, 255]}
  outputs: {OutputTensors: [[1, 2], [3, 4, 5, 255]]}
- name: fill
  operator: FILL_VALUE_CONSTANT
  desc: {OutputTensor: {DataType: INT64, Sizes: [2]}, ValueDataType: INT64, Value: -9007199254740993}
  outputs: {OutputTensor: [-9007199254740993, -9007199254740993]}
- name: linear
  operator: ACTIVATION_LINEAR
  desc: {InputTensor: &pair {DataType: FLOAT32, Sizes: [2]}, OutputTensor: *pair, Alpha: 2.5, Beta: .inf}
  inputs: {InputTensor: [1, -3]}
  outputs: {OutputTensor: [.inf, .inf]}
- name: unknown
  operator: ACTIVATION_TANH
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2]}, OutputTensor: {DataType: FLOAT32, Sizes: [2]}}
  inputs: {InputTensor: [1, -3]}
- name: other-sizes
  operator: ACTIVATION_RELU
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2]}, OutputTensor: {DataType: FLOAT32, Sizes: [3]}}
  invalid: [size-mismatch]
- name: taken
  operator: ACTIVATION_LINEAR
  desc: {InputTensor: *pair, OutputTensor: {DataType: FLOAT32, Sizes: [1]}, Alpha: 2.5, Beta: 0}
  invalid: [size-mismatch]
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the harness as it is, and with another implementation, warnings being errors."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler here (g++, clang++ or c++)")
    folder = tmp_path_factory.mktemp("built")
    (folder / "other.cpp").write_text(HEAD + OTHER + "// ----" + TAIL, encoding="utf-8")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for name, source in (("harness", HARNESS), ("other", folder / "other.cpp")):
        command = [COMPILER, *flags, "-O1", "-o", str(folder / name), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
        assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in a folder whose name is not ASCII, in which the program's files are, too."""
    here = tmp_path / "größe \U0001f600"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("tempfile.tempdir", str(here))


def outcomes(program: Path, text: str) -> dict[str, dict[str, Any]]:
    """Return the cases of a file's report, by name, as a program runs them."""
    write("a.yaml", text)
    result = dmlcheck("run", "a.yaml", "--implementation", f"command:{program.as_posix()}", "--json", "r.json")
    assert result.exit_code in (0, 1), result.output
    return {case["name"]: case for case in json_of("r.json")["cases"]}


@pytest.mark.slow
def test_it_runs_what_it_implements_and_skips_the_rest(built: Path) -> None:
    found = outcomes(built / "harness", ADD)
    assert {name: case["outcome"] for name, case in found.items()} == {
        "packed": "passed",
        "wrong": "failed",
        "strided": "passed",
        "repeated-row": "passed",
        "halves": "skipped",
        "fused": "skipped",
        "other-sizes": "passed",
    }
    assert [found[name]["computed"] for name in ("packed", "strided", "other-sizes")] == [True, True, False]
    assert "no fused activations" in found["fused"]["reason"]


@pytest.mark.slow
def test_a_harness_that_validates_is_sent_descs_that_are_not_valid(built: Path) -> None:
    found = outcomes(built / "other", OTHERS)
    assert (found["other-sizes"]["outcome"], found["other-sizes"]["computed"]) == ("passed", True)
    assert found["taken"]["diagnostics"][0]["rule"] == "invalid-desc-accepted"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["join", "split", "fill", "linear"])
def test_arrays_of_tensors_all_types_and_numbers_as_texts_are_there_for_others(name: str, built: Path) -> None:
    case = outcomes(built / "other", OTHERS)[name]
    assert (case["outcome"], case["diagnostics"]) == ("passed", [])


@pytest.mark.slow
def test_an_exception_is_an_error_with_its_text(built: Path) -> None:
    case = outcomes(built / "other", OTHERS)["unknown"]
    assert (case["outcome"], case["diagnostics"][0]["rule"]) == ("error", "implementation-error")
    assert 'no "DML_OPERATOR_ACTIVATION_TANH" \\' in case["diagnostics"][0]["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[" * 5000,
        '"\\',
        '{"request": "run", "id": 1}',
        '{"a" 1}',
        '{"a": "\\u12',
        "null",
        "[1 2]",
        '{"a"',
        "\x00",
    ],
)
def test_a_line_that_is_no_request_is_answered_with_an_error_and_the_next_one_is_heard(line: str, built: Path) -> None:
    hello = '{"dmlcheck": 1, "request": "hello"}'
    done = subprocess.run(
        [str(built / "harness")], input=f"{line}\n{hello}\n", capture_output=True, text=True, check=False, timeout=20
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, list(first)[1], second["name"]) == (0, "error", "harness")


def test_it_is_short_and_the_guide_shows_the_place_for_ones_own() -> None:
    assert len(TEXT.splitlines()) <= 200
    assert max(map(len, TEXT.splitlines())) <= 120
    (shown,) = blocks(PAGES["provider.md"], "cpp")
    assert YOURS.strip() == shown.text.strip()
    assert "](harness.cpp)" in PAGES["provider.md"]
