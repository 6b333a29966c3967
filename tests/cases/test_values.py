"""The values of a case as arrays, with what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from additions import TENSOR, add, all_of, at_newest, wrong
from case_files import cases_of

from dmlcheck.cases.records import Case
from dmlcheck.cases.values import bytes_needed


def test_inputs_go_by_field_and_outputs_by_label_with_their_tensors() -> None:
    prepared = at_newest(add(inputs={"ATensor": [1, 2], "BTensor": [3, 4]}, outputs={"OutputTensor": [4, 6]}))
    assert (prepared.findings, prepared.excess) == ((), None)
    assert {name: values.tolist() for name, values in prepared.inputs.items()} == {"ATensor": [1, 2], "BTensor": [3, 4]}
    ((tensor, values),) = prepared.expected.values()
    assert (tensor.data_type, tensor.sizes, values.dtype, values.tolist()) == ("FLOAT32", (2,), np.float32, [4, 6])


def test_the_parts_of_an_array_of_tensors_are_a_list_and_have_labels() -> None:
    wide = {"DataType": "FLOAT32", "Sizes": [4]}
    desc = {"InputTensor": wide, "OutputTensors": [TENSOR, TENSOR], "Axis": 0}
    split = Case("", "", "", "SPLIT", None, desc, {"InputTensor": [1, 2, 3, 4]}, {"OutputTensors": [[1, 2], [3, 4]]})
    prepared = at_newest(split)
    assert wrong(prepared) == []
    assert list(prepared.expected) == ["OutputTensors[0]", "OutputTensors[1]"]
    desc = {"InputTensors": [TENSOR, TENSOR], "OutputTensor": wide, "Axis": 0}
    joined = at_newest(Case("", "", "", "JOIN", None, desc, {"InputTensors": [[1, 2], [3, 4]]}))
    assert [values.tolist() for values in joined.inputs["InputTensors"]] == [[1, 2], [3, 4]]


def test_a_tensor_whose_values_have_a_misspelt_name_has_values() -> None:
    (finding,) = at_newest(add(inputs={"ATensor": [1, 2], "bTensor": [1, 2]})).findings
    assert (finding.rule, finding.path, finding.help) == (
        "unexpected-tensor",
        ("inputs", "bTensor"),
        "did you mean BTensor?",
    )


def test_each_tensor_has_room_for_what_is_wrong_with_it() -> None:
    desc = all_of({"DataType": "INT8", "Sizes": [20]})
    prepared = at_newest(add(desc=desc, inputs={"ATensor": [1000] * 20, "BTensor": [1000] * 20}))
    assert [finding.path[1] for finding in prepared.findings] == ["ATensor"] * 10 + ["BTensor"] * 10


def test_an_array_of_tensors_takes_a_list_of_as_many_values() -> None:
    desc = {"InputTensors": [TENSOR, TENSOR], "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "Axis": 0}
    prepared = at_newest(Case("", "", "", "JOIN", None, desc, {"InputTensors": [[1, 2]]}))
    (finding,) = prepared.findings
    assert (finding.rule, finding.path) == ("element-count", ("inputs", "InputTensors"))
    assert finding.message == "InputTensors has a list of 1; it needs a list with the values of 2 tensors"


def test_no_tensor_of_an_array_goes_without_values() -> None:
    desc = {"InputTensors": [TENSOR, TENSOR], "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "Axis": 0}
    prepared = at_newest(Case("", "", "", "JOIN", None, desc, {"InputTensors": [[1, 2], None]}))
    assert wrong(prepared) == [("missing-tensor", "inputs.InputTensors[1]")]


def test_files_lie_beside_the_case_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1, 2], np.float32))
    case = add(inputs={"ATensor": {"file": "a.npy"}, "BTensor": [0, 0]})._replace(file=str(tmp_path / "case.yaml"))
    assert at_newest(case).inputs["ATensor"].tolist() == [1, 2]


def test_numbers_are_read_from_their_text() -> None:
    tensor = "{DataType: FLOAT32, Sizes: [1]}"
    desc = f"{{InputTensor: {tensor}, OutputTensor: {tensor}}}"
    text = f"operator: ELEMENT_WISE_ABS\ndesc: {desc}\ninputs: {{InputTensor: [1.0000000596046447753906251]}}\n"
    (case,) = cases_of(text)
    assert at_newest(case).inputs["InputTensor"].tolist() == [1 + 2**-23]


def test_inputs_and_both_kinds_of_outputs_take_memory() -> None:
    desc = at_newest(add(inputs={"ATensor": [1, 2], "BTensor": [3, 4]})).desc
    assert desc is not None
    given = {"ATensor": [1, 2], "BTensor": {"fill": 1}}
    assert bytes_needed(desc, given, {}) == 8 + 0 + 8
    assert bytes_needed(desc, given, {"OutputTensor": [1, 2]}) == 8 + 0 + 8 + 8
