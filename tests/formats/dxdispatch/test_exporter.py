"""`dmlcheck export --to dxdispatch`: what is written, what is not and why, and the folder that it goes to."""

from __future__ import annotations

import json
import re
import struct
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from commandline import json_of
from dxdispatch_cases import COUNT, FOLDED, HERE, TENSOR, desc_of, export, model_named, model_of, npy_bytes
from shipped import every_case

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.json import parse_json
from dmlcheck.folders import export_folder
from dmlcheck.formats.dxdispatch import exporter
from dmlcheck.formats.dxdispatch.exporter import OUTPUTS, read_outputs
from dmlcheck.formats.dxdispatch.form import MODEL
from dmlcheck.formats.dxdispatch.model import DxModel
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate


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


def test_an_export_that_is_cut_off_can_be_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = iter(["0" * 64])

    def interrupted(*_: Any) -> str:
        for digest in digests:
            return digest
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(exporter, "digest_of", interrupted)
        assert export("a.yaml").exit_code == 130
    (entry,) = json_of(folder / "out" / "manifest.json")["entries"]
    assert (entry["digest"], len(entry["cases"])) == ("0" * 64, 1)
    assert export("a.yaml").exit_code == 0


# ---- cases written as DxDispatch models: by the rules of the format, and read back as the same descs


SCHEMA = jsonschema.Draft202012Validator(json.loads((HERE / "schemas" / "dxdispatch-model.json").read_text("utf-8")))
FLOATS = ("FLOAT", "FLOAT_ARRAY", "SCALE_BIAS")


@cache
def shipped() -> tuple[Case, ...]:
    """Return of the shipped cases the first for each form of a desc: what it gives, and its data types."""
    first: dict[Any, Case] = {}
    for case in every_case():
        first.setdefault((case.operator, case.invalid, form_of(case.desc)), case)
    return tuple(first.values())


def form_of(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((name, part if name == "DataType" else form_of(part)) for name, part in sorted(value.items()))
    return type(value)


def read(model: Any) -> DxModel:
    text = json.dumps(model, allow_nan=False)
    return read_model(parse_json("model.json", text))


def plain(value: Any, *, is_float: bool = False) -> Any:
    """Return what a desc holds, whatever it was read from: of a FLOAT32 what it is rounded to, of NaN its name."""
    if isinstance(value, OperatorDesc):
        kinds = {name: field.type in FLOATS for name, field in value.spec.fields.items()}
        given = {name: part for name, part in value.values.items() if part is not None}
        return value.spec.operator, {name: plain(part, is_float=kinds[name]) for name, part in given.items()}
    if isinstance(value, tuple) and (is_float or type(value) is tuple):
        return [plain(part, is_float=is_float) for part in value]
    return str(np.float32(value)) if is_float or (isinstance(value, float) and not value.is_integer()) else value


@pytest.mark.slow
def test_a_shipped_case_becomes_a_model_that_the_format_allows_and_that_reads_back_as_the_same_desc() -> None:
    count = 0
    for case in shipped():
        going = export_folder.ready(case)
        if isinstance(going, export_folder.Exported):
            assert going.problems == (), case.id
            continue
        if exporter.unsupported(going.desc):
            continue
        files = dict(exporter.model_files(going.desc, going.inputs))
        model = json.loads(files.pop(MODEL))
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


@pytest.mark.slow
def test_an_accepted_desc_of_the_shipped_cases_survives_the_way_to_a_model_and_back() -> None:
    operators = set()
    for case in shipped():
        desc, findings = (None, []) if case.invalid else validate(case.operator, case.desc, NEWEST_LEVEL)
        if desc is None or findings or exporter.unsupported(desc):
            continue
        raw = {"type": desc.spec.operator, "desc": exporter.desc_of(desc)}
        model = {"resources": {}, "dispatchables": {"operator": raw}, "commands": []}
        SCHEMA.validate(model)
        (operator,) = read(model).operators.values()
        again = read_desc(operator.operator, operator.desc)
        assert not again.findings, case.id
        assert again.desc is not None
        assert plain(again.desc) == plain(desc), case.id
        operators.add(desc.spec.short)
    assert len(operators) == 174  # as many as JsonParsersGenerated.cpp has


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


# ---- what a model holds


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


def test_what_an_optional_tensor_would_be_is_neither_described_nor_bound() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}
    fields = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor, "Alpha": 0.1, "Beta": 0}
    fields |= {"TransA": "NONE", "TransB": "NONE"}
    desc = desc_of("GEMM", **fields)
    model = json.loads(dict(exporter.model_files(desc, {}))[MODEL])
    assert set(model["commands"][0]["bindings"]) == {"ATensor", "BTensor", "OutputTensor"}
    written = model["dispatchables"]["operator"]["desc"]
    assert "CTensor" not in written
    assert "FusedActivation" not in written
    assert struct.pack("<f", written["Alpha"]) == struct.pack("<f", 0.1)


def test_the_digest_is_of_the_values_and_not_of_how_they_are_written() -> None:
    desc = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor=TENSOR)
    tall = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor={**TENSOR, "Strides": [4, 4, 2, 1]})
    values = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    digest = exporter.digest_of(desc, {"InputTensor": values})
    assert exporter.digest_of(desc, {"InputTensor": np.asfortranarray(values)}) == digest
    assert exporter.digest_of(desc, {"InputTensor": values.astype(">f4")}) == digest
    assert exporter.digest_of(tall, {"InputTensor": values}) != digest
    assert exporter.digest_of(desc, {"InputTensor": values + 1}) != digest


@pytest.mark.parametrize(
    ("number", "written"),
    [(0.1, 0.1), (0.10000000149011612, 0.10000000149011612), (2**-24, 2**-24), (16777217, 16777216), (3, 3)],
)
def test_a_number_that_a_float_holds_is_written_to_its_last_digit_and_another_as_short_as_can_be(
    number: float, written: float
) -> None:
    desc = desc_of("ACTIVATION_LINEAR", InputTensor=TENSOR, OutputTensor=TENSOR, Alpha=number, Beta=0)
    assert exporter.desc_of(desc)["Alpha"] == written


def test_a_scalar_that_its_type_holds_is_written_to_its_last_digit() -> None:
    half = {**TENSOR, "DataType": "FLOAT16"}
    fields = {"InputTensor": half, "OutputTensor": half, "MinMaxDataType": "FLOAT16", "Min": 2**-24, "Max": 0.1}
    written = exporter.desc_of(desc_of("ELEMENT_WISE_CLIP1", **fields))
    assert (written["Min"], written["Max"]) == (2**-24, 0.1)


HALVES = {"InputTensor": {"DataType": "INT4", "Sizes": [2]}, "OutputTensor": {"DataType": "INT4", "Sizes": [2]}}
WRAPPED = {"InputTensor": TENSOR, "OutputTensor": {**TENSOR, "Sizes": [1, 1, 2, 3]}, "PaddingMode": "WRAP"}
WRAPPED |= {"DimensionCount": 4, "StartPadding": [0, 0, 0, 1], "EndPadding": [0] * 4, "PaddingValue": 0}
WIDE = {"InputTensor": {**TENSOR, "Strides": [0, 0, 0, 2**25]}, "OutputTensor": TENSOR}
CANNOT: dict[str, tuple[str, dict[str, Any]]] = {
    "DxDispatch does not know DML_OPERATOR_FOLD": ("FOLD", FOLDED),
    "the strides of InputTensor spread 4 elements over 0.1 GiB, for which no buffer is made": (
        "ELEMENT_WISE_IDENTITY",
        WIDE,
    ),
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
    assert exporter.unsupported(desc_of(operator, **fields)) == reason


# ---- the outputs that a model wrote: read with care, whoever wrote them


STRIDED = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor={**TENSOR, "Strides": [8, 8, 3, 1]})


def written(folder: Path, values: Any) -> Path:
    path = folder / OUTPUTS / "OutputTensor.npy"
    path.parent.mkdir()
    np.save(path, values)
    return path


def test_an_output_is_read_through_its_strides(tmp_path: Path) -> None:
    written(tmp_path, np.arange(5, dtype=np.float32))
    assert read_outputs(STRIDED, str(tmp_path))["OutputTensor"].tolist() == [[[[0, 1], [3, 4]]]]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.arange(4, dtype=np.float32), "wrote outputs/OutputTensor.npy as float32 [4], and FLOAT32 [5] is expected"),
        (np.arange(5), "wrote outputs/OutputTensor.npy as int64 [5], and FLOAT32 [5] is expected"),
        (np.array(["x"] * 5, dtype=object), "which cannot be used: it contains Python objects"),
    ],
)
def test_another_type_or_size_is_told(tmp_path: Path, values: Any, problem: str) -> None:
    written(tmp_path, values)
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_outputs(STRIDED, str(tmp_path))
