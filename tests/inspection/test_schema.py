"""The JSON Schema of case files, against the shipped cases and against files with mistakes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import jsonschema
import pytest
from commandline import dmlcheck
from compiled_descs import COMPILERS, MADE, compiled, compiler_of, made, shipped
from directml_header import VERSIONS, Code, header

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.files import yaml
from dmlcheck.inspection.schema import case_file_schema, header_text, schema_text
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS

ROOT = Path(__file__).parent.parent.parent
SCHEMA = case_file_schema()
CHECKER = jsonschema.Draft202012Validator(SCHEMA)
FOLDERS = sorted(path for path in (ROOT / "cases").iterdir() if path.is_dir())

GOOD = {
    "operator": "DML_OPERATOR_ARGMAX",
    "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 3]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3]},
        "Axes": [0],
        "AxisDirection": "INCREASING",
    },
    "inputs": {"InputTensor": [[1, 2, 3], [3, 0, 4], [2, 5, 2]]},
    "outputs": {"OutputTensor": [[1, 2, 1]]},
}


def changed(**parts: Any) -> dict[str, Any]:
    """Return the good file with some keys replaced."""
    return {**GOOD, **parts}


def with_field(name: str, value: Any) -> dict[str, Any]:
    """Return the good file with a field of its desc replaced."""
    desc: Any = GOOD["desc"]
    return changed(desc={**desc, name: value})


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_shipped_files_agree_with_the_schema(folder: Path) -> None:
    """A negative case may break the schema where it is about the form of a desc; whole files must not."""
    files = [path for path in folder.glob("*.yaml") if path.stem != "rejects"]
    errors = {path.name: list(CHECKER.iter_errors(yaml.read(str(path)).value)) for path in files}
    assert {name: [error.message for error in found] for name, found in errors.items() if found} == {}


@pytest.mark.slow
def test_the_schema_is_small_and_says_which_it_is() -> None:
    text = schema_text()
    assert json.loads(text) == SCHEMA
    assert len(text.encode()) < 200_000
    assert urlsplit(SCHEMA["$id"]).scheme == "urn"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_reference_has_its_definition_and_every_definition_is_used() -> None:
    used = set(re.findall(r'"#/\$defs/(\w+)"', schema_text()))
    assert used == SCHEMA["$defs"].keys()


def test_a_definition_that_a_described_field_refers_to_has_no_description_of_its_own() -> None:
    """Editors show the description of a definition in place of the one beside the reference."""
    for spec in map(load_spec, operator_names()):
        fields = SCHEMA["$defs"][spec.short]["properties"]["desc"]["properties"]
        for name, field in spec.fields.items():
            shown = fields[name]
            while "description" not in shown:
                shown = SCHEMA["$defs"][shown["$ref"].removeprefix("#/$defs/")]
            assert shown["description"] == field.about
            if "$ref" in shown:
                assert "description" not in SCHEMA["$defs"][shown["$ref"].removeprefix("#/$defs/")]


def test_there_are_files_to_check() -> None:
    assert len(FOLDERS) == len(operator_names())
    assert all(any(folder.glob("*.yaml")) for folder in FOLDERS)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (changed(tolerence="exact"), []),
        (changed(operator="DML_OPERATOR_ARGMAXX"), ["operator"]),
        (changed(inputs=[1, 2]), ["inputs"]),
        (changed(outputs={"OutputTensor": {"filled": 1}}), ["outputs", "OutputTensor"]),
        (changed(tolerance={"ulps": 2}), ["tolerance"]),
        (changed(tolerance={"reason": "no limit"}), ["tolerance"]),
        (changed(tolerance={"ulp": 1, "reason": 5}), ["tolerance"]),
        (changed(invalid="size-mismatch"), ["invalid"]),
        (with_field("AxisDirection", "UPWARD"), ["desc", "AxisDirection"]),
        (with_field("Axis", [0]), ["desc"]),
        (with_field("Axes", "0"), ["desc", "Axes"]),
        (with_field("InputTensor", {"DataType": "FLOAT31", "Sizes": [3, 3]}), ["desc", "InputTensor"]),
        (with_field("InputTensor", None), ["desc", "InputTensor"]),
        (changed(operator=5), ["operator"]),
        (changed(desc=None), ["desc"]),
        ({"operator": "ARGMAX", "cases": [{**GOOD, "name": "one", "desc": {"Axis": [0]}}]}, ["cases", 0, "desc"]),
        ({"operator": "ARGMAX", "cases": [{"name": "one", "desc": {"Axis": [0]}}]}, ["cases", 0, "desc"]),
        (
            {"operator": "GEMM", "cases": [{"name": "one", "operator": "ARGMAX", "desc": {"Beta": 1}}]},
            ["cases", 0, "desc"],
        ),
        ({"operator": "GEMM", "cases": [{"desc": {}}]}, ["cases", 0]),
        ({"operator": "SCATTER_ELEMENTS", "desc": {"Axes": 0}}, ["desc"]),
    ],
)
def test_a_mistake_is_found_where_it_is(value: Any, where: list[Any]) -> None:
    errors = list(CHECKER.iter_errors(value))
    assert errors
    assert where in [list(error.absolute_path)[: len(where)] for error in errors]


def test_the_good_file_agrees() -> None:
    CHECKER.validate(GOOD)
    CHECKER.validate({"operator": "ARGMAX", "cases": [{**GOOD, "name": "one"}]})


@pytest.mark.parametrize(
    "value",
    [
        {"operator": "GEMM", "cases": [{**GOOD, "name": "one"}]},
        {"operator": "ARGMAX", "cases": [{"name": "one", "desc": {"Beta": 1}, "invalid": ["unknown-field"]}]},
        {"operator": "ARGMAX", "desc": {"Beta": 1}, "invalid": ["unknown-field"]},
        {"operator": "NO_SUCH", "desc": {}, "invalid": ["unknown-operator"]},
        {"operator": "SCATTER_ELEMENTS", "desc": {"Axis": 0}},
        {"operator": "DML_OPERATOR_SCATTER_ELEMENTS", "cases": [{"name": "one", "desc": {"Axis": 0}}]},
        {"operator": "${Operator}", "desc": {"Beta": 1}, "matrix": {"Operator": ["GEMM"]}},
        with_field("AxisCount", None),
        with_field("AxisDirection", "DML_AXIS_DIRECTION_DECREASING"),
        changed(outputs={"OutputTensor": [["any", 2, 1]]}),
        changed(outputs={"OutputTensor": {"fill": "any"}}),
    ],
)
def test_what_dmlcheck_takes_agrees_with_the_schema(value: Any) -> None:
    CHECKER.validate(value)


ACTIVATED = {
    "operator": "CONVOLUTION",
    "desc": {
        "InputTensor": {"Type": "BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "Strides": None}},
        "FilterTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "Flags": ["OWNED_BY_DML"]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "Strides": [1, 1],
        "FusedActivation": {"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 1}},
    },
    "inputs": {
        "InputTensor": {"sequence": {"start": 1, "step": 1}},
        "FilterTensor": {"random": {"seed": 1, "low": 0, "high": 2}},
    },
    "outputs": {"OutputTensor": {"buffer": [1, 2, 3, 4]}},
    "tolerance": {"absolute": 1, "reason": "rough"},
    "tags": ["quick"],
}
JOINED = {"operator": "JOIN", "desc": {"InputTensors": [{"DataType": "INT8", "Sizes": [2]}]}}
SCALED = {"operator": "ELEMENT_WISE_ABS", "desc": {"ScaleBias": {"Scale": 1, "Bias": 0}}}
NEGATIVE = {"operator": "ELEMENT_WISE_ABS", "desc": {}, "invalid": ["missing-field"]}


def each_replaced(value: Any, by: str) -> Iterator[tuple[str, Any]]:
    """Yield each part of a value by its path, and the whole value with this part replaced."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = by
        yield str(key), copy
        if isinstance(part, (dict, list)):
            for path, replaced in each_replaced(part, by):
                whole = dict(value) if isinstance(value, dict) else list(value)
                whole[key] = replaced
                yield f"{key}.{path}", whole


@pytest.mark.parametrize("value", [GOOD, ACTIVATED, JOINED, SCALED, NEGATIVE], ids=lambda value: value["operator"])
def test_a_variable_of_a_matrix_may_stand_for_any_value(value: Any) -> None:
    CHECKER.validate(value)
    wrong = [path for path, changed in each_replaced(value, "${V}") if not CHECKER.is_valid(changed)]
    assert wrong == []


def test_the_schema_knows_every_operator_field_and_value() -> None:
    text = json.dumps(SCHEMA)
    for operator in operator_names():
        assert f'"{operator}"' in text
        for field in load_spec(operator).fields.values():
            assert f'"{field.name}"' in text
            assert all(f'"{value}"' in text for value in ENUMS.get(field.enum or "", ()))
    assert all(f'"{key}"' in text for key in CASE_KEYS)


# ---- the C++ header, compiled against a DirectML.h made from the specs: what it writes is read back as the same desc


BEGINNING = """\
#include "dmlcheck_desc.h"
#include "dmlcheck_desc.h"
static std::string folder;
static void save(const std::string& name, const DML_OPERATOR_DESC& desc)
{
    dmlcheck::check(static_cast<HRESULT>(0x80070057), desc, (folder + "/" + name + ".json").c_str());
}
struct Grouped : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\\3"; }
};
"""
# Written out by hand, with what no desc of ours has: null pointers, values that no enumeration has, other operators.
BY_HAND = """\
    const UINT sizes[] = {1234567, 3};
    const DML_BUFFER_TENSOR_DESC input = {
        DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_FLAG_NONE, 2, sizes, nullptr, 14814804, 0};
    const DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &input};
    const DML_TENSOR_DESC invalid = {DML_TENSOR_TYPE_INVALID, nullptr};
    const UINT axes[] = {1};
    const DML_REDUCE_OPERATOR_DESC reduce = {static_cast<DML_REDUCE_FUNCTION>(15), &tensor, &invalid, 1, axes};
    save("reduce", {DML_OPERATOR_REDUCE, &reduce});
    const DML_ARGMAX_OPERATOR_DESC argmax = {&tensor, nullptr, 2, nullptr, DML_AXIS_DIRECTION_DECREASING};
    save("argmax", {DML_OPERATOR_ARGMAX, &argmax});
    save("unknown", {static_cast<DML_OPERATOR_TYPE>(250), &argmax});
    save("empty", {DML_OPERATOR_ARGMAX, nullptr});
    if (dmlcheck::check(0, {DML_OPERATOR_REDUCE, &reduce}, (folder + "/succeeded.json").c_str()) != 0) { return 2; }
    const std::string nowhere = folder + "/none/none.json";
    if (dmlcheck::check(-5, {DML_OPERATOR_REDUCE, &reduce}, nowhere.c_str()) != -5) { return 3; }
    std::locale::global(std::locale(std::locale::classic(), new Grouped));
    std::ostringstream out;
    out << std::hex << std::showpos << std::setw(500) << std::setprecision(2);
    dmlcheck::write(out, {DML_OPERATOR_REDUCE, &reduce});
    std::ofstream(folder + "/stream.json", std::ios::binary) << out.str();
    const DML_ELEMENT_WISE_THRESHOLD_OPERATOR_DESC threshold = {nullptr, nullptr, nullptr, 1234567.5f};
    save("threshold", {DML_OPERATOR_ELEMENT_WISE_THRESHOLD, &threshold});
"""
TENSOR = '{"DataType": "INT32", "DimensionCount": 2, "Sizes": [1234567, 3], "TotalTensorSizeInBytes": 14814804}'
REDUCE = f"""\
{{
  "operator": "DML_OPERATOR_REDUCE",
  "desc": {{
    "Function": 15,
    "InputTensor": {TENSOR},
    "OutputTensor": {{"Type": "INVALID", "Desc": null}},
    "AxisCount": 1,
    "Axes": [1]
  }}
}}
"""
WRITTEN_BY_HAND = {
    "reduce": REDUCE,
    "stream": REDUCE,
    "argmax": f"""\
{{
  "operator": "DML_OPERATOR_ARGMAX",
  "desc": {{
    "InputTensor": {TENSOR},
    "AxisCount": 2,
    "AxisDirection": "DECREASING"
  }}
}}
""",
    "threshold": '{\n  "operator": "DML_OPERATOR_ELEMENT_WISE_THRESHOLD",\n  "desc": {\n    "Min": 1234567.5\n  }\n}\n',
    "unknown": '{\n  "operator": "250",\n  "desc": {}\n}\n',
    "empty": '{\n  "operator": "DML_OPERATOR_ARGMAX",\n  "desc": null\n}\n',
}


@pytest.fixture(scope="module")
def descs() -> dict[str, OperatorDesc]:
    return {**{name: shipped(name) for name in operator_names()}, **made()}


# ---- the program


class Built(NamedTuple):
    """A folder with both headers, and one with what the program wrote."""

    headers: Path
    written: Path
    errors: str


def program(descs: Mapping[str, OperatorDesc]) -> str:
    """Return a program that writes each desc to a file of its name."""
    includes = "".join(f"#include <{name}>\n" for name in ("iomanip", "limits", "sstream"))
    parts = [includes, BEGINNING]
    for number, desc in enumerate(descs.values()):
        code = Code()
        made = code.operator(desc)
        parts.append(
            "\n".join([f"static void f{number}(const char* name) {{", *code.lines, f"    save(name, {made});\n}}"])
        )
    calls = "\n".join(f'    f{number}("{name}");' for number, name in enumerate(descs))
    parts.append(f"int main(int, char** words)\n{{\n    folder = words[1];\n{calls}\n{BY_HAND}    return 0;\n}}\n")
    return "\n".join(parts)


@pytest.fixture(scope="module", params=COMPILERS)
def compiler(request: pytest.FixtureRequest) -> str:
    return compiler_of(request.param)


@pytest.fixture(scope="module")
def built(compiler: str, descs: dict[str, OperatorDesc], tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("headers")
    (folder / "DirectML.h").write_text(header(), encoding="utf-8")
    (folder / "dmlcheck_desc.h").write_text(header_text() + "\n", encoding="utf-8")
    (folder / "main.cpp").write_text(program(descs), encoding="utf-8")
    compiled(compiler, folder, "-O0", str(folder / "main.cpp"), "-o", str(folder / "main"))
    written = folder / "written"
    written.mkdir()
    command = [str(folder / "main"), str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    return Built(folder, written, done.stderr)


# ---- the tests


@pytest.mark.slow
def test_a_desc_of_each_operator_is_read_back_as_it_was(built: Built, descs: dict[str, OperatorDesc]) -> None:
    assert len(descs) == len(operator_names()) + len(MADE)
    for name, desc in descs.items():
        document = yaml.read(str(built.written / f"{name}.json"))
        assert not document.problems
        assert list(document.value) == ["operator", "desc"]
        read = read_desc(document.value["operator"], document.value["desc"])
        assert (name, read.findings, read.desc is None) == (name, (), False)
        # The text tells 0.0 from -0.0, which a comparison of numbers does not.
        assert (name, repr(notation(read.desc))) == (name, repr(notation(desc)))  # type: ignore[arg-type]


@pytest.mark.slow
def test_fields_are_in_the_order_of_the_struct(built: Built, descs: dict[str, OperatorDesc]) -> None:
    for name, desc in descs.items():
        fields = json.loads((built.written / f"{name}.json").read_bytes())["desc"]
        assert list(fields) == [field for field in desc.spec.fields if field in desc.values]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN_BY_HAND)
def test_what_is_wrong_with_a_desc_is_written_too(built: Built, name: str) -> None:
    assert (built.written / f"{name}.json").read_bytes().decode() == WRITTEN_BY_HAND[name]


@pytest.mark.slow
def test_a_desc_is_written_where_creation_failed_only_and_a_file_that_cannot_be_is_told(built: Built) -> None:
    assert not (built.written / "succeeded.json").exists()
    assert built.errors == f"dmlcheck: {built.written}/none/none.json cannot be written\n"


@pytest.mark.slow
def test_validate_takes_what_is_written(built: Built) -> None:
    text = (built.written / "DML_OPERATOR_LSTM.json").read_text(encoding="utf-8")
    assert dmlcheck("validate", "-", stdin=text).exit_code == 0


@pytest.mark.parametrize(
    ("name", "exit_code", "message"),
    [
        ("reduce", 1, ":4:17: error[unknown-enum-value]: 15 is not a value of DML_REDUCE_FUNCTION"),
        ("reduce", 1, "error[field-type]: OutputTensor.Type is INVALID; it must be BUFFER"),
        ("argmax", 1, "error[missing-field]: DML_OPERATOR_ARGMAX needs the field OutputTensor"),
        ("argmax", 1, "error[missing-field]: DML_OPERATOR_ARGMAX needs the field Axes"),
        ("unknown", 1, "error[unknown-operator]"),
        ("empty", 2, "error[missing-key]: a case needs the key desc"),
    ],
)
def test_validate_names_what_is_wrong(name: str, exit_code: int, message: str) -> None:
    result = dmlcheck("validate", "-", stdin=WRITTEN_BY_HAND[name])
    assert (result.exit_code, message in result.output) == (exit_code, True), result.output


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(set(VERSIONS.values())))
def test_operators_that_an_older_header_does_not_have_are_left_out(built: Built, compiler: str, version: int) -> None:
    source = built.headers / "older.cpp"
    source.write_text('#include "dmlcheck_desc.h"\n', encoding="utf-8")
    compiled(compiler, built.headers, f"-DDML_TARGET_VERSION={version}", "-fsyntax-only", str(source))


def test_the_header_is_of_plain_text_and_has_every_operator() -> None:
    text = header_text()
    assert text.isascii()
    assert "@" not in text
    assert text.count("    case DML_OPERATOR_") == len(operator_names())
