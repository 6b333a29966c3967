"""Values for the inputs of a node by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.formats.dml_graph.importer import node_inputs


def drawn(seed: int, low: int, high: int) -> dict[str, Any]:
    return {"random": {"seed": seed, "low": low, "high": high}}


@pytest.mark.parametrize(
    ("data_type", "low", "high"),
    [("FLOAT16", -1, 1), ("INT8", -128, 127), ("UINT8", 0, 255), ("INT64", 0, 100), ("UINT32", 0, 100)],
)
def test_every_input_is_random_in_the_range_of_its_type(data_type: str, low: int, high: int) -> None:
    part = tensor(3, data_type=data_type)
    desc = valid("ELEMENT_WISE_ADD", ATensor=part, BTensor=part, OutputTensor=part)
    assert node_inputs(desc, {}) == {"ATensor": drawn(1, low, high), "BTensor": drawn(2, low, high)}


def test_a_constant_is_its_values() -> None:
    desc = valid("ELEMENT_WISE_ADD", ATensor=tensor(3), BTensor=tensor(3), OutputTensor=tensor(3))
    given = np.arange(3, dtype=np.float32)
    found = node_inputs(desc, {"BTensor": given})
    assert found is not None
    assert found["ATensor"] == drawn(1, -1, 1)
    assert found["BTensor"] is given


def test_the_parts_of_an_array_of_tensors_are_listed() -> None:
    desc = valid("JOIN", InputTensors=[tensor(1, 2), tensor(1, 3)], OutputTensor=tensor(1, 5), Axis=1)
    assert node_inputs(desc, {}) == {"InputTensors": [drawn(1, -1, 1), drawn(2, -1, 1)]}


def test_indices_are_inside_the_axis() -> None:
    """The axis has five places, the other dimension two."""
    desc = valid(
        "GATHER",
        InputTensor=tensor(2, 5),
        IndicesTensor=tensor(1, 3, data_type="INT64"),
        OutputTensor=tensor(2, 3),
        Axis=1,
        IndexDimensions=1,
    )
    found = node_inputs(desc, {})
    assert found is not None
    assert found["IndicesTensor"] == drawn(2, 0, 4)


def test_indices_that_must_differ_are_counted_up() -> None:
    """Of four random indices below four, two are nearly always the same; SCATTER refuses that."""
    desc = valid(
        "SCATTER",
        InputTensor=tensor(1, 4),
        IndicesTensor=tensor(1, 4, data_type="UINT32"),
        UpdatesTensor=tensor(1, 4),
        OutputTensor=tensor(1, 4),
        Axis=1,
    )
    found = node_inputs(desc, {})
    assert found is not None
    assert found["IndicesTensor"] == {"sequence": {"start": 0, "step": 1}}


def test_what_this_machine_does_not_hold_has_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.values.memory.available_bytes", lambda: 2**20)
    large = tensor(2**20)
    assert node_inputs(valid("ELEMENT_WISE_ABS", InputTensor=large, OutputTensor=large), {}) is None
