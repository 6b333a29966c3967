"""All inputs that there are: every number of a tensor, every pair of two, and a grid that a seed chooses."""

from __future__ import annotations

import numpy as np

from dmlcheck.drawing.exhaustive import count, desc_of, inputs_of
from dmlcheck.drawing.units import Unit, drawn_unit
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import NEWEST_LEVEL

SIN, ADD, RELU, AND = (
    f"DML_OPERATOR_{name}"
    for name in ("ELEMENT_WISE_SIN", "ELEMENT_WISE_ADD", "ACTIVATION_RELU", "ELEMENT_WISE_BIT_AND")
)


def bits(values: np.ndarray) -> set[int]:  # type: ignore[type-arg]
    return set(values.reshape(-1).view(f"u{values.itemsize}").tolist())


def test_an_operator_of_one_float16_tensor_gets_every_number() -> None:
    drawn = drawn_unit(Unit(SIN, 0, 0, is_exhaustive=True))
    assert drawn is not None
    given = drawn.inputs["InputTensor"]
    assert given.dtype == np.float16
    assert bits(given) == set(range(65_536))


def test_an_operator_of_two_8_bit_tensors_gets_every_pair() -> None:
    found = []
    for number in range(count(AND, NEWEST_LEVEL)):
        drawn = drawn_unit(Unit(AND, 0, number, is_exhaustive=True))
        assert drawn is not None
        a, b = (drawn.inputs[name].reshape(-1) for name in ("ATensor", "BTensor"))
        pairs = set(zip(a.tolist(), b.tolist(), strict=True))
        if a.itemsize == 1:
            found.append((str(a.dtype), len(pairs)))
    assert found == [("int8", 65_536), ("uint8", 65_536)]


def test_a_seed_chooses_the_grid_of_two_float16_tensors_and_the_edges_are_in_it() -> None:
    drawn = [drawn_unit(Unit(ADD, seed, 0, is_exhaustive=True)) for seed in (0, 0, 1)]
    a = [one.inputs["ATensor"] for one in drawn if one is not None]
    assert np.array_equal(a[0], a[1], equal_nan=True)
    assert bits(a[0]) != bits(a[2])
    assert {0x0000, 0x8000, 0x0001, 0x7C00, 0xFC00, 0x7E00} <= bits(a[0])
    assert len(bits(a[0])) > 240


def test_operators_that_are_not_over_elements_have_none() -> None:
    assert count("DML_OPERATOR_GEMM", NEWEST_LEVEL) == 0
    assert count("DML_OPERATOR_ACTIVATION_SOFTMAX", NEWEST_LEVEL) == 0
    assert desc_of("DML_OPERATOR_GEMM", 0, 0, NEWEST_LEVEL) is None


def test_nearly_all_elementwise_operators_have_a_desc_of_every_kind() -> None:
    numbers = [(name, number) for name in operator_names()[::5] for number in range(count(name, NEWEST_LEVEL))]
    assert len(numbers) > 50
    descs = [desc_of(name, 0, number, NEWEST_LEVEL) for name, number in numbers]
    assert None not in descs
    for desc in descs:
        assert desc is not None
        assert {part.tensor.element_count for part in desc.tensors()} == {65_536}


def test_inputs_that_a_constraint_forbids_are_left_out() -> None:
    desc = desc_of("DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR", 0, 0, NEWEST_LEVEL)
    assert desc is None or inputs_of(desc, 0, 0, NEWEST_LEVEL) is None
