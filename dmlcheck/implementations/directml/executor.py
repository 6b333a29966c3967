"""Executes operators on a Direct3D 12 device: compiles, initialises, dispatches, and reads back.

The steps follow DirectML's documentation. Buffers grow and are reused; operators that were compiled are kept.
When a list has been executed its buffers are in the state COMMON again, in which each may be copied or dispatched to.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcheck.implementations.directml import d3d12, dml
from dmlcheck.implementations.directml.com import ComError

GUARD = 256  # bytes behind each output that must stay as they are
_ALIGNMENT = 256  # of a tensor in a buffer: no desc promises more
FILL = b"\xff"  # what outputs and their guards are filled with: a NaN or -1 where nothing is written
_KEPT = 64  # compiled operators
_FEWEST_DESCRIPTORS = 256
_FEWEST_BYTES = 2**16


class InputBytes(NamedTuple):
    """The bytes of an input tensor; `is_owned` for one that DirectML owns, and reads when it initialises."""

    data: bytes
    is_owned: bool = False


class Failed(Exception):
    """A step that failed: its name, and the HRESULT."""

    def __init__(self, step: str, hresult: int) -> None:
        super().__init__(step, hresult)
        self.step = step
        self.hresult = hresult


class _Place(NamedTuple):
    """A tensor in a buffer: its offset and its size in bytes."""

    offset: int
    size: int


class _Compiled:
    """A compiled operator, what it needs, and its persistent resource once it is initialised."""

    def __init__(self, operator: dml.IDMLCompiledOperator) -> None:
        self.operator = operator
        self.needs = operator.get_binding_properties()
        self.persistent: d3d12.ID3D12Resource | None = None
        self.is_initialised = False

    def release(self) -> None:
        """Give up the operator and its resource."""
        if self.persistent is not None:
            self.persistent.release()
        self.operator.release()


class DeviceExecutor:
    """A queue of a device, and everything that a dispatch takes."""

    def __init__(self, device: d3d12.ID3D12Device, directml: dml.IDMLDevice) -> None:
        """Make the queue; ComError if the device refuses."""
        self.device = device
        self.directml = directml
        kind = d3d12.COMPUTE_QUEUE
        queue = d3d12.QueueDesc(kind)
        self.queue = d3d12.ID3D12CommandQueue.made_by(device.create_command_queue, ctypes.byref(queue))
        self.allocator = d3d12.ID3D12CommandAllocator.made_by(device.create_command_allocator, kind)
        self.list = d3d12.ID3D12GraphicsCommandList.made_by(
            device.create_command_list, 0, kind, self.allocator.address, None
        )
        self.fence = d3d12.ID3D12Fence.made_by(device.create_fence, 0, 0)
        self.signalled = 0
        self.heap = _Descriptors(device)
        self.upload = _Buffer(device, d3d12.UPLOAD_HEAP)
        self.inputs = _Buffer(device, d3d12.DEFAULT_HEAP)
        self.outputs = _Buffer(device, d3d12.DEFAULT_HEAP)
        self.temporary = _Buffer(device, d3d12.DEFAULT_HEAP)
        self.readback = _Buffer(device, d3d12.READBACK_HEAP)
        self.recorder = dml.IDMLCommandRecorder.made_by(directml.create_command_recorder)
        self.initializer = dml.IDMLOperatorInitializer.made_by(directml.create_operator_initializer, 0, None)
        self.compiled: OrderedDict[Any, _Compiled] = OrderedDict()

    # ---- operators

    def operator(self, key: Any, desc: int, flags: int) -> _Compiled:
        """Return the compiled operator of a desc in memory, compiled once for a key. Failed if it is refused."""
        found = self.compiled.pop(key, None)
        if found is None:
            found = self._compiled(desc, flags)
        self.compiled[key] = found
        if len(self.compiled) > _KEPT:
            self.compiled.popitem(last=False)[1].release()
        return found

    def _compiled(self, desc: int, flags: int) -> _Compiled:
        operator = _step("CreateOperator", dml.IDMLOperator.made_by, self.directml.create_operator, desc)
        try:
            made = dml.IDMLCompiledOperator.made_by
            return _Compiled(_step("CompileOperator", made, self.directml.compile_operator, operator.address, flags))
        finally:
            operator.release()

    # ---- one dispatch

    def run(
        self, operator: _Compiled, inputs: Sequence[InputBytes | None], outputs: Sequence[int | None]
    ) -> list[bytes | None]:
        """Return the bytes of the outputs, each with its guard; Failed if a step fails.

        `inputs` and `outputs` (their sizes in bytes) are in the order of the desc, None for tensors that it leaves out.
        """
        places_in = _placed([None if each is None else len(each.data) for each in inputs], 0)
        places_out = _placed(outputs, GUARD)
        bytes_in, bytes_out = _end(places_in, 0), _end(places_out, GUARD)
        has_owned = any(each is not None and each.is_owned for each in inputs)
        try:
            self._upload(inputs, places_in, bytes_in, bytes_out)
            if not operator.is_initialised or has_owned:
                self._initialise(operator, inputs, places_in)
            self._dispatch(operator, inputs, places_in, places_out)
            if bytes_out:
                self._barrier(d3d12.Barrier.transition(self.outputs.address, d3d12.UNORDERED_ACCESS, d3d12.COPY_SOURCE))
                self.list.copy_buffer_region(self.readback.address, 0, self.outputs.address, 0, bytes_out)
            self._submit()
        except ComError as error:
            self._abandon()
            raise Failed(error.method, error.hresult) from None
        found = self.readback.bytes(bytes_out)
        return [None if at is None else found[at.offset : at.offset + at.size + GUARD] for at in places_out]

    def _upload(
        self, inputs: Sequence[InputBytes | None], places: Sequence[_Place | None], bytes_in: int, bytes_out: int
    ) -> None:
        """Record the copies of the inputs, and of a filling for the outputs, to the device."""
        self.upload.grow(bytes_in + bytes_out)
        self.inputs.grow(bytes_in)
        self.outputs.grow(bytes_out)
        self.readback.grow(bytes_out)
        address = self.upload.mapped
        for each, place in zip(inputs, places, strict=True):
            if each is not None and place is not None:
                ctypes.memmove(address + place.offset, each.data, len(each.data))
        ctypes.memset(address + bytes_in, FILL[0], bytes_out)
        self._copy_up(self.inputs, 0, bytes_in)
        self._copy_up(self.outputs, bytes_in, bytes_out)

    def _copy_up(self, to: _Buffer, offset: int, size: int) -> None:
        if size:
            self.list.copy_buffer_region(to.address, 0, self.upload.address, offset, size)
            self._barrier(d3d12.Barrier.transition(to.address, d3d12.COPY_DEST, d3d12.UNORDERED_ACCESS))

    def _initialise(
        self, operator: _Compiled, inputs: Sequence[InputBytes | None], places: Sequence[_Place | None]
    ) -> None:
        """Initialise an operator, and wait: the descriptors are used again for its dispatch."""
        size = operator.needs.persistent
        if size and operator.persistent is None:
            operator.persistent = d3d12.buffer(self.device, size, d3d12.DEFAULT_HEAP)
        one = (ctypes.c_void_p * 1)(operator.operator.address)
        self.initializer.reset(1, ctypes.addressof(one))
        table = self._table(self.initializer, self.initializer.get_binding_properties())
        try:
            if operator.persistent is not None:
                table.bind_outputs(1, _binding(operator.persistent.address, _Place(0, size)))
            owned = [place if each is not None and each.is_owned else None for each, place in _pairs(inputs, places)]
            if any(owned):
                table.bind_inputs(1, _array_binding(self.inputs.address, owned))
            self.recorder.record_dispatch(self.list.address, self.initializer.address, table.address)
            self._submit()
        finally:
            table.release()
        operator.is_initialised = True

    def _dispatch(
        self,
        operator: _Compiled,
        inputs: Sequence[InputBytes | None],
        places_in: Sequence[_Place | None],
        places_out: Sequence[_Place | None],
    ) -> None:
        table = self._table(operator.operator, operator.needs)
        try:
            if operator.persistent is not None:
                place = _Place(0, operator.needs.persistent)
                table.bind_persistent_resource(_binding(operator.persistent.address, place))
            given = [None if each is None or each.is_owned else place for each, place in _pairs(inputs, places_in)]
            bound_in, bound_out = _bindings(self.inputs.address, given), _bindings(self.outputs.address, places_out)
            table.bind_inputs(len(given), bound_in)
            table.bind_outputs(len(places_out), bound_out)
            self.recorder.record_dispatch(self.list.address, operator.operator.address, table.address)
            self._barrier(d3d12.Barrier.unordered_access())
        finally:
            table.release()

    # ---- what both dispatches do

    def _table(self, dispatchable: Any, needs: dml.BindingProperties) -> dml.IDMLBindingTable:
        """Return a binding table at the beginning of the descriptor heap, with the temporary resource bound."""
        self.heap.grow(needs.descriptors)
        heaps = (ctypes.c_void_p * 1)(self.heap.address)
        self.list.set_descriptor_heaps(1, ctypes.addressof(heaps))
        desc = dml.BindingTableDesc(dispatchable.address, self.heap.cpu, self.heap.gpu, needs.descriptors)
        table: dml.IDMLBindingTable = dml.IDMLBindingTable.made_by(
            self.directml.create_binding_table, ctypes.byref(desc)
        )
        if needs.temporary:
            self.temporary.grow(needs.temporary)
            table.bind_temporary_resource(_binding(self.temporary.address, _Place(0, needs.temporary)))
        return table

    def _barrier(self, barrier: d3d12.Barrier) -> None:
        self.list.resource_barrier(1, ctypes.byref(barrier))

    def _submit(self) -> None:
        """Execute the recorded commands, wait until they are done, and begin to record again."""
        self.list.close()
        lists = (ctypes.c_void_p * 1)(self.list.address)
        self.queue.execute_command_lists(1, ctypes.addressof(lists))
        self._wait()
        self.device.get_device_removed_reason()
        self.directml.get_device_removed_reason()
        self._begin()

    def _wait(self) -> None:
        """Wait until the queue has executed everything."""
        self.signalled += 1
        self.queue.signal(self.fence.address, self.signalled)
        self.fence.set_event_on_completion(self.signalled, None)

    def _begin(self) -> None:
        """Begin to record again, with a list that is closed and that nothing executes."""
        self.allocator.reset()
        self.list.reset(self.allocator.address, None)

    def _abandon(self) -> None:
        """Drop the commands of a dispatch that failed, so that the next one begins with an empty list."""
        for step in (self.list.close, self._wait, self._begin):
            with contextlib.suppress(ComError):  # closing and waiting may be what failed
                step()


def _step(name: str, call: Any, *arguments: Any) -> Any:
    """Return the result of a call; Failed, with the name of the step, if it fails."""
    try:
        return call(*arguments)
    except ComError as error:
        raise Failed(name, error.hresult) from None


# ---- places and bindings


def _placed(sizes: Sequence[int | None], behind: int) -> list[_Place | None]:
    """Return places one after the other for tensors of some sizes, each followed by some bytes."""
    places: list[_Place | None] = []
    end = 0
    for size in sizes:
        if size is None:
            places.append(None)
            continue
        size = (size + 3) // 4 * 4  # noqa: PLW2901 - DirectML binds whole words
        places.append(_Place(end, size))
        end = -(-(end + size + behind) // _ALIGNMENT) * _ALIGNMENT
    return places


def _end(places: Sequence[_Place | None], behind: int) -> int:
    return max((place.offset + place.size + behind for place in places if place is not None), default=0)


def _pairs(inputs: Sequence[InputBytes | None], places: Sequence[_Place | None]) -> Any:
    return zip(inputs, places, strict=True)


def _buffers(buffer: int, places: Sequence[_Place | None]) -> Any:
    """Return the bindings of tensors in a buffer, empty for those without a place."""
    buffers = (dml.BufferBinding * len(places))()
    for index, place in enumerate(places):
        if place is not None:
            buffers[index] = dml.BufferBinding(buffer, place.offset, place.size)
    return buffers


def _bindings(buffer: int, places: Sequence[_Place | None]) -> Any:
    """Return the binding descs of tensors in a buffer, as an array that keeps what it points at."""
    buffers = _buffers(buffer, places)
    descs: Any = (dml.BindingDesc * len(places))()
    for index, place in enumerate(places):
        if place is not None:
            address = ctypes.addressof(buffers) + index * ctypes.sizeof(dml.BufferBinding)
            descs[index] = dml.BindingDesc(dml.BINDING_BUFFER, address)
    descs.points_at = buffers
    return descs


def _binding(buffer: int, place: _Place) -> Any:
    return _bindings(buffer, [place])


def _array_binding(buffer: int, places: Sequence[_Place | None]) -> Any:
    """Return the binding desc of the inputs that DirectML owns, as its initializer takes them."""
    buffers = _buffers(buffer, places)
    array = (dml.BufferArrayBinding * 1)(dml.BufferArrayBinding(len(places), ctypes.addressof(buffers)))
    descs: Any = (dml.BindingDesc * 1)(dml.BindingDesc(dml.BINDING_BUFFER_ARRAY, ctypes.addressof(array)))
    descs.points_at = (buffers, array)
    return descs


# ---- what grows


class _Buffer:
    """A buffer in a heap of a type that grows, and is mapped if the CPU sees it."""

    def __init__(self, device: d3d12.ID3D12Device, heap: int) -> None:
        self.device = device
        self.heap = heap
        self.size = self.mapped = 0
        self.resource: d3d12.ID3D12Resource | None = None

    @property
    def address(self) -> int:
        return 0 if self.resource is None else self.resource.address

    def grow(self, size: int) -> None:
        """Make the buffer at least as large as a size in bytes."""
        if size <= self.size:
            return
        if self.resource is not None:
            self.resource.release()
            self.resource, self.size = None, 0
        size = max(_FEWEST_BYTES, 1 << (size - 1).bit_length())
        self.resource = d3d12.buffer(self.device, size, self.heap)
        if self.heap != d3d12.DEFAULT_HEAP:
            place = ctypes.c_void_p()
            self.resource.map(0, None, ctypes.byref(place))
            self.mapped = place.value or 0
        self.size = size

    def bytes(self, size: int) -> bytes:
        return ctypes.string_at(self.mapped, size) if size else b""


class _Descriptors:
    """A heap of descriptors that grows."""

    def __init__(self, device: d3d12.ID3D12Device) -> None:
        self.device = device
        self.count = self.cpu = self.gpu = 0
        self.heap: d3d12.ID3D12DescriptorHeap | None = None

    @property
    def address(self) -> int:
        return 0 if self.heap is None else self.heap.address

    def grow(self, count: int) -> None:
        """Make the heap hold at least some number of descriptors."""
        if self.heap is not None and count <= self.count:
            return
        if self.heap is not None:
            self.heap.release()
            self.heap = None
        self.count = max(_FEWEST_DESCRIPTORS, 1 << max(0, count - 1).bit_length())
        desc = d3d12.DescriptorHeapDesc(d3d12.VIEW_DESCRIPTORS, self.count, d3d12.SHADER_VISIBLE)
        self.heap = d3d12.ID3D12DescriptorHeap.made_by(self.device.create_descriptor_heap, ctypes.byref(desc))
        self.cpu = self.heap.get_cpu_descriptor_handle_for_heap_start().ptr
        self.gpu = self.heap.get_gpu_descriptor_handle_for_heap_start().ptr
