"""Case files that are made: they read well, and read back as the same descs and values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from valid_descs import tensor

from dmlcheck import load_cases
from dmlcheck.cases.prepare import prepare
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder


def identity(input_tensor: dict[str, Any], output_tensor: dict[str, Any]) -> OperatorDesc:
    desc, findings = read_desc("ELEMENT_WISE_IDENTITY", {"InputTensor": input_tensor, "OutputTensor": output_tensor})
    assert desc is not None
    assert findings == ()
    return desc


SMALL = identity(tensor(2), tensor(2))


def written(folder: Path, *cases: Written, stem: str = "x", **defaults: Any) -> str:
    """Write cases and return the text of their file."""
    with Folder(str(folder), FORM) as place:
        assert write_cases(place, stem, cases, "A comment\nof two lines.", **defaults) == f"{stem}.yaml"
        place.finish([])
    return (folder / f"{stem}.yaml").read_text("utf-8")


def values_of(folder: Path) -> list[np.ndarray[Any, Any]]:
    """Read the inputs of the cases that were written."""
    prepared = [prepare(case) for case in load_cases(folder / "x.yaml")]
    assert [one.findings for one in prepared] == [()] * len(prepared)
    return [one.inputs["InputTensor"] for one in prepared]


def test_a_single_case_of_the_files_name_is_the_file_itself(tmp_path: Path) -> None:
    inputs = {"InputTensor": np.array([1, 0.5], np.float32)}
    assert written(tmp_path, Written("x", SMALL, inputs), source="a page") == (
        "# A comment\n"
        "# of two lines.\n"
        'source: "a page"\n'
        "operator: DML_OPERATOR_ELEMENT_WISE_IDENTITY\n"
        "desc:\n"
        "  InputTensor: {DataType: FLOAT32, Sizes: [2]}\n"
        "  OutputTensor: {DataType: FLOAT32, Sizes: [2]}\n"
        "inputs:\n"
        "  InputTensor: [1, 0.5]\n"
    )


def test_several_cases_have_names_and_keys_of_their_own(tmp_path: Path) -> None:
    inputs = {"InputTensor": np.array([1, 2], np.float32)}
    outputs = {"OutputTensor": np.array([1, 2], np.float32)}
    first = Written("first one", SMALL, inputs, outputs, {"tags": ["NO"], "note": None})
    text = written(tmp_path, first, Written("second", SMALL, inputs))
    read = yaml.safe_load(text)
    assert [case["name"] for case in read["cases"]] == ["first one", "second"]
    assert (read["cases"][0]["tags"], "note" in read["cases"][0]) == (["NO"], False)
    assert (read["cases"][0]["outputs"], "outputs" in read["cases"][1]) == ({"OutputTensor": [1, 2]}, False)


def test_a_case_of_a_desc_alone_has_no_values(tmp_path: Path) -> None:
    alone, valued = (written(tmp_path, Written("x", SMALL, inputs)) for inputs in (None, {}))
    assert valued == alone + "inputs: {}\n"


def test_counts_that_follow_from_their_arrays_are_left_out(tmp_path: Path) -> None:
    raw = {"InputTensor": tensor(1, 2), "OutputTensor": tensor(1, 1), "Axes": [1], "Function": "SUM"}
    desc, _ = read_desc("REDUCE", raw)
    assert desc is not None
    assert set(yaml.safe_load(written(tmp_path, Written("x", desc, {})))["desc"]) == set(raw)


def test_many_values_are_in_a_file_beside(tmp_path: Path) -> None:
    values = np.arange(129, dtype=np.float32)
    text = written(tmp_path, Written("x", identity(tensor(129), tensor(129)), {"InputTensor": values}))
    assert "  InputTensor: {file: " in text
    assert [path.suffix for path in (tmp_path / "x").iterdir()] == [".npy"]
    assert values_of(tmp_path)[0].tolist() == values.tolist()


def test_files_of_cases_that_differ_in_what_no_file_system_takes_have_names_of_their_own(tmp_path: Path) -> None:
    values = np.arange(129, dtype=np.float32)
    desc = identity(tensor(129), tensor(129))
    cases = [Written(name, desc, {"InputTensor": values + number}) for number, name in enumerate(("a/b", "a?b", "A-B"))]
    written(tmp_path, *cases)
    assert [array[0] for array in values_of(tmp_path)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("data_type", "elements"),
    [
        ("FLOAT32", [1.5, -0.0, 1e-45, 3.4028234663852886e38]),
        ("FLOAT16", [65504, 6e-8, np.nan, -np.inf]),
        ("INT64", [-(2**63), 2**63 - 1, 0, 1]),
        ("UINT64", [2**64 - 1, 0, 1, 2]),
        ("UINT8", [255, 0, 1, 2]),
    ],
)
def test_values_read_back_to_the_last_bit(tmp_path: Path, data_type: str, elements: list[Any]) -> None:
    values = np.array(elements, data_type.lower()).reshape(2, 2)
    described = tensor(2, 2, data_type=data_type)
    written(tmp_path, Written("x", identity(described, described), {"InputTensor": values}))
    assert values_of(tmp_path)[0].tobytes() == values.tobytes()


def test_nan_with_bits_of_its_own_goes_to_a_file(tmp_path: Path) -> None:
    values = np.array([0x7FC00001, 0x3F800000], np.uint32).view(np.float32)
    assert "{file: " in written(tmp_path, Written("x", SMALL, {"InputTensor": values}))
    assert values_of(tmp_path)[0].tobytes() == values.tobytes()


def test_elements_that_are_left_open_are_any_however_many(tmp_path: Path) -> None:
    values = np.ma.masked_array(np.arange(200, dtype=np.float32), [False] * 199 + [True])
    desc = identity(tensor(200), tensor(200))
    text = written(tmp_path, Written("x", desc, {"InputTensor": values.data}, {"OutputTensor": values}))
    case = yaml.safe_load(text)
    assert case["outputs"]["OutputTensor"] == [*range(199), "any"]
    assert "file" in case["inputs"]["InputTensor"]


def test_what_strides_repeat_is_written_once(tmp_path: Path) -> None:
    repeated = tensor(3, 2, Strides=[0, 1])
    values = np.broadcast_to(np.array([1, 2], np.float32), (3, 2))
    text = written(tmp_path, Written("x", identity(repeated, tensor(3, 2)), {"InputTensor": values}))
    assert "  InputTensor: {buffer: [1, 2]}\n" in text
    assert values_of(tmp_path)[0].tolist() == values.tolist()


def test_long_values_are_broken_into_lines(tmp_path: Path) -> None:
    values = np.full((2, 40), 0.123, np.float32)
    text = written(tmp_path, Written("x", identity(tensor(2, 40), tensor(2, 40)), {"InputTensor": values}))
    assert max(map(len, text.splitlines())) <= 120
    assert values_of(tmp_path)[0].tolist() == values.tolist()


def test_an_array_of_tensors_is_a_list(tmp_path: Path) -> None:
    raw = {"InputTensors": [tensor(1), tensor(2)], "OutputTensor": tensor(3), "Axis": 0}
    desc, _ = read_desc("JOIN", raw)
    assert desc is not None
    parts = [np.array([1], np.float32), np.array([2, 3], np.float32)]
    read = yaml.safe_load(written(tmp_path, Written("x", desc, {"InputTensors": parts})))
    assert read["inputs"] == {"InputTensors": [[1], [2, 3]]}


def test_values_may_be_in_the_notation_of_case_files(tmp_path: Path) -> None:
    text = written(tmp_path, Written("x", SMALL, {"InputTensor": {"random": {"seed": 1, "low": -1, "high": 1}}}))
    assert "inputs:\n  InputTensor: {random: {seed: 1, low: -1, high: 1}}\n" in text
    (values,) = values_of(tmp_path)
    assert values.shape == (2,)


def test_a_case_file_in_a_folder_names_its_values_beside_it(tmp_path: Path) -> None:
    values = np.arange(200, dtype=np.float32)
    text = written(tmp_path, Written("y", identity(tensor(200), tensor(200)), {"InputTensor": values}), stem="x/y")
    assert "\noperator: DML_OPERATOR_ELEMENT_WISE_IDENTITY\n" in text
    (case,) = load_cases(tmp_path / "x" / "y.yaml")
    assert prepare(case).inputs["InputTensor"].tolist() == values.tolist()
