"""Specs are read from their files one at a time, by names in full or short."""

from __future__ import annotations

from pathlib import Path

import pytest

from dmlcheck.specs import load
from dmlcheck.specs.records import (
    BASES,
    ERRATUM_KINDS,
    Constraint,
    Erratum,
    Field,
    Half,
    Measured,
    MeasuredOn,
    TensorSupport,
    Undefined,
)

SPEC = """\
operator: DML_OPERATOR_TWICE
number: 178
introduced: "2_0"
in_place: true
kernel: unary
supersedes: [DML_OPERATOR_ONCE]
page: {folder: "win32/api", file: "twice.md", date: 2025-01-01}
fields:
  InputTensor: {kind: input_tensor}
  OutputTensor: {kind: output_tensor, optional: true}
  AxisCount: {type: UINT, counts: [Axes]}
  Axes: {type: UINT_ARRAY, about: "which axes"}
support:
  - when: {Axes: 1}
    levels:
      "3_0":
        InputTensor: {dims: "1..3, 5", types: [FLOAT32]}
        OutputTensor: {dims: 4, types: []}
constraints:
  - {id: C1, text: "One type.", same_data_type: [InputTensor, OutputTensor]}
  - {id: C2, text: "Axes.", distinct_axes: [Axes], when: {Axes: [1, 2]}, until: "4_0", given: [C1], help: "no"}
tolerance:
  - {ulp: 1, source: a page}
"""


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that specs are read from."""
    monkeypatch.setattr(load, "data_folder", {"specs": str(tmp_path)}.__getitem__)
    return tmp_path


def write(folder: Path, name: str, text: str = SPEC) -> str:
    """Write a spec and return its operator, which no other test has loaded."""
    (folder / f"{name.lower()}.yaml").write_text(text, encoding="utf-8")
    return f"DML_OPERATOR_{name}"


def test_a_spec_is_what_its_file_says(specs: Path) -> None:
    spec = load.load_spec(write(specs, "READ_FOR_TEST_LOAD"))
    assert (spec.operator, spec.short, spec.introduced, spec.in_place) == ("DML_OPERATOR_TWICE", "TWICE", "2_0", True)
    assert spec.supersedes == ("DML_OPERATOR_ONCE",)
    assert spec.page["url"] == "https://learn.microsoft.com/windows/win32/api/twice"
    assert spec.fields["AxisCount"] == Field("AxisCount", "attribute", "UINT", counts=("Axes",))
    assert spec.fields["OutputTensor"] == Field("OutputTensor", "output_tensor", "TENSOR_DESC", optional=True)
    (table,) = spec.support
    assert table.when == {"Axes": (1,)}
    assert table.rows["3_0"]["InputTensor"] == TensorSupport((1, 2, 3, 5), ("FLOAT32",))
    assert table.rows["3_0"]["OutputTensor"] == TensorSupport((4,), ())
    assert [row.ulp for row in spec.tolerance] == [1]
    assert (spec.kernel, spec.let, spec.errata, spec.examples) == ("unary", {}, (), ())


def test_a_constraint_is_a_word_with_its_arguments_and_when_it_applies(specs: Path) -> None:
    first, second = load.load_spec(write(specs, "ROWS_FOR_TEST_LOAD")).constraints
    tensors = ["InputTensor", "OutputTensor"]
    assert first == Constraint("C1", "One type.", "same_data_type", tensors, is_unconditional=True)
    assert second == Constraint(
        "C2", "Axes.", "distinct_axes", ["Axes"], when={"Axes": (1, 2)}, until="4_0", given=("C1",), help="no"
    )


def test_a_spec_is_read_once(specs: Path) -> None:
    name = write(specs, "ONCE_FOR_TEST_LOAD")
    spec = load.load_spec(name)
    (specs / "once_for_test_load.yaml").unlink()
    assert load.load_spec(name) is spec


@pytest.mark.usefixtures("specs")
def test_an_operator_without_a_spec_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="NONE_FOR_TEST_LOAD"):
        load.load_spec("DML_OPERATOR_NONE_FOR_TEST_LOAD")


def test_a_spec_that_is_not_yaml_is_an_error_of_dmlcheck(specs: Path) -> None:
    with pytest.raises(ValueError, match=r"broken_for_test_load\.yaml: "):
        load.load_spec(write(specs, "BROKEN_FOR_TEST_LOAD", "operator: ["))


def test_every_spec_is_named_after_its_operator() -> None:
    for name in load.operator_names():
        assert load.load_spec(name).operator == name


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("ARGMAX", "DML_OPERATOR_ARGMAX"),
        ("DML_OPERATOR_ARGMAX", "DML_OPERATOR_ARGMAX"),
        ("SCATTER_ELEMENTS", "DML_OPERATOR_SCATTER"),
        ("DML_OPERATOR_SCATTER_ELEMENTS", "DML_OPERATOR_SCATTER"),
        ("argmax", None),
        ("ARGMAXX", None),
        ("", None),
        ("DML_OPERATOR_", None),
    ],
)
def test_an_operators_name_may_leave_out_its_prefix(name: str, full: str | None) -> None:
    assert load.full_name(name) == full


@pytest.mark.parametrize("name", ["specs", "cases"])
def test_the_data_are_beside_the_package_or_in_it(name: str) -> None:
    assert Path(load.data_folder(name)).is_dir()


@pytest.mark.parametrize(
    ("row", "versions"),
    [
        ("until: 1.9.0", "before 1.9.0"),
        ("since: 1.7.0, until: 1.8.2", "from 1.7.0, fixed in 1.8.2"),
        ("as_of: 2025-11", "not fixed as of 2025-11"),
        ("since: 1.7.0, as_of: 2025-11", "from 1.7.0, not fixed as of 2025-11"),
        ("as_of: 2025-11, device: GPU 0", "not fixed as of 2025-11, on GPU 0"),
    ],
)
def test_a_known_deviation_says_in_words_which_versions_have_it(specs: Path, row: str, versions: str) -> None:
    name = f"VERSIONS_{abs(hash(row))}"
    text = SPEC + f"known_deviations:\n  - {{text: Wrong., source: a page, {row}}}\n"
    (known,) = load.load_spec(write(specs, name, text)).known_deviations
    assert known.versions == versions
    assert known.as_of == ("2025-11" if "as_of" in row else None)


def test_a_known_deviation_that_operators_share_is_named_and_may_be_changed(specs: Path) -> None:
    shared = specs / "shared" / "known_deviations.yaml"
    shared.parent.mkdir()
    shared.write_text("row: {text: Wrong., source: a page, where: Axis == 1, until: 1.9.0}\n", encoding="utf-8")
    text = SPEC + "known_deviations:\n  - shared: row\n  - {shared: row, until: 1.2.0}\n"
    first, second = load.load_spec(write(specs, "SHARING_FOR_TEST_LOAD", text)).known_deviations
    assert (first.text, first.where, first.versions) == ("Wrong.", "Axis == 1", "before 1.9.0")
    assert second == first._replace(until="1.2.0", versions="before 1.2.0")


def test_a_known_deviation_has_the_conditions_of_its_row(specs: Path) -> None:
    row = "when: {Axes: 1}, absent: [A], strided: [B], where: AxisCount > 1, since: 1.7.0, until: 1.8.2, device: GPU"
    text = SPEC + f"known_deviations:\n  - {{text: No., source: a page, {row}, is_of_graphs: true}}\n"
    (known,) = load.load_spec(write(specs, "CONDITIONS_FOR_TEST_LOAD", text)).known_deviations
    limits = ({"Axes": (1,)}, ("A",), ("B",), "AxisCount > 1", "1.7.0", "1.8.2", "GPU", True)
    assert known[3:] == (*limits, None, None, None, None, None, "", {})


def test_a_known_deviation_has_the_values_of_its_row(specs: Path) -> None:
    row = 'values: InputTensor < 0, gives: 0, as_if: {InputTensor: 1}, refusal: "0x8000FFFF", as_of: 2025'
    text = SPEC + f"known_deviations:\n  - {{text: No., source: a page, {row}}}\n"
    (known,) = load.load_spec(write(specs, "VALUES_FOR_TEST_LOAD", text)).known_deviations
    assert known[12:] == ("InputTensor < 0", "0", {"InputTensor": "1"}, "0x8000FFFF", "", {})
    assert (known.is_narrow, known.is_given) == (True, True)


def test_a_spec_says_what_is_kept_in_float16(specs: Path) -> None:
    half = "values: [the sum], stored: parts, given: [Axes], parts_beyond: 88, source: a page"
    text = f"{SPEC}half: {{{half}, has_narrow_functions: true, has_one_cause: true}}\n"
    assert load.load_spec(write(specs, "HALF_FOR_TEST_LOAD", text)).half == Half(
        ("the sum",), "a page", ("Axes",), "parts", 88, True, True
    )
    assert load.load_spec(write(specs, "NO_HALF_FOR_TEST_LOAD")).half is None


UNDEFINED = {
    "kind": "alternatives",
    "condition": "The middle.",
    "outcomes": "[It goes up., It goes down.]",
    "reference": "The reference goes up.",
}


def undefined_of(specs: Path, name: str, row: dict[str, str]) -> Undefined:
    text = ", ".join(f"{key}: {value}" for key, value in row.items())
    (read,) = load.load_spec(write(specs, name, f"{SPEC}undefined:\n  - {{{text}}}\n")).undefined
    return read


def test_an_undefined_result_is_what_its_row_says(specs: Path) -> None:
    outcomes = ("It goes up.", "It goes down.")
    expected = Undefined("alternatives", "The middle.", "No rule.", outcomes, "The reference goes up.")
    assert undefined_of(specs, "UNDEFINED_FOR_TEST_LOAD", {**UNDEFINED, "reason": "No rule."}) == expected
    short = undefined_of(specs, "UNDEFINED_ALONE", {"kind": "undefined", "condition": "NaN."})
    assert short == Undefined("undefined", "NaN.", "", (), "")
    seen = "{text: It is 0., library: DirectML 1.15.4, device: a device, date: 2026-11-29}"
    row = undefined_of(specs, "UNDEFINED_MEASURED", {"kind": "undefined", "condition": "NaN.", "measured": seen})
    assert row.measured == Measured("It is 0.", MeasuredOn("DirectML 1.15.4", "a device", "2026-11-29"))
    assert row.text == "NaN. It is 0. Measured: DirectML 1.15.4 on a device, 2026-11-29."


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"kind": "open"}, "kind is open; write undefined or alternatives"),
        ({"kind": None}, "missing 1 required positional argument: 'kind'"),
        ({"condition": None}, "missing 1 required positional argument: 'condition'"),
        ({"because": "No rule."}, "unexpected keyword argument 'because'"),
        ({"outcomes": "[It goes up.]"}, "alternatives have two outcomes or more, and a reference"),
        ({"reference": None}, "alternatives have two outcomes or more, and a reference"),
        ({"reason": "no rule"}, "not in sentences: no rule"),
        ({"outcomes": "[It goes up., down]"}, "not in sentences: down"),
    ],
)
def test_a_wrong_undefined_result_is_refused(specs: Path, changed: dict[str, str | None], problem: str) -> None:
    row = {key: value for key, value in {**UNDEFINED, **changed}.items() if value is not None}
    with pytest.raises(ValueError, match=f"DML_OPERATOR_TWICE, undefined result: .*{problem}"):
        undefined_of(specs, f"WRONG_{abs(hash(problem))}", row)


ERRATUM = {
    "id": "E1",
    "kind": "silence",
    "page": "Says nothing.",
    "correct": "Twice.",
    "basis": "our decision",
    "measured": "false",
    "source": "a book",
}


def erratum_of(specs: Path, name: str, row: dict[str, str]) -> Erratum:
    text = ", ".join(f"{key}: {value}" for key, value in row.items())
    (erratum,) = load.load_spec(write(specs, name, f"{SPEC}errata:\n  - {{{text}}}\n")).errata
    return erratum


def test_an_erratum_is_what_its_row_says(specs: Path) -> None:
    whole = Erratum("E1", "silence", "Says nothing.", "Twice.", "our decision", measured=False, source="a book")
    assert erratum_of(specs, "ERRATUM_FOR_TEST_LOAD", ERRATUM) == whole
    rest = {key: value for key, value in ERRATUM.items() if key != "source"}
    assert erratum_of(specs, "ERRATUM_WITHOUT_SOURCE", {**rest, "measured": "true"}) == whole._replace(
        measured=True, source=""
    )
    run = "{library: DirectML 1.15.4, device: a device, date: 2026-11-29}"
    seen = erratum_of(specs, "ERRATUM_WITH_A_RUN", {**ERRATUM, "run": run})
    assert seen.sources == "DirectML 1.15.4 on a device, 2026-11-29; a book"


@pytest.mark.parametrize("key", [key for key in ERRATUM if key != "source"])
def test_an_erratum_that_lacks_a_key_is_refused_with_its_name(specs: Path, key: str) -> None:
    row = {name: value for name, value in ERRATUM.items() if name != key}
    with pytest.raises(ValueError, match=f"DML_OPERATOR_TWICE, erratum .*{key}"):
        erratum_of(specs, f"ERRATUM_LACKS_{key.upper()}", row)


@pytest.mark.parametrize(
    ("key", "value", "offered"),
    [
        ("kind", "mistake", "error, silence, contradiction"),
        ("basis", "decided here", "tests, our decision"),
        ("measured", "maybe", "False, True"),
        ("holds", "Twice.", "unexpected keyword"),
    ],
)
def test_an_erratum_with_another_value_or_key_is_refused(specs: Path, key: str, value: str, offered: str) -> None:
    with pytest.raises(ValueError, match=f"erratum E1: .*{offered}"):
        erratum_of(specs, f"ERRATUM_WITH_{key.upper()}", {**ERRATUM, key: value})


def test_every_erratum_says_what_it_rests_on_where_it_does_not_need_words_for_it() -> None:
    errata = [(name, erratum) for name in load.operator_names() for erratum in load.load_spec(name).errata]
    assert len(errata) > 500
    assert {erratum.kind for _, erratum in errata} == set(ERRATUM_KINDS)
    assert {erratum.basis for _, erratum in errata} == set(BASES)
    said = ("decided here", "Open point", "ot measured on DirectML")
    assert [
        (name, erratum.id) for name, erratum in errata for text in erratum if any(word in str(text) for word in said)
    ] == []
    # nothing but a decision needs no source
    assert {erratum.basis for _, erratum in errata if not erratum.sources} == {"our decision"}
