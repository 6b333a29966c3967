"""Models that dmlcheck exported come back as the cases that they were."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, json_of

import dmlcheck as api
from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import TensorDesc
from dmlcheck.descs.write import notation

onnx = pytest.importorskip("onnx")

from onnx_backend_tests import arrays  # noqa: E402
from onnx_models import labelled  # noqa: E402

CASES = Path(__file__).parent.parent.parent / "cases"


REDUCTIONS = ("argmax", "argmin", "reduce", "activation_hardmax", "activation_hardmax1")


def fields(case: Case) -> dict[str, Any]:
    desc, _ = validation.validate(case.operator, case.desc, case.level)
    assert desc is not None
    return {"operator": desc.spec.operator, **notation(desc)}


def same_values(one: dict[str, Any], other: dict[str, Any]) -> bool:
    one, other = labelled(one), labelled(other)
    assert one.keys() == other.keys()
    return all(
        own.dtype == wanted.dtype and own.shape == wanted.shape and own.tobytes() == wanted.tobytes()
        for own, wanted in zip(one.values(), other.values(), strict=True)
    )


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Case]]:
    """Export the shipped reductions; return the folder, and the case of each folder in it."""
    folder = tmp_path_factory.mktemp("export") / "exported"
    paths = [path for name in REDUCTIONS for path in sorted((CASES / name).iterdir()) if path.name != "large.yaml"]
    dmlcheck("export", "--to", "onnx", *paths, "-o", folder)
    cases = {case.id: case for path in paths for case in api.load_cases(str(path))}
    entries = json_of(folder / "manifest.json")["entries"]
    return folder, {entry["folder"]: cases[entry["cases"][0]] for entry in entries}


@pytest.mark.slow
def test_an_export_comes_back_as_the_same_cases(tmp_path: Path, exported: tuple[Path, dict[str, Case]]) -> None:
    folder, cases = exported
    assert len(cases) > 700
    dmlcheck("import", "onnx", folder, "-o", tmp_path / "back")
    for name, case in cases.items():
        (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
        assert fields(read) == fields(case), name
        assert same_values(arrays(read), arrays(case)), name
        kept = ("feature_level", "source", "tolerance", "tags", "note")
        assert [getattr(read, key) for key in kept] == [getattr(case, key) for key in kept], name


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["quantize", "dequantize"])
def test_4_bit_elements_come_back(operator: str, tmp_path: Path) -> None:
    path = CASES / operator / "values.yaml"
    dmlcheck("export", "--to", "onnx", path, "-o", tmp_path / "models")
    entries = json_of(tmp_path / "models" / "manifest.json")["entries"]
    dmlcheck("import", "onnx", tmp_path / "models", "-o", tmp_path / "back")
    cases = {case.id: case for case in api.load_cases(str(path)) if "int4" in case.id}
    pairs = [(entry["folder"], cases[entry["cases"][0]]) for entry in entries if entry["cases"][0] in cases]
    assert len(pairs) > 20
    for name, case in pairs:
        (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
        assert fields(read) == fields(case), name
        assert same_values(arrays(read), arrays(case)), name


@pytest.mark.slow
def test_models_that_do_not_say_what_they_were_come_back_where_they_have_one_operator(
    tmp_path: Path, exported: tuple[Path, dict[str, Case]]
) -> None:
    folder, cases = exported
    anonymous = tmp_path / "anonymous"
    for name in cases:
        model = onnx.load(folder / name / "model.onnx")
        if len(model.graph.node) == 1 and max(path.stat().st_size for path in (folder / name).rglob("*.pb")) < 2**16:
            del model.metadata_props[:]
            shutil.copytree(folder / name, anonymous / name)
            onnx.save(model, anonymous / name / "model.onnx")
    dmlcheck("import", "onnx", anonymous, "-o", tmp_path / "back")
    names = sorted(path.name for path in anonymous.iterdir())
    assert len(names) > 300
    for name in names:
        (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
        assert fields(read) == one_for_one(cases[name]), name
        given = arrays(cases[name])
        assert same_values({label: values for label, values in arrays(read).items() if label in given}, given), name


def one_for_one(case: Case) -> dict[str, Any]:
    """Return a case's fields as ONNX has them: packed, axes in order, and one name for what has two."""
    desc, _ = validation.validate(case.operator, case.desc, case.level)
    assert desc is not None
    tensors = {
        name: value._replace(strides=None, total_size=None, alignment=0, flags="NONE")
        for name, value in desc.values.items()
        if isinstance(value, TensorDesc)
    }
    wanted = {"operator": desc.spec.operator, **notation(desc._replace(values={**desc.values, **tensors}))}
    rank = len(desc.values["InputTensor"].sizes)
    if wanted["operator"] == "DML_OPERATOR_ACTIVATION_HARDMAX":
        wanted |= {"operator": "DML_OPERATOR_ACTIVATION_HARDMAX1", "AxisCount": 1, "Axes": [rank - 1]}
    if wanted.get("Function", "").startswith("ARG"):
        wanted |= {"operator": f"DML_OPERATOR_{wanted.pop('Function')}", "AxisDirection": "INCREASING"}
    return {**wanted, "Axes": sorted(wanted["Axes"])}


@pytest.mark.slow
def test_a_model_that_was_changed_after_its_export_is_what_it_is_now(
    tmp_path: Path, exported: tuple[Path, dict[str, Case]]
) -> None:
    folder, cases = exported
    name = next(name for name, case in cases.items() if case.desc.get("Function") == "MIN")
    shutil.copytree(folder / name, tmp_path / name)
    model = onnx.load(folder / name / "model.onnx")
    model.graph.node[0].op_type = "ReduceMax"
    onnx.save(model, tmp_path / name / "model.onnx")
    dmlcheck("import", "onnx", tmp_path / name, "-o", tmp_path / "back")
    (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
    assert read.desc["Function"] == "MAX"


@pytest.mark.slow
def test_what_an_export_notes_is_not_trusted(tmp_path: Path, exported: tuple[Path, dict[str, Case]]) -> None:
    folder, cases = exported
    name = next(iter(cases))
    noted = {"desc": ["[" * 10**5, "{}", "1"], "operator": ['"NO"'], "given": ["3"], "source": ["{}"]}
    for key, value in ((key, value) for key, values in noted.items() for value in values):
        target = tmp_path / name
        shutil.copytree(folder / name, target, dirs_exist_ok=True)
        model = onnx.load(folder / name / "model.onnx")
        for entry in model.metadata_props:
            if entry.key == f"dmlcheck.{key}":
                entry.value = value
        onnx.save(model, target / "model.onnx")
        result = dmlcheck("import", "onnx", target, "-o", tmp_path / "back")
        assert "1 case imported" in result.output or "left out" in result.output
