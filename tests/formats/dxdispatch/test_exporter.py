"""Cases written as DxDispatch models: by the rules of the format, in full, judged by what a program makes of them."""

from __future__ import annotations

import json
import os
import re
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner, Result
from standin_dxdispatch import installed

from dmlcheck.cases.records import Case
from dmlcheck.cli import main
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.json import parse_json
from dmlcheck.formats import export_folder, exporting
from dmlcheck.formats.dxdispatch import models, writing
from dmlcheck.formats.reading import read_file
from dmlcheck.implementations import Failure, TimedOut, _process, about, make
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate

HERE = Path(__file__).parent.parent.parent
SCHEMA = jsonschema.Draft202012Validator(json.loads((HERE / "schemas" / "dxdispatch-model.json").read_text("utf-8")))

# Results by hand. Each case is there for a part of a model that it would come out wrong without.
CASES = """\
cases:
  - name: strides
    operator: REDUCE
    desc:
      Function: SUM
      InputTensor: {DataType: INT32, Sizes: [2, 3], Strides: [4, 1]}
      OutputTensor: {DataType: INT32, Sizes: [2, 1], Strides: [3, 1]}
      Axes: [1]
    inputs: {InputTensor: [[1, 2, 3], [4, 5, 6]]}
    outputs: {OutputTensor: [[6], [15]]}
  - name: bytes-behind-the-elements
    operator: REDUCE
    desc:
      Function: MAX
      InputTensor: {DataType: UINT8, Sizes: [3, 2]}
      OutputTensor: {DataType: UINT8, Sizes: [3, 1], TotalTensorSizeInBytes: 6}
      Axes: [1]
    inputs: {InputTensor: [[1, 2], [4, 3], [255, 0]]}
    outputs: {OutputTensor: [[2], [4], [255]]}
  - name: array-of-tensors
    operator: SPLIT
    desc:
      InputTensor: {DataType: FLOAT16, Sizes: [3, 2]}
      OutputTensors: [{DataType: FLOAT16, Sizes: [1, 2]}, {DataType: FLOAT16, Sizes: [2, 2]}]
      Axis: 0
    inputs: {InputTensor: [[1, -2], [3, inf], [5, 0.5]]}
    outputs: {OutputTensors: [[[1, -2]], [[3, inf], [5, 0.5]]]}
  - name: owned-by-dml-and-fused
    operator: ELEMENT_WISE_ADD1
    desc:
      ATensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2], Flags: OWNED_BY_DML}
      BTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
      OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
      FusedActivation: {Type: ACTIVATION_LEAKY_RELU, Alpha: 0.5}
    inputs: {ATensor: [[[[-3, 3]]]], BTensor: [[[[1, 1]]]]}
    outputs: {OutputTensor: [[[[-1, 4]]]]}
  - name: scalar-inf
    matrix: {T: [FLOAT16, FLOAT32, FLOAT64]}
    operator: FILL_VALUE_CONSTANT
    desc: {OutputTensor: {DataType: "${T}", Sizes: [3]}, ValueDataType: "${T}", Value: -inf}
    outputs: {OutputTensor: [-inf, -inf, -inf]}
  - name: scalar-of-64-bits
    operator: FILL_VALUE_CONSTANT
    desc: {OutputTensor: {DataType: UINT64, Sizes: [1]}, ValueDataType: UINT64, Value: 18446744073709551614}
    outputs: {OutputTensor: [18446744073709551614]}
  - name: not-valid-on-purpose
    operator: ARGMAX
    feature_level: "3_0"
    desc:
      InputTensor: {DataType: INT64, Sizes: [3, 3]}
      OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
      Axes: [0]
      AxisDirection: INCREASING
    invalid: [unsupported-data-type]
"""
COUNT = 8  # of models


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in a folder with one case file, and see that no temporary file is left."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(CASES, encoding="utf-8")
    yield tmp_path
    assert list((tmp_path / "temporary").iterdir()) == []


def dmlcheck(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


def export(*words: str, to: str = "out") -> Result:
    return dmlcheck("export", "--to", "dxdispatch", *words, "-o", to)


def desc_of(operator: str, **fields: Any) -> OperatorDesc:
    reading = read_desc(operator, fields)
    assert reading.desc is not None
    assert not reading.findings
    return reading.desc


def model_of(folder: str) -> Any:
    return json.loads(Path(folder, writing.MODEL).read_text("utf-8"))


def model_named(name: str, to: str = "out") -> Any:
    """Return the model that stands for a case."""
    manifest = json.loads(Path(to, "manifest.json").read_text("utf-8"))
    (entry,) = [entry for entry in manifest["entries"] if f"a.yaml::{name}" in entry["cases"]]
    return model_of(f"{to}/{entry['folder']}")


def npy_bytes(path: Path) -> bytes:
    """Return what follows the header of a .npy file."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<H", data, 8)
    return data[10 + length :]


# ---- models


def shipped() -> Iterator[Case]:
    for path in sorted((HERE.parent / "cases").rglob("*.yaml")):
        yield from read_file(str(path), path.name).cases


def read(model: Any) -> models.Model:
    text = json.dumps(model, allow_nan=False)
    return models.read_model(parse_json("model.json", text))


FLOATS = ("FLOAT", "FLOAT_ARRAY", "SCALE_BIAS")


def plain(value: Any, *, is_float: bool = False) -> Any:
    """Return what a desc holds, whatever it was read from: of a FLOAT32 what it is rounded to, of NaN its name."""
    if isinstance(value, OperatorDesc):
        kinds = {name: field.type in FLOATS for name, field in value.spec.fields.items()}
        given = {name: part for name, part in value.values.items() if part is not None}
        return value.spec.operator, {name: plain(part, is_float=kinds[name]) for name, part in given.items()}
    if isinstance(value, tuple) and (is_float or type(value) is tuple):
        return [plain(part, is_float=is_float) for part in value]
    return str(np.float32(value)) if is_float or (isinstance(value, float) and not value.is_integer()) else value


def test_every_shipped_case_becomes_a_model_that_the_format_allows_and_that_reads_back_as_the_same_desc() -> None:
    count = 0
    for case in shipped():
        going = exporting.ready(case)
        if isinstance(going, exporting.Exported):
            assert going.problems == (), case.id
            continue
        if writing.unsupported(going.desc):
            continue
        files = dict(writing.model_files(going.desc, going.inputs))
        model = json.loads(files.pop(writing.MODEL))
        SCHEMA.validate(model)
        named = [raw["initialValues"].get("sourcePath") for raw in model["resources"].values()]
        assert sorted(filter(None, named)) == sorted(files)
        found = read(model)
        assert found.problems == (), case.id
        (operator,) = found.operators.values()
        desc, findings = validate(operator.operator, operator.desc, case.level)
        assert (findings, plain(desc)) == ([], plain(going.desc)), case.id
        count += 1
    assert count > 900


def test_every_accepted_desc_of_the_shipped_cases_survives_the_way_to_a_model_and_back() -> None:
    operators = set()
    for case in shipped():
        desc, findings = (None, []) if case.invalid else validate(case.operator, case.desc, NEWEST_LEVEL)
        if desc is None or findings or writing.unsupported(desc):
            continue
        raw = {"type": desc.spec.operator, "desc": writing.desc_of(desc)}
        model = {"resources": {}, "dispatchables": {"operator": raw}, "commands": []}
        SCHEMA.validate(model)
        (operator,) = read(model).operators.values()
        again = read_desc(operator.operator, operator.desc)
        assert not again.findings, case.id
        assert again.desc is not None
        assert plain(again.desc) == plain(desc), case.id
        operators.add(desc.spec.short)
    assert len(operators) == 174  # as many as JsonParsersGenerated.cpp has


def test_a_model_has_what_the_guide_says() -> None:
    assert export("a.yaml::strides").exit_code == 0
    (place,) = [path for path in Path("out").iterdir() if path.is_dir()]
    assert place.name.startswith("reduce-")
    assert model_of(str(place)) == {
        "resources": {
            "InputTensor": {
                "initialValuesDataType": "INT32",
                "initialValues": {"sourcePath": "InputTensor.npy"},
                "sizeInBytes": 28,
            },
            "OutputTensor": {
                "initialValuesDataType": "INT32",
                "initialValues": {"valueCount": 4, "value": -1},
                "sizeInBytes": 16,
            },
        },
        "dispatchables": {
            "operator": {
                "type": "DML_OPERATOR_REDUCE",
                "desc": {
                    "Function": "SUM",
                    "InputTensor": {"DataType": "INT32", "Sizes": [2, 3], "Strides": [4, 1]},
                    "OutputTensor": {"DataType": "INT32", "Sizes": [2, 1], "Strides": [3, 1]},
                    "AxisCount": 1,
                    "Axes": [1],
                },
            }
        },
        "commands": [
            {
                "type": "dispatch",
                "dispatchable": "operator",
                "bindings": {"InputTensor": "InputTensor", "OutputTensor": "OutputTensor"},
            },
            {
                "type": "writeFile",
                "resource": "OutputTensor",
                "targetPath": "outputs/OutputTensor.npy",
                "dimensions": [4],
            },
        ],
    }
    assert struct.unpack("<7i", npy_bytes(place / "InputTensor.npy")) == (1, 2, 3, -1, 4, 5, 6)


def test_a_tensor_that_directml_owns_is_bound_by_the_operator_and_a_list_by_a_list() -> None:
    assert export("a.yaml").exit_code == 0
    model = model_named("owned-by-dml-and-fused")
    assert model["dispatchables"]["operator"]["bindings"] == {"ATensor": "ATensor"}
    assert model["commands"][0]["bindings"] == {"BTensor": "BTensor", "OutputTensor": "OutputTensor"}
    model = model_named("array-of-tensors")
    assert model["commands"][0]["bindings"]["OutputTensors"] == ["OutputTensors[0]", "OutputTensors[1]"]
    assert [command["targetPath"] for command in model["commands"][1:]] == [
        "outputs/OutputTensors.0.npy",
        "outputs/OutputTensors.1.npy",
    ]


def test_a_buffer_has_room_for_the_tensor_in_whole_words() -> None:
    assert export("a.yaml").exit_code == 0
    model = model_named("bytes-behind-the-elements")
    assert [model["resources"][name]["sizeInBytes"] for name in ("InputTensor", "OutputTensor")] == [8, 8]
    assert model["commands"][1]["dimensions"] == [3]


def test_what_an_optional_tensor_would_be_is_neither_described_nor_bound() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}
    fields = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor, "Alpha": 0.1, "Beta": 0}
    fields |= {"TransA": "NONE", "TransB": "NONE"}
    desc = desc_of("GEMM", **fields)
    model = json.loads(dict(writing.model_files(desc, {}))[writing.MODEL])
    assert set(model["commands"][0]["bindings"]) == {"ATensor", "BTensor", "OutputTensor"}
    written = model["dispatchables"]["operator"]["desc"]
    assert "CTensor" not in written
    assert "FusedActivation" not in written
    assert struct.pack("<f", written["Alpha"]) == struct.pack("<f", 0.1)


@pytest.mark.parametrize(
    ("number", "written"),
    [(0.1, 0.1), (0.10000000149011612, 0.10000000149011612), (2**-24, 2**-24), (16777217, 16777216), (3, 3)],
)
def test_a_number_that_a_float_holds_is_written_to_its_last_digit_and_another_as_short_as_can_be(
    number: float, written: float
) -> None:
    desc = desc_of("ACTIVATION_LINEAR", InputTensor=TENSOR, OutputTensor=TENSOR, Alpha=number, Beta=0)
    assert writing.desc_of(desc)["Alpha"] == written


def test_a_scalar_that_its_type_holds_is_written_to_its_last_digit() -> None:
    half = {**TENSOR, "DataType": "FLOAT16"}
    fields = {"InputTensor": half, "OutputTensor": half, "MinMaxDataType": "FLOAT16", "Min": 2**-24, "Max": 0.1}
    written = writing.desc_of(desc_of("ELEMENT_WISE_CLIP1", **fields))
    assert (written["Min"], written["Max"]) == (2**-24, 0.1)


TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
HALVES = {"InputTensor": {"DataType": "INT4", "Sizes": [2]}, "OutputTensor": {"DataType": "INT4", "Sizes": [2]}}
WRAPPED = {"InputTensor": TENSOR, "OutputTensor": {**TENSOR, "Sizes": [1, 1, 2, 3]}, "PaddingMode": "WRAP"}
WRAPPED |= {"DimensionCount": 4, "StartPadding": [0, 0, 0, 1], "EndPadding": [0] * 4, "PaddingValue": 0}
FOLDED = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 6, 4]}, "DimensionCount": 1, "WindowSizes": [2]}
FOLDED |= {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 5]}, "Strides": [1], "Dilations": [1]}
FOLDED |= {"StartPadding": [0], "EndPadding": [0]}
CANNOT: dict[str, tuple[str, dict[str, Any]]] = {
    "DxDispatch does not know DML_OPERATOR_FOLD": ("FOLD", FOLDED),
    "DxDispatch has no buffers of INT4": ("ELEMENT_WISE_IDENTITY", HALVES),
    "DxDispatch does not know the PaddingMode WRAP": ("PADDING", WRAPPED),
    "DxDispatch binds the tensors of InputTensors all at once: all or none can be OWNED_BY_DML": (
        "JOIN",
        {
            "InputTensors": [TENSOR, {**TENSOR, "Flags": "OWNED_BY_DML"}],
            "OutputTensor": {**TENSOR, "Sizes": [1, 1, 4, 2]},
            "Axis": 2,
        },
    ),
}


@pytest.mark.parametrize("reason", CANNOT)
def test_what_dxdispatch_has_no_words_for_is_said(reason: str) -> None:
    operator, fields = CANNOT[reason]
    assert writing.unsupported(desc_of(operator, **fields)) == reason


def test_the_schema_of_the_tests_refuses_what_dxdispatch_refuses() -> None:
    assert export("a.yaml::strides").exit_code == 0
    model = model_named("strides")
    SCHEMA.validate(model)
    broken: list[tuple[tuple[str, ...], Any]] = [
        (("resources", "InputTensor", "initialValuesDataType"), "INT4"),
        (("resources", "InputTensor", "sizeInBytes"), 27),
        (("resources", "OutputTensor", "initialValues"), {"valueCount": 0, "value": 0}),
        (("resources", "OutputTensor", "initialValues", "value"), "infinity"),
        (("dispatchables", "operator", "desc", "AxisCount"), -1),
        (("dispatchables", "operator", "desc", "InputTensor", "Flags"), "OWNED"),
        (("dispatchables", "operator", "desc", "InputTensor", "Sizes"), [2**32]),
    ]
    for path, value in broken:
        wrong = json.loads(json.dumps(model))
        place = wrong
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        assert not SCHEMA.is_valid(wrong), path


def test_the_digest_is_of_the_values_and_not_of_how_they_are_written() -> None:
    desc = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor=TENSOR)
    tall = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor={**TENSOR, "Strides": [4, 4, 2, 1]})
    values = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    digest = writing.digest_of(desc, {"InputTensor": values})
    assert writing.digest_of(desc, {"InputTensor": np.asfortranarray(values)}) == digest
    assert writing.digest_of(desc, {"InputTensor": values.astype(">f4")}) == digest
    assert writing.digest_of(tall, {"InputTensor": values}) != digest
    assert writing.digest_of(desc, {"InputTensor": values + 1}) != digest


# ---- dmlcheck export


def test_the_summary_says_what_was_written_and_what_was_not_and_why(folder: Path) -> None:
    case = {"name": "x", "operator": "FOLD", "desc": FOLDED, "inputs": {"InputTensor": {"fill": 1}}}
    (folder / "b.yaml").write_text(json.dumps({"cases": [case]}), encoding="utf-8")
    result = export("a.yaml", "b.yaml")
    assert result.stdout.splitlines() == [
        f"{COUNT} cases exported to {COUNT} models in out",
        "1 case not exported: DxDispatch does not know DML_OPERATOR_FOLD",
        "1 case not exported: a negative case: nothing to run",
    ]
    assert result.exit_code == 0
    names = {path.name for path in (folder / "out").iterdir() if path.is_file()}
    assert names == {"README.md", "run.cmd", "run.sh", "manifest.json"}


def test_cases_that_are_alike_share_a_model(folder: Path) -> None:
    (folder / "b.yaml").write_text(CASES.replace("name: strides", "name: again"), encoding="utf-8")
    result = export("a.yaml", "b.yaml")
    assert f"{2 * COUNT} cases exported to {COUNT} models in out" in result.stdout


def test_a_case_is_chosen_by_expression_or_by_name() -> None:
    assert "2 cases exported" in export("a.yaml", "-k", "strides or owned").stdout
    assert "1 case exported to 1 model in other" in export("a.yaml::strides", to="other").stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("a.yaml", "-k", "nothing-like-it"), 5, "no cases to export"),
        (("a.yaml", "-k", "on-purpose"), 5, "1 case not exported: a negative case"),
        (("a.yaml", "-k", "and and"), 2, "-k"),
        (("nowhere.yaml",), 2, "nowhere.yaml"),
        (("a.yaml::nothing",), 5, "no cases to export"),
        (("broken.yaml",), 2, "broken.yaml"),
        (("wrong.yaml",), 1, "1 case not exported: it is not valid"),
    ],
)
def test_exit_codes(folder: Path, words: tuple[str, ...], code: int, message: str) -> None:
    (folder / "broken.yaml").write_text("cases: [{name: x, desc: [\n", encoding="utf-8")
    wrong = "cases: [{name: x, operator: ARGMAX, desc: {Axes: [0]}, inputs: {}, outputs: {OutputTensor: [1]}}]\n"
    (folder / "wrong.yaml").write_text(wrong, encoding="utf-8")
    result = export(*words)
    assert (result.exit_code, message in result.output) == (code, True), result.output


def test_what_collects_nothing_leaves_an_earlier_export_as_it_is(folder: Path) -> None:
    export("a.yaml")
    before = sorted((folder / "out").rglob("*"))
    assert export("a.yaml", "-k", "nothing-like-it").exit_code == 5
    assert sorted((folder / "out").rglob("*")) == before


def test_a_folder_that_holds_something_else_is_not_touched(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    result = export("a.yaml")
    assert result.exit_code == 2
    assert "out is not empty, and holds nothing of this kind that dmlcheck wrote" in result.output
    assert [path.name for path in (folder / "out").iterdir()] == ["thesis.txt"]
    result = export("a.yaml", to="a.yaml")
    assert (result.exit_code, "a.yaml is not a folder" in result.output) == (2, True)
    assert (folder / "a.yaml").read_text(encoding="utf-8") == CASES


def test_an_earlier_export_is_replaced_and_what_else_is_there_is_kept(folder: Path) -> None:
    export("a.yaml")
    (folder / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    result = export("a.yaml::strides")
    assert "out holds an earlier one: its files are replaced" in result.stdout
    assert len([path for path in (folder / "out").iterdir() if path.is_dir()]) == 1
    assert (folder / "out" / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_manifest_cannot_make_an_export_remove_what_lies_elsewhere(folder: Path) -> None:
    export("a.yaml::strides")
    manifest = json.loads((folder / "out" / "manifest.json").read_text("utf-8"))
    manifest["files"] += ["../a.yaml", str(folder / "a.yaml"), "..", ""]
    (folder / "out" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert export("a.yaml::strides").exit_code == 0
    assert (folder / "a.yaml").read_text(encoding="utf-8") == CASES


def test_an_export_that_is_cut_off_can_be_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writing, "digest_of", interrupt)
        assert export("a.yaml").exit_code == 130
    assert json.loads((folder / "out" / "manifest.json").read_text("utf-8"))["entries"] == []
    assert export("a.yaml").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written_is_wrong_usage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = export("a.yaml", to="a.yaml/out")
    assert result.exit_code == 2
    assert "cannot be written" in result.output or "is not a folder" in result.output

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_folder.Folder, "write", full)
    result = export("a.yaml")
    assert (result.exit_code, "out cannot be written: No space left on device" in result.output) == (2, True)
    assert folder.exists()


@pytest.mark.parametrize("command", ["export", "import"])
def test_help_says_what_there_is(command: str) -> None:
    result = dmlcheck(command, "--help")
    assert result.exit_code == 0
    assert "dxdispatch|onnx" in result.stdout
    assert "-o, --output DIR" in result.stdout


def test_a_format_that_is_not_there_is_refused_with_those_that_are() -> None:
    result = dmlcheck("export", "--to", "tflite", "a.yaml", "-o", "out")
    assert result.exit_code == 2
    assert "dxdispatch" in result.output


# ---- dxdispatch:EXE


def run(exe: str, *words: str) -> Any:
    result = dmlcheck("run", "a.yaml", "--implementation", f"dxdispatch:{exe}", "--json", "report.json", *words)
    assert result.exit_code in (0, 1), result.output
    return json.loads(Path("report.json").read_text(encoding="utf-8"))


def outcomes(report: Any) -> list[str]:
    return [case["outcome"] for case in report["cases"]]


def messages(report: Any) -> list[str]:
    return [diagnostic["message"] for case in report["cases"] for diagnostic in case["diagnostics"]]


def test_the_executable_is_judged_on_what_it_wrote(folder: Path) -> None:
    report = run(installed(folder / "a folder"))
    assert outcomes(report) == ["passed"] * (COUNT + 1), messages(report)
    assert report["implementation_version"] == "0.17.0"
    assert report["implementation_device"] == "Stand-in Adapter"


def test_a_wrong_expectation_fails(folder: Path) -> None:
    (folder / "a.yaml").write_text(CASES.replace("[[6], [15]]", "[[6], [16]]"), encoding="utf-8")
    report = run(installed(folder / "bin"), "-k", "strides")
    assert outcomes(report) == ["failed"]
    assert "1 of 2 elements is outside the tolerance" in messages(report)[0]


WRONG = {
    "--crash": r"dxdispatch ended with exit code 5; it printed\nFailed to execute dispatchable: 0x887A0005 ",
    "--silent": r"dxdispatch wrote no OutputTensor: outputs/OutputTensor.npy: .*it printed\nFailed to write resource",
    "--odd-file": r"dxdispatch wrote outputs/OutputTensor.npy, which cannot be used: ",
}


@pytest.mark.parametrize("mode", WRONG)
def test_an_executable_that_goes_wrong_is_the_cases_error_with_what_it_printed(folder: Path, mode: str) -> None:
    report = run(installed(folder / "bin", mode), "-k", "strides or on-purpose")
    assert outcomes(report) == ["error", "passed"]  # a negative case needs no executable
    assert re.match(WRONG[mode], messages(report)[0], re.DOTALL), messages(report)


def test_an_executable_that_hangs_is_ended_in_time(folder: Path) -> None:
    report = run(installed(folder / "bin", "--hang"), "-k", "strides", "--timeout", "0.7")
    assert outcomes(report) == ["error"]
    assert report["cases"][0]["reason"] == "timed out"


def test_of_what_an_executable_prints_only_the_end_is_kept(folder: Path) -> None:
    ended = _process.run([installed(folder / "bin", "--flood"), "nowhere.json"], str(folder), 60.0)
    assert len(ended.text) <= _process.MOST
    assert ended.text.rstrip().endswith("nowhere.json'")


def test_without_the_executable_it_says_where_it_is_to_be_had(folder: Path) -> None:
    (folder / "text.txt").write_text("no program", encoding="utf-8")
    for place, problem in (("nowhere/dxdispatch.exe", "is not there"), ("text.txt", "is not executable")):
        if sys.platform == "win32" and place == "text.txt":
            continue
        result = dmlcheck("run", "a.yaml", "--implementation", f"dxdispatch:{place}")
        assert result.exit_code == 2
        assert f"{place} {problem}; dxdispatch, for Windows, is among the releases of" in " ".join(
            result.output.split()
        )


def test_an_executable_that_says_nothing_of_itself_is_judged_all_the_same(folder: Path) -> None:
    assert about(make(f"dxdispatch:{installed(folder / 'bin', '--silent')}")) == ("0.17.0", "Stand-in Adapter")
    path = folder / ("mute.cmd" if sys.platform == "win32" else "mute")
    path.write_text("@exit /b 7\n" if sys.platform == "win32" else "#!/bin/sh\nexit 7\n", encoding="utf-8")
    path.chmod(0o755)
    mute = make(f"dxdispatch:{path}")
    assert about(mute) == ("", "")
    desc = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor=TENSOR)
    with pytest.raises(Failure, match="ended with exit code 7, and printed nothing"):
        mute.run(desc, {})


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_is_named_and_a_grandchild_does_not_outlive_the_time_limit(folder: Path) -> None:
    ended = _process.run(["/bin/sh", "-c", "kill -9 $$"], str(folder), 10.0)
    assert _process.ended_text(ended.code) + _process.said(ended.text) == "ended with SIGKILL, and printed nothing"
    with pytest.raises(TimedOut):
        _process.run(["/bin/sh", "-c", "(sleep 1; echo late > late.txt) & wait"], str(folder), 0.3)
    time.sleep(1.2)
    assert not (folder / "late.txt").exists()


def test_exit_codes_of_windows_are_shown_as_what_they_are() -> None:
    assert _process.code_text(-2147024809) == "ended with exit code 0x80070057"  # E_INVALIDARG
    assert _process.code_text(3221225477) == "ended with exit code 0xc0000005"
    assert _process.code_text(2) == "ended with exit code 2"
