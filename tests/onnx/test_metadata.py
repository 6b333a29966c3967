"""What an exported model keeps of its case."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.onnx import metadata
from dmlcheck.specs.records import Tolerance


class Properties(list[Any]):
    """The properties of a model, as protobuf has them."""

    def add(self) -> Any:
        self.append(SimpleNamespace(key="", value=""))
        return self[-1]


def model(**entries: Any) -> Any:
    made = SimpleNamespace(metadata_props=Properties())
    for key, value in entries.items():
        entry = made.metadata_props.add()
        entry.key, entry.value = f"dmlcheck.{key}", value
    return made


TENSOR = {"DataType": "FLOAT16", "Sizes": [2]}


def test_a_case_is_kept_without_what_it_does_not_say() -> None:
    desc = read_desc("ACTIVATION_RELU", {"InputTensor": TENSOR, "OutputTensor": TENSOR}).desc
    assert desc is not None
    case = Case("a.yaml::x", "x", "a.yaml", "ACTIVATION_RELU", "5_1", {}, source="by hand", tolerance=Tolerance(ulp=2))
    made = model()
    metadata.add(made, case, desc, ["OutputTensor"])
    assert {entry.key for entry in made.metadata_props} == {
        f"dmlcheck.{key}" for key in ("case", "operator", "desc", "feature_level", "source", "tolerance", "given")
    }
    kept = metadata.case_metadata(made)
    assert (kept["case"], kept["operator"]) == ("a.yaml::x", "DML_OPERATOR_ACTIVATION_RELU")
    assert kept["desc"]["InputTensor"]["Sizes"] == [2]
    assert (kept["tolerance"], kept["given"]) == ({"ulp": 2}, ["OutputTensor"])


@pytest.mark.parametrize(
    "entries",
    [{"desc": "[" * 10**5}, {"desc": "1"}, {"desc": "no JSON"}, {"operator": "{}"}, {"given": "3"}, {"other": "1"}],
)
def test_what_an_export_would_not_have_written_is_not_read(entries: dict[str, str]) -> None:
    assert metadata.case_metadata(model(case='"x"', **entries)) == {}


def test_other_properties_of_a_model_are_passed_over_unless_they_are_no_text() -> None:
    made = model(case='"x"')
    entry = made.metadata_props.add()
    entry.key, entry.value = "author", "somebody"
    assert metadata.case_metadata(made) == {"case": "x"}
    entry.key = b"\xff"
    assert metadata.case_metadata(made) == {}
