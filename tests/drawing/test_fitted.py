"""Values that fit the tensors of a simpler desc."""

from __future__ import annotations

from typing import Any

import numpy as np
from valid_descs import valid

from dmlcheck.drawing.fitted import consistent, fitted


def add(*sizes: int, strides: list[int] | None = None) -> Any:
    tensor: dict[str, Any] = {"DataType": "FLOAT32", "Sizes": list(sizes)}
    own = tensor if strides is None else {**tensor, "Strides": strides}
    return valid("DML_OPERATOR_ELEMENT_WISE_ADD", ATensor=own, BTensor=tensor, OutputTensor=tensor)


GIVEN = {"ATensor": np.arange(6, dtype=np.float32).reshape(2, 3), "BTensor": np.full((2, 3), 7, np.float32)}


def test_values_are_cut_to_the_first_elements_or_the_last() -> None:
    assert fitted(add(1, 2), GIVEN)["ATensor"].tolist() == [[0, 1]]
    assert fitted(add(1, 2), GIVEN, is_from_end=True)["ATensor"].tolist() == [[4, 5]]


def test_values_repeat_where_a_size_grew() -> None:
    assert fitted(add(2, 4), GIVEN)["ATensor"].tolist() == [[0, 1, 2, 0], [3, 4, 5, 3]]


def test_dimensions_come_and_go() -> None:
    assert fitted(add(3), GIVEN)["ATensor"].tolist() == [0, 1, 2]
    assert fitted(add(3), GIVEN, is_from_end=True)["ATensor"].tolist() == [3, 4, 5]
    assert fitted(add(1, 2, 3), GIVEN)["ATensor"].shape == (1, 2, 3)


def test_a_tensor_without_values_has_ones() -> None:
    assert fitted(add(2), {})["BTensor"].tolist() == [1, 1]


def test_elements_in_one_place_get_the_value_that_is_there() -> None:
    found = consistent(add(2, 3, strides=[0, 1]), GIVEN)
    assert found["ATensor"].tolist() == [[3, 4, 5], [3, 4, 5]]
    assert found["BTensor"] is GIVEN["BTensor"]
