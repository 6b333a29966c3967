"""Known deviations: the descs, versions and devices that each is of, in general and of those that are shipped."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck import accepted
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.find import find_files
from dmlcheck.formats.registry import read_file
from dmlcheck.specs.load import data_folder, load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER, RELEASES, parse_version
from dmlcheck.specs.records import Deviation
from dmlcheck.validation import check, deviations
from dmlcheck.validation.deviations import (
    accepted_by,
    are_taken,
    difference,
    foretold,
    is_accepted,
    known_deviations,
    notes,
)


def row(text: str, **fields: Any) -> Deviation:
    return Deviation(text, fields.pop("versions", "all"), "a page", **fields)


def desc_of(*rows: Deviation, **fields: Any) -> OperatorDesc:
    """Return a desc of REDUCE, of which these are known; fields as given, else a SUM of FLOAT32."""
    given = fields.pop("InputTensor", TensorDesc("FLOAT32", (2, 3)))
    values = {"Function": "SUM", "InputTensor": given, "OutputTensor": given._replace(strides=None), "Axes": (1,)}
    return OperatorDesc.of(load_spec("DML_OPERATOR_REDUCE")._replace(known_deviations=rows), {**values, **fields})


def texts(desc: OperatorDesc, version: str | None = None, device: str = "") -> list[str]:
    return [found.text for found in known_deviations(desc, version, device)]


ROWS = (
    row("of every desc"),
    row("of SUM", when={"Function": ("SUM", "AVERAGE")}),
    row("of FLOAT16 outputs", when={"DataType": ("FLOAT16",)}),
    row("of INT8 inputs", when={"InputTensor": ("INT8",)}),
    row("of no axes", absent=("Axes",)),
    row("of no scaling", absent=("InputTensor", "Scale")),
    row("of strided inputs", strided=("InputTensor",)),
    row("of other strided tensors", strided=("OutputTensor",)),
    row("of three columns", where="InputTensor.Sizes[-1] == 3"),
    row("of an axis 5", where="5 in Axes"),
    row("of what the desc lacks", where="InputTensor.Sizes[7] == 3"),
    row("of graphs", is_of_graphs=True),
)


@pytest.mark.parametrize(
    ("function", "tensor", "found"),
    [
        ("SUM", TensorDesc("FLOAT32", (2, 3)), ["of SUM", "of three columns"]),
        ("MAX", TensorDesc("FLOAT16", (3, 2)), ["of FLOAT16 outputs"]),
        ("AVERAGE", TensorDesc("INT8", (3, 2)), ["of SUM", "of INT8 inputs"]),
        ("L1", TensorDesc("FLOAT32", (3, 2), (1, 3)), ["of strided inputs"]),
    ],
)
def test_a_deviation_is_of_descs_of_its_fields_types_layout_and_sizes(
    function: str, tensor: TensorDesc, found: list[str]
) -> None:
    assert texts(desc_of(*ROWS, Function=function, InputTensor=tensor)) == ["of every desc", *found]


@pytest.mark.parametrize(
    ("version", "found"),
    [
        (None, ["before", "between", "since", "open"]),
        ("1.7", ["before", "between", "open"]),
        ("1.7.0", ["before", "between", "open"]),
        ("1.6.9", ["before", "open"]),
        ("1.8.1", ["before", "between", "open"]),
        ("1.8.2", ["before", "open"]),
        ("1.9.9.1", ["before", "open"]),
        ("1.10.0", ["since", "open"]),
        ("2.0", ["since", "open"]),
    ],
)
def test_a_deviation_is_of_the_versions_from_its_first_to_the_one_that_mends_it(
    version: str | None, found: list[str]
) -> None:
    rows = (row("before", until="1.10.0"), row("between", since="1.7.0", until="1.8.2"), row("since", since="1.10"))
    assert texts(desc_of(*rows, row("open")), version) == found


def test_a_deviation_of_a_device_is_of_no_other_and_foretold_only_where_the_device_is_known() -> None:
    desc = desc_of(row("Xe", device="Iris(R) Xe"), row("all"))
    assert texts(desc) == ["Xe", "all"]
    assert texts(desc, device="Intel(R) IRIS(R) Xe Graphics") == ["Xe", "all"]
    assert texts(desc, device="Adreno") == ["all"]
    found = known_deviations(desc)
    assert [one.text for one in foretold(found)] == ["all"]
    assert foretold(found, "Intel(R) Iris(R) Xe Graphics") == found


def test_a_note_has_the_text_the_versions_and_the_source() -> None:
    (note,) = notes(desc_of(row("Wrong.", versions="before 1.9.0")))
    assert note.message == "known of DirectML (before 1.9.0): Wrong. (a page)"
    assert (note.rule, note.path) == ("known-deviation", ("operator",))


# ---- those that are shipped

SHIPPED = [(spec.short, found.text) for spec in map(load_spec, operator_names()) for found in spec.known_deviations]
IRIS = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [4, 16, 32, 32]},
    "FilterTensor": {"DataType": "FLOAT32", "Sizes": [16, 16, 3, 3]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4, 16, 32, 32]},
}
FOUR = {"DataType": "FLOAT32", "Sizes": [1, 2, 2, 2], "Strides": [0, 1, 0, 0]}
BROADCAST = {
    "InputTensor": {"DataType": "INT8", "Sizes": [1, 2, 2, 2]},
    "ScaleTensor": FOUR,
    "ZeroPointTensor": {**FOUR, "DataType": "INT8"},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 2, 2]},
}


def fitting(operator: str, raw: dict[str, Any], version: str | None = None) -> list[str]:
    """Return the texts of the deviations with conditions that are known of a desc."""
    desc = read_desc(operator, raw).desc
    assert desc is not None
    return [found.text for found in known_deviations(desc, version, "") if _has_conditions(found)]


@pytest.mark.parametrize(
    ("operator", "raw", "words", "other"),
    [
        ("CONVOLUTION", {**IRIS, "GroupCount": 1}, "Wrong results for an input {4, 16", {"FilterTensor": FOUR}),
        ("ELEMENT_WISE_DEQUANTIZE_LINEAR", BROADCAST, "An INT8 input with", {"InputTensor": FOUR}),
    ],
)
def test_a_shipped_deviation_that_no_bundled_case_has_fits_what_it_speaks_of(
    operator: str, raw: dict[str, Any], words: str, other: dict[str, Any]
) -> None:
    assert [text[: len(words)] for text in fitting(operator, raw)] == [words]
    assert fitting(operator, {**raw, **other}) == []


@pytest.mark.slow
def test_every_other_shipped_deviation_fits_a_bundled_case_and_not_all_of_them_where_it_has_conditions() -> None:
    for operator in operator_names():
        spec = load_spec(operator)
        if spec.known_deviations:
            folder = f"{data_folder('cases')}/{spec.short.lower()}"
            cases = [case for path in find_files(folder) or [] for case in read_file(path).cases]
            read = [read_desc(case.operator, case.desc).desc for case in cases if case.invalid is None]
            found = [known_deviations(desc) for desc in read if desc is not None]
            for known in spec.known_deviations:
                times = sum(known in rows for rows in found)
                if known.text.startswith(("Wrong results for an input {4, 16", "An INT8 input with")):
                    continue
                assert bool(times) != known.is_of_graphs, (operator, known)
                assert times < len(found) or not _has_conditions(known), (operator, known)


def _has_conditions(row: Deviation) -> bool:
    return bool(row.when or row.absent or row.where or row.strided)


@pytest.mark.parametrize(
    ("version", "groups", "is_known"),
    [("1.6.0", 4, False), ("1.7.0", 4, True), ("1.8.0", 4, True), ("1.8.0", 1, False), ("1.8.2", 4, False)],
)
def test_grouped_2d_convolutions_are_known_from_1_7_0_to_1_8_1(version: str, groups: int, is_known: bool) -> None:
    for sizes, is_2d in (([1, 4, 2, 2], True), ([1, 4, 2], False), ([1, 4, 2, 2, 2], False)):
        raw = {"InputTensor": {"DataType": "FLOAT32", "Sizes": sizes}, "GroupCount": groups}
        assert bool(fitting("CONVOLUTION", raw, version)) == (is_known and is_2d)


@pytest.mark.parametrize("operator", ["CAST", "ROI_ALIGN_GRAD", "SPLIT"])
def test_deviations_of_graphs_are_of_descs_in_graphs_and_of_no_desc_by_itself(operator: str) -> None:
    known = [found.text for found in load_spec(f"DML_OPERATOR_{operator}").known_deviations if found.is_of_graphs]
    desc = read_desc(operator, {}).desc
    assert desc is not None
    assert known
    alone, inside = (known_deviations(desc, in_graph=in_graph) for in_graph in (False, True))
    assert [found for found in inside if found not in alone] == [found for found in inside if found.is_of_graphs]
    assert [found.text for found in inside if found.is_of_graphs] == known
    assert not any(found.is_of_graphs for found in alone)


def test_nothing_is_noted_of_a_desc_that_only_values_or_a_device_show() -> None:
    rows = (
        row("values", values="x < 0"),
        row("device", refusal="0x80004005", device="GPU"),
        row("code", refusal="0x80004005"),
    )
    desc = desc_of(*rows)
    assert texts(desc) == ["values", "device", "code"]
    assert [note.params["text"] for note in notes(desc)] == ["code"]


def test_what_a_desc_shows_with_any_values_is_noted_of_it() -> None:
    rows = (
        row("every element", values="expected == expected"),
        row("an output", values="output == 'OutputTensor'"),
        row("a limit", values="actual >= Axes[0]"),
        row("right values", values="expected == 0"),
    )
    assert [note.params["text"] for note in notes(desc_of(*rows))] == ["every element", "an output", "a limit"]


@pytest.mark.parametrize(
    ("operator", "raw", "other", "words"),
    [
        ("ELEMENT_WISE_CLIP", {"Min": 2, "Max": 1}, {"Max": 2}, "A Min above Max"),
        (
            "MULTIHEAD_ATTENTION",
            {"MaskType": "BOOLEAN", "RelativePositionBiasTensor": IRIS["InputTensor"], "OutputTensor": FOUR},
            {"RelativePositionBiasTensor": None},
            "With a BOOLEAN mask the bias",
        ),
    ],
)
def test_a_shipped_deviation_of_all_elements_is_noted_of_the_descs_that_it_speaks_of(
    operator: str, raw: dict[str, Any], other: dict[str, Any], words: str
) -> None:
    found = [read_desc(operator, fields).desc for fields in (raw, {**raw, **other})]
    texts = [[str(note.params["text"])[: len(words)] for note in notes(desc)] for desc in found if desc is not None]
    assert texts == [[words], []]


def test_every_shipped_deviation_says_when_and_has_a_source() -> None:
    assert len(SHIPPED) == len(set(SHIPPED)) > 25
    for spec in map(load_spec, operator_names()):
        for found in spec.known_deviations:
            assert found.versions
            assert found.source
            assert all(parse_version(version) for version in (found.since, found.until) if version is not None)


# ---- what releases of DirectML take: by their level, and by the findings that are none of their reasons to refuse


ALL = tuple(RELEASES)
FORBIDDEN = Finding("made", ("desc",), {})


def identity(**fields: Any) -> Reading:
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    return read_desc("ELEMENT_WISE_IDENTITY", {"InputTensor": plain, "OutputTensor": plain, **fields})


def gelu() -> Reading:
    """Return a desc of an operator of DML_FEATURE_LEVEL_5_1."""
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    return read_desc("ACTIVATION_GELU", {"InputTensor": plain, "OutputTensor": plain})


def find(monkeypatch: pytest.MonkeyPatch, *findings: Finding, before: str = "9_9") -> None:
    """Let every desc have findings, up to a level or at all levels."""

    def untold(_: Reading, level: str) -> list[Finding]:
        return [*findings] if LEVEL_ORDER[level] < LEVEL_ORDER.get(before, 99) else []

    monkeypatch.setattr(deviations, "untold", untold)


# ---- whether a desc is taken


def test_a_valid_desc_is_taken_by_the_releases_that_have_its_operator() -> None:
    assert accepted_by(identity()) == ALL
    assert accepted_by(gelu()) == ("1.9.1", "1.10.1", "1.12.1", "1.13.1", "1.14.2", "1.15.4")


@pytest.mark.parametrize(
    ("version", "is_taken"),
    [("1.8.2", False), ("1.9.0", False), ("1.9.1", True), ("1.10.0", True), ("1.15", True), ("2.0", True)],
)
def test_a_version_stands_for_the_nearest_release_before_it(version: str, is_taken: bool) -> None:
    assert is_accepted(gelu(), version) is is_taken
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    assert accepted("ACTIVATION_GELU", {"InputTensor": plain, "OutputTensor": plain}, version) is is_taken


@pytest.mark.parametrize("version", ["1.3.9", "1.0.0", "", "newest", "1"])
def test_a_version_before_the_first_release_and_no_version_are_errors(version: str) -> None:
    for reading in (identity(), Reading(None, ())):
        with pytest.raises(ValueError, match=r"is not a version of DirectML from 1\.4\.0 on; write 1\.13\.1$"):
            is_accepted(reading, version)


def test_a_desc_that_cannot_be_read_is_taken_by_none() -> None:
    assert accepted_by(read_desc("NO_SUCH_OPERATOR", {})) == ()
    assert accepted_by(read_desc("ELEMENT_WISE_IDENTITY", 17)) == ()
    assert accepted_by(identity(OutputTensor=None)) == ()


def test_a_desc_is_taken_where_no_finding_is_a_reason_to_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = FORBIDDEN._replace(taken_by=ALL[:3]), FORBIDDEN._replace(taken_by=ALL[2:])
    assert are_taken([], "1.4.0")
    assert [are_taken([early], release) for release in ALL[:4]] == [True, True, True, False]
    assert not any(are_taken([early, FORBIDDEN], release) for release in ALL)
    find(monkeypatch, early, late)
    assert accepted_by(identity()) == ("1.7.0",)


def test_the_strides_of_an_output_have_the_librarys_own_rule() -> None:
    def with_strides(*strides: int) -> Reading:
        output = {"DataType": "FLOAT32", "Sizes": [3, 3], "Strides": list(strides)}
        reading = identity(InputTensor={"DataType": "FLOAT32", "Sizes": [3, 3]}, OutputTensor=output)
        assert [finding.rule for finding in reading.findings] == ["invalid-strides"]
        return reading

    assert accepted_by(with_strides(2, 4)) == ALL  # two elements are in place 4, and there are 13 places
    assert accepted_by(with_strides(2, 1)) == ()  # 9 elements in 7 places
    assert accepted_by(with_strides(3, 0)) == ()


def add(operator: str = "ELEMENT_WISE_ADD", **types: str) -> Reading:
    """Return a sum of FLOAT32 tensors, but for those whose types are given."""
    names = ("ATensor", "BTensor", "OutputTensor")
    return read_desc(operator, {name: {"DataType": types.get(name, "FLOAT32"), "Sizes": [2, 3]} for name in names})


def test_types_that_releases_take_each_are_not_taken_beside_others() -> None:
    # Asked: CreateOperator of the ten releases, 2026-11-29.
    assert "1.4.0" in accepted_by(add(ATensor="INT8", BTensor="INT8", OutputTensor="INT8"))
    assert accepted_by(add(ATensor="INT8")) == ()
    assert accepted_by(add(ATensor="INT8", BTensor="INT16", OutputTensor="INT8")) == ()
    integers = add("ELEMENT_WISE_ADD1", ATensor="UINT32", BTensor="UINT32", OutputTensor="UINT32")
    assert accepted_by(integers) == ("1.4.0", "1.5.1")
    assert accepted_by(add("ELEMENT_WISE_ADD1", ATensor="UINT32", BTensor="UINT32")) == ()


def fused(activation: dict[str, Any]) -> tuple[str, ...]:
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    names = ("ATensor", "BTensor", "OutputTensor")
    return accepted_by(read_desc("ELEMENT_WISE_ADD1", {**dict.fromkeys(names, plain), "FusedActivation": activation}))


def test_an_operator_that_no_list_has_is_taken_inside_another_one_by_some_releases() -> None:
    # Asked: CreateOperator of the ten releases, 2026-11-29.
    assert fused({"Type": "ACTIVATION_SWISH", "SigmoidInputScale": 1}) == ("1.13.1", "1.14.2", "1.15.4")
    assert fused({"Type": "ACTIVATION_HARDMAX"}) == ()
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    alone = {"InputTensor": plain, "OutputTensor": plain, "Steepness": 0.5}
    assert accepted_by(read_desc("ACTIVATION_SOFTPLUS", alone)) == ("1.15.4",)
    assert fused({"Type": "ACTIVATION_SOFTPLUS", "Steepness": 0.5}) == ALL


# ---- what is said of it


@pytest.mark.parametrize(
    ("taken_by", "text"),
    [
        (ALL, "DirectML 1.4.0 to 1.15.4 accept this desc"),
        (ALL[1:3], "DirectML 1.5.1 to 1.7.0 accept this desc"),
        (("1.13.1",), "DirectML 1.13.1 accepts this desc"),
        ((), None),
    ],
)
def test_releases_that_take_what_the_documentation_forbids_are_told(
    monkeypatch: pytest.MonkeyPatch, taken_by: tuple[str, ...], text: str | None
) -> None:
    found = FORBIDDEN._replace(taken_by=taken_by)
    find(monkeypatch, found)
    assert difference(identity(), [found]) == text


def test_releases_that_refuse_a_desc_for_another_reason_are_not_told_to_take_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [FORBIDDEN._replace(taken_by=ALL), FORBIDDEN]
    find(monkeypatch, *found)
    assert difference(identity(), found) is None


@pytest.mark.parametrize(
    ("taken_by", "before", "text"),
    [
        ((), "9_9", "DirectML 1.9.1 to 1.15.4 refuse this desc"),  # of those that have the operator
        (ALL[:5], "9_9", "DirectML 1.10.1 to 1.15.4 refuse this desc"),
        ((), "5_2", "DirectML 1.9.1 refuses this desc"),
        (ALL, "9_9", None),
    ],
)
def test_releases_that_refuse_what_the_documentation_allows_are_told(
    monkeypatch: pytest.MonkeyPatch, taken_by: tuple[str, ...], before: str, text: str | None
) -> None:
    found = FORBIDDEN._replace(is_measured=True, taken_by=taken_by)
    find(monkeypatch, found, before=before)
    assert difference(gelu(), [found]) == text


def test_where_documentation_and_releases_agree_nothing_is_said() -> None:
    assert difference(identity(), []) is None
    reading = identity(OutputTensor={"DataType": "FLOAT32", "Sizes": [3]})
    found = check(reading, "6_4")
    assert found
    assert difference(reading, found) is None
    early = check(gelu(), "3_0")  # later releases take it, as the documentation says
    assert early
    assert difference(gelu(), early) is None


def test_of_a_desc_that_cannot_be_read_no_release_is_told() -> None:
    assert difference(Reading(None, ()), [FORBIDDEN._replace(is_measured=True)]) is None
    assert difference(Reading(None, ()), [FORBIDDEN._replace(taken_by=ALL)]) is None
