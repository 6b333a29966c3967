"""DirectML's interfaces: structs as long as in DirectML.h, and the questions of a device."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest
from direct3d12_objects import E_INVALIDARG, Compiled, Kernel, Machine

from dmlcheck.implementations.directml import dml
from dmlcheck.implementations.directml.com import ComError


@pytest.fixture
def machine() -> Iterator[Machine]:
    made = Machine(kernel=Kernel(lambda *_: [], needs=(7, 2**33 + 5, 2**34 + 6)))
    yield made
    assert made.errors == []


@pytest.mark.parametrize(
    ("record", "size", "last", "offset"),
    [
        (dml.BindingProperties, 24, "persistent", 16),
        (dml.BufferBinding, 24, "size", 16),
        (dml.BufferArrayBinding, 16, "bindings", 8),
        (dml.BindingDesc, 16, "desc", 8),
        (dml.BindingTableDesc, 32, "size", 24),
    ],
)
def test_a_struct_is_laid_out_as_a_64_bit_compiler_does(record: Any, size: int, last: str, offset: int) -> None:
    assert ctypes.sizeof(record) == size
    assert getattr(record, last).offset == offset


def test_the_highest_feature_level_of_those_that_are_known_is_asked_for(machine: Machine) -> None:
    assert machine.dml.feature_level([0x1000, 0x6400, 0x5000]) == 0x5000
    machine.feature_level = 0x6400
    assert machine.dml.feature_level([0x1000, 0x6400, 0x5000]) == 0x6400
    assert machine.calls[0] == "directml.check_feature_support(0x1000, 0x6400, 0x5000)"


def test_a_device_that_knows_no_feature_levels_is_an_error(machine: Machine) -> None:
    machine.failing["directml.check_feature_support"] = E_INVALIDARG
    with pytest.raises(ComError, match=r"^IDMLDevice::CheckFeatureSupport failed with E_INVALIDARG$"):
        machine.dml.feature_level([0x1000])


def test_what_a_compiled_operator_needs_comes_back_as_a_struct(machine: Machine) -> None:
    operator = dml.IDMLOperator.made_by(machine.dml.create_operator, machine.desc("kernel"))
    made = dml.IDMLCompiledOperator.made_by(
        machine.dml.compile_operator, operator.address, dml.ALLOW_HALF_PRECISION_COMPUTATION | dml.DISABLE_META_COMMANDS
    )
    needs = made.get_binding_properties()
    assert (needs.descriptors, needs.temporary, needs.persistent) == (7, 2**33 + 5, 2**34 + 6)
    assert machine.calls[-1] == "directml.compile_operator(operator1, 3)"
    assert machine.alive(Compiled) == ["compiled1"]


def test_a_removed_device_says_why(machine: Machine) -> None:
    assert machine.dml.get_device_removed_reason() == 0
    machine.failing["directml.get_device_removed_reason"] = 0x887A0006
    with pytest.raises(ComError, match="DXGI_ERROR_DEVICE_HUNG"):
        machine.dml.get_device_removed_reason()
