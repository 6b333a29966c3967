"""DxDispatch models as case files, and the round trip of the shipped cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import Result
from commandline import dmlcheck, json_of

import dmlcheck as api
from dmlcheck import validation
from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.descs.write import notation

CASES = Path(__file__).parent.parent.parent.parent / "cases"
REDUCTIONS = ("argmax", "argmin", "reduce", "activation_hardmax", "activation_hardmax1")
DESC = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
    "OutputTensor": {"DataType": "UINT32", "Sizes": [2, 1]},
    "Axes": [1],
    "AxisDirection": "DML_AXIS_DIRECTION_INCREASING",
}


def model_of(**changes: Any) -> dict[str, Any]:
    """Return a model with one ArgMax, some of its parts replaced."""
    model: dict[str, Any] = {
        "resources": {
            "in": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 6, 5, 4]},
            "out": {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 2, "value": 0}},
        },
        "dispatchables": {"argmax": {"type": "DML_OPERATOR_ARGMAX", "desc": DESC}},
        "commands": [dispatch("argmax", InputTensor="in", OutputTensor="out")],
    }
    return {**model, **changes}


def dispatch(name: str, **bindings: Any) -> dict[str, Any]:
    return {"type": "dispatch", "dispatchable": name, "bindings": bindings}


def imported(tmp_path: Path, model: Any, name: str = "model-1.json") -> tuple[Any, Result]:
    """Import a model; return its case file as YAML reads it, or None, and the result."""
    path = tmp_path / name
    path.write_text(model if isinstance(model, str) else json.dumps(model), encoding="utf-8")
    result = dmlcheck("import", "dxdispatch", path, "-o", tmp_path / "imported")
    written = (tmp_path / "imported" / name).with_suffix(".yaml")
    return (yaml.safe_load(written.read_text(encoding="utf-8")) if written.exists() else None), result


def test_a_dispatch_that_reads_what_another_writes_has_no_known_inputs(tmp_path: Path) -> None:
    model = model_of()
    desc = {
        "InputTensor": {"DataType": "UINT32", "Sizes": [2]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [2]},
    }
    model["dispatchables"]["copy"] = {"type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "desc": desc}
    model["resources"]["last"] = model["resources"]["out"]
    model["commands"].append(dispatch("copy", InputTensor="out", OutputTensor="last"))
    case, result = imported(tmp_path, model)
    assert [one["name"] for one in case["cases"]] == ["argmax"]
    assert "copy is not imported: it reads out, which argmax writes before" in result.output


def test_a_shader_is_no_case(tmp_path: Path) -> None:
    model = model_of()
    model["dispatchables"]["shader"] = {"type": "hlsl", "sourcePath": "x.hlsl", "compiler": "dxc"}
    model["commands"].append({**dispatch("shader"), "threadGroupCount": [1, 1, 1]})
    case, result = imported(tmp_path, model)
    assert len(case["cases"]) == 1
    assert "shader is not imported: hlsl is not DirectML" in result.output


def test_a_desc_that_is_not_valid_is_shown_where_it_stands(tmp_path: Path) -> None:
    model = model_of(dispatchables={"argmax": {"type": "DML_OPERATOR_ARGMAX", "desc": {**DESC, "Axes": [2]}}})
    case, result = imported(tmp_path, model)
    assert case is None
    assert result.exit_code == 2
    assert "axis-out-of-range" in result.output


def test_a_values_file_outside_of_the_models_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    np.save(tmp_path / "x.npy", np.zeros(6, dtype=np.float32))
    model = model_of()
    model["resources"]["in"] = {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "../x.npy"}}
    case, result = imported(tmp_path, model, "inner/model-1.json")
    assert case is None
    assert result.exit_code == 2
    assert "file-not-found" in result.output


# ---- the round trip


def arrays(case: Case) -> dict[str, list[bytes]]:
    """Return the bytes of a case's inputs, by field and part, in logical order."""
    prepared = prepare(case)
    assert prepared.findings == ()
    return {
        name: [part.tobytes() for part in (each if isinstance(each, list) else [each])]
        for name, each in prepared.inputs.items()
    }


def fields(case: Case) -> dict[str, Any]:
    desc, findings = validation.validate(case.operator, case.desc, case.level)
    assert desc is not None
    assert not findings
    return {"operator": desc.spec.operator, **notation(desc)}


@pytest.mark.slow
def test_an_export_comes_back_as_the_same_descs_and_inputs(tmp_path: Path) -> None:
    files = ("values.yaml", "documented.yaml", "layouts.yaml")
    paths = [CASES / name / file for name in REDUCTIONS for file in files if (CASES / name / file).exists()]
    dmlcheck("export", "--to", "dxdispatch", *paths, "-o", tmp_path / "exported")
    dmlcheck("import", "dxdispatch", tmp_path / "exported", "-o", tmp_path / "back")
    cases = {case.id: case for path in paths for case in api.load_cases(str(path))}
    entries = json_of(tmp_path / "exported" / "manifest.json")["entries"]
    assert len(entries) > 100
    for entry in entries:
        back = list(api.load_cases(str(tmp_path / "back" / f"{entry['folder']}.yaml")))
        for read, case in zip(back, entry["cases"], strict=True):
            assert fields(read) == fields(cases[case]), case
            assert arrays(read) == arrays(cases[case]), case
            assert read.name.startswith(cases[case].name)


TWO_CASES = """\
operator: ACTIVATION_RELU
source: by hand
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
inputs: {InputTensor: {fill: -1}}
outputs: {OutputTensor: {fill: 0}}
cases: [{name: plain}, {name: "a::b"}]
"""


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda manifest: manifest, ["plain", "a::b"]),
        (lambda manifest: {**manifest, "entries": 5}, ["operator"]),
        (lambda manifest: {**manifest, "entries": [7, {"folder": "another", "cases": ["x::y"]}]}, ["operator"]),
        (lambda manifest: {**manifest, "entries": [{**manifest["entries"][0], "cases": [3, None]}]}, ["operator"]),
        (lambda _: {}, ["operator"]),
    ],
)
def test_the_case_of_an_export_has_the_names_that_it_was_exported_from(
    tmp_path: Path, change: Any, names: list[str]
) -> None:
    (tmp_path / "two.yaml").write_text(TWO_CASES, encoding="utf-8")
    assert dmlcheck("export", "--to", "dxdispatch", tmp_path / "two.yaml", "-o", tmp_path / "models").exit_code == 0
    manifest = tmp_path / "models" / "manifest.json"
    manifest.write_text(json.dumps(change(json_of(manifest))), encoding="utf-8")
    assert dmlcheck("import", "dxdispatch", tmp_path / "models", "-o", tmp_path / "back").exit_code == 0
    listed = dmlcheck("run", tmp_path / "back", "--list").stdout.splitlines()
    assert [line.partition(".yaml::")[2] for line in listed] == names
