"""Known deviations: the descs, versions and devices that each is of, in general and of those that are shipped."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.formats.find import find_files
from dmlcheck.formats.registry import read_file
from dmlcheck.specs.load import data_folder, load_spec, operator_names
from dmlcheck.specs.names import parse_version
from dmlcheck.specs.records import Deviation
from dmlcheck.validation.deviations import foretold, known_deviations, notes


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
