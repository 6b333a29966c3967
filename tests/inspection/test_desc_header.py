"""The C++ header, compiled against a DirectML.h made from the specs: what it writes is read back as the same desc."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from commandline import dmlcheck
from compiled_descs import COMPILERS, MADE, compiled, compiler_of, made, shipped
from directml_header import VERSIONS, Code, header

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.files import yaml
from dmlcheck.inspection.schema import header_text
from dmlcheck.specs.load import operator_names

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
