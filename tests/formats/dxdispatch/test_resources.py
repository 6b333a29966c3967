"""Resources filled with their initial values, and how large they are."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dxdispatch_models import RESOURCES, model_of

from dmlcheck.diagnostics.record import collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.formats.dxdispatch.model import DxModel
from dmlcheck.formats.dxdispatch.resources import Resource, bytes_needed, filled_resources


@pytest.mark.parametrize(
    ("resource", "size"),
    [
        ({"initialValues": [1, 2, 3], "initialValuesDataType": "FLOAT32"}, 12),
        ({"initialValues": [1, 2, 3], "initialValuesDataType": "DML_TENSOR_DATA_TYPE_INT64"}, 24),
        ({"initialValues": [1, 2, 3], "initialValuesDataType": "FLOAT32", "sizeInBytes": 256}, 256),
        ({"initialValues": [1], "initialValuesDataType": "INT8", "initialValuesOffsetInBytes": 100}, 101),
        ({"initialValues": {"valueCount": 2**32 - 1, "value": 0}, "initialValuesDataType": "FLOAT64"}, 8 * (2**32 - 1)),
        ({"initialValues": {"valueCount": 5, "valueStart": 0, "valueDelta": 1}, "initialValuesDataType": "INT16"}, 10),
        ({"initialValues": [{"type": "UINT32", "value": 1}], "sizeInBytes": 2**39}, 2**39),
        ({"initialValues": {"sourcePath": "x.npy"}}, 0),
        ({"initialValues": "deferred"}, 0),
    ],
)
def test_the_size_of_a_resource_is_known_before_it_is_made(resource: dict[str, Any], size: int) -> None:
    model = model_of(resources={**RESOURCES, "x": resource})
    assert model.problems == ()
    assert bytes_needed(model.resources["x"]) == size


# ---- filled


def filled(resource: Any, folder: Path | None = None) -> Resource | None:
    """Return a resource of a model as it is filled."""
    found, problems = collected(filled_resources(in_folder(resource, folder)))
    assert problems == []
    return found.get("x")


def problems_with(resource: Any, folder: Path | None = None) -> list[tuple[str, str]]:
    model = in_folder(resource, folder)
    assert model.problems == ()
    found, problems = collected(filled_resources(model))
    assert "x" not in found
    return [(problem.rule, pointer(problem.path).removeprefix("resources.x")) for problem in problems]


def in_folder(resource: Any, folder: Path | None) -> DxModel:
    model = model_of(resources={"x": resource}, dispatchables={}, commands=[])
    if folder is not None:
        model.document.name = f"{folder}/model.json"
    return model


def test_a_sequence_is_added_up_in_its_own_type() -> None:
    half = {"valueCount": 5, "valueStart": 2046, "valueDelta": 1}  # FLOAT16 has no odd number above 2048
    found = filled({"initialValues": half, "initialValuesDataType": "FLOAT16"})
    assert found is not None
    assert found.data[:10].view(np.float16).tolist() == [2046, 2047, 2048, 2048, 2048]


def test_values_of_several_types_lie_one_after_the_other() -> None:
    found = filled({"initialValues": [{"type": "UINT8", "value": 1}, {"type": "FLOAT32", "value": 2}]})
    assert found is not None
    assert (found.data_type, found.filled) == ("UINT8", 5)
    assert found.data.tobytes() == b"\x01" + struct.pack("<f", 2) + b"\0\0\0"


def test_a_buffer_has_whole_words_or_the_size_that_is_given() -> None:
    bytes_3 = {"initialValues": [1, 2, 3], "initialValuesDataType": "UINT8"}
    for more, size, start in (({}, 4, 0), ({"sizeInBytes": 10}, 10, 0), ({"initialValuesOffsetInBytes": 2}, 8, 2)):
        found = filled({**bytes_3, **more})
        assert found is not None
        assert (found.data.size, found.filled) == (size, 3)
        assert found.data[start : start + 3].tolist() == [1, 2, 3]
        assert found.data.sum() == 6


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ({"initialValues": [], "initialValuesDataType": "UINT8"}, [("wrong-type", ".initialValues")]),
        (
            {"initialValues": [1, 256], "initialValuesDataType": "UINT8"},
            [("value-not-representable", ".initialValues[1]")],
        ),
        (
            {"initialValues": {"valueCount": 2, "value": 256}, "initialValuesDataType": "UINT8"},
            [("value-not-representable", ".initialValues.value")],
        ),
        (
            {"initialValues": {"value": 1}, "initialValuesDataType": "UINT8"},
            [("wrong-type", ".initialValues.valueCount")],
        ),
        ({"initialValues": {}, "initialValuesDataType": "UINT8"}, [("wrong-type", ".initialValues")]),
        (
            {"initialValues": {"valueCount": 2, "valueStart": "x", "valueDelta": 1}, "initialValuesDataType": "UINT8"},
            [("wrong-type", ".initialValues.valueStart[0]")],
        ),
        ({"initialValues": {"valueCount": 2, "value": 1}}, [("wrong-type", ".initialValues")]),
        ({"initialValues": [{"type": "UINT8"}]}, [("wrong-type", ".initialValues[0]")]),
        ({"initialValues": [1]}, [("wrong-type", ".initialValues[0]")]),
        (
            {"initialValues": [{"type": "UINT8", "value": -1}]},
            [("value-not-representable", ".initialValues[0].value[0]")],
        ),
        (
            {"initialValues": [1, 2], "initialValuesDataType": "FLOAT32", "sizeInBytes": 7},
            [("element-count", ".sizeInBytes")],
        ),
        (
            {"initialValues": {"sourcePath": "none.npy"}, "initialValuesDataType": "FLOAT32"},
            [("file-not-found", ".initialValues.sourcePath")],
        ),
    ],
)
def test_what_is_wrong_with_values_is_told_where_it_stands(resource: Any, expected: list[tuple[str, str]]) -> None:
    assert problems_with(resource) == expected


def test_what_this_machine_cannot_hold_is_told_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.formats.dxdispatch.resources.available_bytes", lambda: 2**28)
    large = {"initialValues": {"valueCount": 2**28, "value": 0}, "initialValuesDataType": "UINT8"}
    assert problems_with(large) == [("tensor-too-large", "resources")]
    monkeypatch.setattr("dmlcheck.formats.dxdispatch.resources.available_bytes", lambda: None)
    assert problems_with({**large, "initialValues": [1], "sizeInBytes": 2**40}) == [("wrong-type", ".sizeInBytes")]


# ---- files


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("a.npy", "FLOAT32", ("value-not-representable", ".initialValues.sourcePath")),
        ("complex.npy", None, ("value-not-representable", ".initialValues.sourcePath")),
        ("a.bin", None, ("missing-key", ".initialValuesDataType")),
        ("broken.npy", None, ("file-not-found", ".initialValues.sourcePath")),
        ("a.png", "UINT8", ("file-not-found", ".initialValues.sourcePath")),
        ("../outside.npy", None, ("file-not-found", ".initialValues.sourcePath")),
    ],
)
def test_a_file_that_does_not_do_is_told(
    tmp_path: Path, name: str, kind: str | None, expected: tuple[str, str]
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    np.save(folder / "a.npy", np.array([1], np.int16))
    np.save(folder / "complex.npy", np.array([1j]))
    np.save(tmp_path / "outside.npy", np.array([1], np.int16))
    for other in ("a.bin", "broken.npy", "a.png"):
        (folder / other).write_bytes(b"12")
    resource: dict[str, Any] = {"initialValues": {"sourcePath": name}}
    assert problems_with({**resource, **({"initialValuesDataType": kind} if kind else {})}, folder) == [expected]
