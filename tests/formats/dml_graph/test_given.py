"""The values of a graph's inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.models.graph_values import load_given

pytestmark = pytest.mark.usefixtures("folder")

ROW = TensorDesc("UINT16", (1, 2))


def given(place: str | None, name: str = "x", tensor: TensorDesc = ROW) -> tuple[list[int] | None, list[Finding]]:
    data, findings = collected(load_given(place, name, tensor))
    return None if data is None else data.tolist(), findings


def saved(place: str, **arrays: Any) -> str:
    """Save arrays as a file, or where the name has no ending as files in a folder."""
    if place.endswith(".npz"):
        np.savez_compressed(place, **arrays)
    else:
        Path(place).mkdir()
        for name, values in arrays.items():
            np.save(Path(place, name), values)
    return place


@pytest.mark.parametrize("place", ["in.npz", "in"])
@pytest.mark.parametrize(
    ("arrays", "rule", "words"),
    [
        ({"y": np.zeros(2)}, "missing-tensor", "the input 'x' of the graph has no values under --inputs"),
        ({"x": np.zeros(2)}, "value-not-representable", "x is an array of float64, which UINT16 cannot hold"),
        ({"x": np.zeros((3, 1), np.uint16)}, "element-count", "3 elements {3, 1}; the graph reads 2 of {1, 2}"),
        ({"x": np.zeros(9999, np.uint16)}, "file-not-found", "far more than the graph reads"),
        ({"x": np.array([None, 1])}, "file-not-found", "it contains Python objects"),
    ],
)
def test_what_is_no_such_array_is_a_mistake(place: str, arrays: dict[str, Any], rule: str, words: str) -> None:
    data, (finding,) = given(saved(place, **arrays))
    assert (data, finding.rule) == (None, rule)
    assert words in finding.message


def test_a_name_does_not_lead_out_of_the_folder() -> None:
    saved("in", x=np.zeros(2, np.uint16))
    np.save("outside.npy", np.zeros(2, np.uint16))
    data, (finding,) = given("in", "../outside")
    assert (data, finding.rule) == (None, "file-not-found")
