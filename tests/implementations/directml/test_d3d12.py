"""Direct3D 12's interfaces: structs as long as in d3d12.h, and buffers that begin as their heap wants."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest
from direct3d12_objects import E_FAIL, Machine

from dmlcheck.implementations.directml import d3d12
from dmlcheck.implementations.directml.com import ComError


@pytest.fixture
def machine() -> Iterator[Machine]:
    made = Machine()
    yield made
    assert made.errors == []


@pytest.mark.parametrize(
    ("record", "size", "last", "offset"),
    [
        (d3d12.Handle, 8, "ptr", 0),
        (d3d12.QueueDesc, 16, "node_mask", 12),
        (d3d12.DescriptorHeapDesc, 16, "node_mask", 12),
        (d3d12.HeapProperties, 20, "visible_mask", 16),
        (d3d12.ResourceDesc, 56, "flags", 48),
        (d3d12.Barrier, 32, "after", 24),
    ],
)
def test_a_struct_is_laid_out_as_a_64_bit_compiler_does(record: Any, size: int, last: str, offset: int) -> None:
    assert ctypes.sizeof(record) == size
    assert getattr(record, last).offset == offset


@pytest.mark.parametrize(
    ("heap", "name"),
    [(d3d12.DEFAULT_HEAP, "default"), (d3d12.UPLOAD_HEAP, "upload"), (d3d12.READBACK_HEAP, "readback")],
)
def test_a_buffer_has_its_size_and_begins_in_the_state_of_its_heap(machine: Machine, heap: int, name: str) -> None:
    made = d3d12.buffer(machine.d3d12, 4, heap)
    assert machine.calls == [f"device.create_committed_resource({name}, 4)"]
    (buffer,) = machine.buffers()
    assert (made.address, buffer.heap) == (buffer.address, heap)
    made.release()
    assert buffer.is_released


def test_a_buffer_that_there_is_no_memory_for_is_an_error(machine: Machine) -> None:
    machine.failing["device.create_committed_resource"] = 0x8007000E
    with pytest.raises(ComError, match=r"^ID3D12Device::CreateCommittedResource failed with 0x8007000E"):
        d3d12.buffer(machine.d3d12, 2**40, d3d12.DEFAULT_HEAP)


def test_a_mapped_buffer_is_memory_of_this_process(machine: Machine) -> None:
    made = d3d12.buffer(machine.d3d12, 8, d3d12.UPLOAD_HEAP)
    place = ctypes.c_void_p()
    made.map(0, None, ctypes.byref(place))
    ctypes.memmove(place.value or 0, b"abc", 3)
    assert machine.buffers()[0].bytes(0, 4) == b"abc\xcd"


def test_a_barrier_is_of_a_transition_of_a_whole_buffer_or_of_all_writes() -> None:
    barrier = d3d12.Barrier.transition(0x1234567890, d3d12.COPY_DEST, d3d12.UNORDERED_ACCESS)
    assert bytes(barrier).hex(" ", 4) == ("00000000 00000000 90785634 12000000 ffffffff 00040000 08000000 00000000")
    assert bytes(d3d12.Barrier.unordered_access()).hex(" ", 4) == " ".join(["02000000", *["00000000"] * 7])


def test_a_heap_of_descriptors_says_where_it_begins(machine: Machine) -> None:
    desc = d3d12.DescriptorHeapDesc(d3d12.VIEW_DESCRIPTORS, 5, d3d12.SHADER_VISIBLE)
    heap = d3d12.ID3D12DescriptorHeap.made_by(machine.d3d12.create_descriptor_heap, ctypes.byref(desc))
    own = machine.objects[heap.address]
    assert own.count == 5
    assert heap.get_cpu_descriptor_handle_for_heap_start().ptr == own.cpu
    assert heap.get_gpu_descriptor_handle_for_heap_start().ptr == own.gpu


def test_a_removed_device_says_why(machine: Machine) -> None:
    assert machine.d3d12.get_device_removed_reason() == 0
    machine.failing["device.get_device_removed_reason"] = E_FAIL
    with pytest.raises(ComError, match="E_FAIL"):
        machine.d3d12.get_device_removed_reason()
