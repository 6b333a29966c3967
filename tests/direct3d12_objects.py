"""A Direct3D 12 and a DirectML of objects that tests make: calls are written down, and the rules of both are checked.

Buffers are memory of this process, and a kernel is a Python function of bytes. A list is executed when its fence is
waited for, so that it shows what is read, released or used again before. `Machine.errors` says which rule is broken.
"""

from __future__ import annotations

import ctypes
import inspect
import struct
import sys
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from dmlcheck.implementations.directml import d3d12, dml
from dmlcheck.implementations.directml.com import UINT64, PythonObject, put

E_FAIL, E_INVALIDARG, DEVICE_REMOVED = 0x80004005, 0x80070057, 0x887A0005
COMMON, UNORDERED_ACCESS, COPY_DEST, COPY_SOURCE, GENERIC_READ = 0, 0x8, 0x400, 0x800, 0xAC3
STATES = {COMMON: "COMMON", UNORDERED_ACCESS: "UAV", COPY_DEST: "COPY_DEST", COPY_SOURCE: "COPY_SOURCE"}
DEFAULT, UPLOAD, READBACK = 1, 2, 3
HEAPS = {  # of each type: the name, the state that a buffer begins in, and its flags
    DEFAULT: ("default", COMMON, 4),
    UPLOAD: ("upload", GENERIC_READ, 0),
    READBACK: ("readback", COPY_DEST, 0),
}
GARBAGE = 0xCD  # what a new buffer has in it
_EIGHT_WORDS = ctypes.CFUNCTYPE(UINT64, *[UINT64] * 8)

Function = TypeVar("Function", bound=Callable[..., Any])


def method(slot: int, *, is_struct: bool = False) -> Callable[[Function], Function]:
    """Give a method its place in the table; one whose result is a struct returns the bytes of it."""

    def placed(function: Function) -> Function:
        function.slot, function.is_struct = slot, is_struct  # type: ignore[attr-defined]
        return function

    return placed


def low(word: int) -> int:
    """Return the 32 bits of a word that are an argument."""
    return word & 0xFFFFFFFF


def unpacked(form: str, address: int) -> tuple[int, ...]:
    return struct.unpack(form, ctypes.string_at(address, struct.calcsize(form)))


def iid_at(address: int) -> str:
    return str(uuid.UUID(bytes_le=ctypes.string_at(address, 16)))


class Object:
    """A COM object of a machine: its methods are those of the class that have a place."""

    IID = ""
    KIND = ""

    def __init__(self, machine: Machine, name: str = "") -> None:
        self.machine = machine
        machine.counts[name or self.KIND] += 1
        self.name = f"{name or self.KIND}{machine.counts[name or self.KIND]}" if name or self.IS_NUMBERED else self.KIND
        self.is_released = False
        functions = [each for _, each in inspect.getmembers(type(self), inspect.isfunction) if hasattr(each, "slot")]
        self.com = PythonObject({each.slot: self._called(each) for each in functions}, 64)
        self.wide = [(each.slot, _EIGHT_WORDS(self._called(each))) for each in functions if _arguments(each) > 6]
        for slot, function in self.wide:
            self.com._table[slot] = ctypes.cast(function, ctypes.c_void_p).value
        machine.objects[self.address] = self

    IS_NUMBERED = False

    @property
    def address(self) -> int:
        return self.com.address

    def log(self, text: str) -> None:
        self.machine.calls.append(f"{self.name}.{text}")

    def _called(self, function: Any) -> Callable[..., int]:
        name, count = function.__name__, _arguments(function)

        def call(*words: int) -> int:
            hidden = function.is_struct and (sys.platform == "win32" or function.size > 8)
            this, place = (words[1], words[0]) if hidden and sys.platform != "win32" else (words[0], words[1])
            try:
                assert this == self.address
                assert not self.is_released, "it was released"
                hresult = self.machine.failure(f"{self.KIND}.{name}")
                if hresult:
                    self.log(f"{name} fails")
                    return hresult
                result = function(self, *([] if function.is_struct else words[1 : count + 1]))
            except Exception as error:  # noqa: BLE001 - shown by the test
                self.machine.errors.append(f"{self.name}.{name}: {type(error).__name__}: {error}")
                return E_FAIL
            if not function.is_struct:
                return 0 if result is None else int(result)
            if hidden:
                ctypes.memmove(place, result, len(result))
                return place
            return int.from_bytes(result, "little")

        return call

    @method(2)
    def release(self) -> int:
        queue = self.machine.queue
        assert queue is None or not any(self in each.uses for each in queue.pending), "it is in use"
        self.log("release")
        self.is_released = True
        return 0


def _arguments(function: Any) -> int:
    return len(inspect.signature(function).parameters) - 1


def struct_method(slot: int, size: int) -> Callable[[Function], Function]:
    """Give a method that returns a struct of a size its place."""

    def placed(function: Function) -> Function:
        function.size = size  # type: ignore[attr-defined]
        return method(slot, is_struct=True)(function)

    return placed


class Kernel(NamedTuple):
    """An operator: the bytes of its outputs from those of its inputs and its persistent resource, and what it needs.

    `needs` are descriptors, bytes of the temporary and of the persistent resource; `initializer` the first two of its
    initialiser, which fills the persistent resource with the inputs that are owned.
    """

    compute: Callable[[list[bytes | None], bytes], list[bytes | None]]
    needs: tuple[int, int, int] = (4, 0, 0)
    initializer: tuple[int, int] = (1, 0)


class Machine:
    """A device, a DirectML, and all that was made of them."""

    def __init__(self, **kernels: Kernel) -> None:
        self.kernels = dict(enumerate(kernels.values(), 1))
        self.descs = {name: ctypes.create_string_buffer(struct.pack("<QQ", n, 0)) for n, name in enumerate(kernels, 1)}
        self.calls: list[str] = []
        self.errors: list[str] = []
        self.failing: dict[str, int] = {}  # by kind and method: the HRESULT of a call
        self.passing: Counter[str] = Counter()  # how many calls before it do not fail
        self.counts: Counter[str] = Counter()
        self.objects: dict[int, Any] = {}
        self.feature_level = 0x6100
        self.queue: Any = None
        self.device = Device(self)
        self.directml = DirectMLDevice(self)

    @property
    def d3d12(self) -> d3d12.ID3D12Device:
        return d3d12.ID3D12Device(self.device.address)

    @property
    def dml(self) -> dml.IDMLDevice:
        return dml.IDMLDevice(self.directml.address)

    def desc(self, name: str) -> int:
        """Return the address of a DML_OPERATOR_DESC of a kernel."""
        return ctypes.addressof(self.descs[name])

    def failure(self, method: str) -> int:
        """Return the HRESULT with which a call fails, 0 if it does not."""
        if method in self.failing and self.passing[method]:
            self.passing[method] -= 1
            return 0
        return self.failing.pop(method, 0)

    def give(self, made: Object, iid: int, place: int) -> int:
        """Give a new object to who asked for it by its interface."""
        assert iid_at(iid) == made.IID, f"{iid_at(iid)} instead of {made.IID} of {made.name}"
        return put(place, UINT64(made.address))

    def at(self, address: int, kind: type[Any]) -> Any:
        """Return the object at an address, which must be alive and of a kind."""
        found = self.objects[address]
        assert isinstance(found, kind), f"{found.name} instead of a {kind.__name__}"
        assert not found.is_released, f"{found.name} was released"
        return found

    def calls_of(self, *starts: str) -> list[str]:
        """Return the calls that begin so."""
        return [call for call in self.calls if call.startswith(starts)]

    def alive(self, kind: type[Any]) -> list[str]:
        """Return the names of the objects of a kind that were not released."""
        return [each.name for each in self.objects.values() if isinstance(each, kind) and not each.is_released]

    def buffers(self) -> list[Resource]:
        return [each for each in self.objects.values() if isinstance(each, Resource)]


# ---- Direct3D 12


class Resource(Object):
    """A buffer: its memory, and the state that it is in."""

    IID, KIND = "696442be-a72e-4059-bc79-5b5c98040fad", "buffer"

    def __init__(self, machine: Machine, heap: int, size: int) -> None:
        super().__init__(machine, HEAPS[heap][0])
        self.heap, self.size, self.state = heap, size, HEAPS[heap][1]
        self.memory = (ctypes.c_char * size)()
        ctypes.memset(self.memory, GARBAGE, size)

    @method(8)
    def map(self, subresource: int, read: int, place: int) -> int:
        assert (low(subresource), read) == (0, 0)
        assert self.heap != DEFAULT, "the CPU does not see it"
        self.log("map")
        return put(place, UINT64(ctypes.addressof(self.memory)))

    def bytes(self, offset: int, size: int) -> bytes:
        assert offset + size <= self.size, f"{offset} + {size} is beyond {self.size}"
        return bytes(self.memory[offset : offset + size])

    def write(self, offset: int, data: bytes) -> None:
        assert offset + len(data) <= self.size, f"{offset} + {len(data)} is beyond {self.size}"
        ctypes.memmove(ctypes.addressof(self.memory) + offset, data, len(data))

    def use(self, state: int) -> None:
        """Be used while a list is executed: a buffer that is COMMON is promoted, any other must be in the state."""
        assert not self.is_released, f"{self.name} was released"
        self.state = self.state or state
        assert self.state & state == state, f"{self.name} is {STATES.get(self.state)}, not {STATES[state]}"


class Work(NamedTuple):
    """What a queue does next, and the objects that it uses."""

    run: Callable[[], None]
    uses: list[Any]


class Queue(Object):
    IID, KIND = "0ec870a6-5d7e-4c22-8cfc-5baae07616ed", "queue"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending: list[Work] = []
        machine.queue = self

    @method(10)
    def execute_command_lists(self, count: int, lists: int) -> None:
        assert low(count) == 1
        executed = self.machine.at(unpacked("<Q", lists)[0], CommandList)
        assert not executed.is_open, "the list is open"
        assert not executed.is_broken, "the list could not be closed"
        self.pending += [*executed.commands, Work(self.decay, [executed, executed.allocator])]
        self.log(f"execute_command_lists({executed.name})")

    def decay(self) -> None:
        for each in self.machine.buffers():
            if each.heap == DEFAULT:
                each.state = COMMON

    @method(14)
    def signal(self, fence: int, value: int) -> None:
        found = self.machine.at(fence, Fence)
        assert value > found.promised, "a fence counts up"
        found.promised = value
        self.pending.append(Work(lambda: setattr(found, "value", value), [found]))
        self.log(f"signal({found.name}, {value})")

    def drain(self) -> None:
        while self.pending:
            self.pending.pop(0).run()


class Fence(Object):
    IID, KIND = "0a753dcf-c4d8-4b91-adf6-be5a60d95a76", "fence"

    def __init__(self, machine: Machine, value: int) -> None:
        super().__init__(machine)
        self.value = self.promised = value

    @method(9)
    def set_event_on_completion(self, value: int, event: int) -> None:
        assert event == 0, "nobody waits for an event"
        self.log(f"set_event_on_completion({value})")
        self.machine.queue.drain()
        assert self.value >= value, "this would wait for ever"


class Allocator(Object):
    IID, KIND = "6102dee4-af59-4b09-b999-b44d73f09b24", "allocator"

    def __init__(self, machine: Machine, kind: int) -> None:
        super().__init__(machine)
        self.kind = kind
        self.list: Any = None

    @method(8)
    def reset(self) -> None:
        assert not self.list.is_open, "its list is open"
        assert not any(self in each.uses for each in self.machine.queue.pending), "its list is executed"
        self.log("reset")


class CommandList(Object):
    IID, KIND = "5b160d0f-ac1b-4185-8ba8-b3ae42a5a455", "list"

    def __init__(self, machine: Machine, allocator: Allocator) -> None:
        super().__init__(machine)
        self.allocator, allocator.list = allocator, self
        self.is_open, self.is_broken = True, False
        self.commands: list[Work] = []
        self.heap: Any = None

    @method(9)
    def close(self) -> int:
        if not self.is_open:
            self.log("close, which it is")
            return E_FAIL
        self.is_open = False
        self.is_broken = bool(self.machine.failing.get("commands"))  # found when the list is closed
        self.log("close" + " fails" * self.is_broken)
        return self.machine.failing.pop("commands", 0)

    @method(10)
    def reset(self, allocator: int, state: int) -> None:
        assert not self.is_open, "it is open"
        assert (self.machine.at(allocator, Allocator), state) == (self.allocator, 0)
        self.is_open, self.is_broken, self.commands, self.heap = True, False, [], None
        self.log("reset")

    def record(self, run: Callable[[], None], *uses: Any) -> None:
        assert self.is_open, "it is closed"
        self.commands.append(Work(run, list(uses)))

    @method(15)
    def copy_buffer_region(self, to: int, place: int, source: int, offset: int, size: int) -> None:
        target, given = self.machine.at(to, Resource), self.machine.at(source, Resource)
        assert size, "there is nothing to copy"

        def run() -> None:
            given.use(COPY_SOURCE)
            target.use(COPY_DEST)
            target.write(place, given.bytes(offset, size))

        self.record(run, target, given)
        self.log(f"copy({target.name} + {place}, {given.name} + {offset}, {size})")

    @method(26)
    def resource_barrier(self, count: int, barriers: int) -> None:
        assert low(count) == 1
        kind, flags, resource, subresource, before, after = unpacked("<IIQIII4x", barriers)
        assert flags == 0
        if kind == 2:
            self.record(lambda: None)
            self.log("barrier(UAV)" if not resource else f"barrier(UAV of {self.machine.at(resource, Resource).name})")
            return
        assert (kind, subresource) == (0, 0xFFFFFFFF)
        found = self.machine.at(resource, Resource)

        def run() -> None:
            assert found.state == before, f"{found.name} is {STATES[found.state]} before, not {STATES[before]}"
            found.state = after

        self.record(run, found)
        self.log(f"barrier({found.name}: {STATES[before]} to {STATES[after]})")

    @method(28)
    def set_descriptor_heaps(self, count: int, heaps: int) -> None:
        assert low(count) == 1
        self.heap = self.machine.at(unpacked("<Q", heaps)[0], DescriptorHeap)
        self.record(lambda: None, self.heap)
        self.log(f"set_descriptor_heaps({self.heap.name})")


class DescriptorHeap(Object):
    IID, KIND, IS_NUMBERED = "8efb471d-616c-4f49-90f7-127bb763fa51", "heap", True

    def __init__(self, machine: Machine, count: int) -> None:
        super().__init__(machine)
        self.count = count
        number = machine.counts["heap"]
        self.cpu, self.gpu = number << 40 | 0x40, number << 48 | 0x80
        self.table: Any = None  # whose descriptors are in it

    @struct_method(9, 8)
    def get_cpu_descriptor_handle_for_heap_start(self) -> bytes:
        return struct.pack("<Q", self.cpu)

    @struct_method(10, 8)
    def get_gpu_descriptor_handle_for_heap_start(self) -> bytes:
        return struct.pack("<Q", self.gpu)


class Device(Object):
    IID, KIND = "189819f1-1db6-4b57-be54-1821339b85f7", "device"

    @method(8)
    def create_command_queue(self, desc: int, iid: int, place: int) -> int:
        kind, priority, flags, mask = unpacked("<4I", desc)
        assert (priority, flags, mask) == (0, 0, 0)
        self.log(f"create_command_queue({kind})")
        return self.machine.give(Queue(self.machine), iid, place)

    @method(9)
    def create_command_allocator(self, kind: int, iid: int, place: int) -> int:
        self.log(f"create_command_allocator({low(kind)})")
        return self.machine.give(Allocator(self.machine, low(kind)), iid, place)

    @method(12)
    def create_command_list(self, mask: int, kind: int, allocator: int, state: int, iid: int, place: int) -> int:
        found = self.machine.at(allocator, Allocator)
        assert (low(mask), low(kind), state) == (0, found.kind, 0)
        self.log(f"create_command_list({low(kind)})")
        return self.machine.give(CommandList(self.machine, found), iid, place)

    @method(14)
    def create_descriptor_heap(self, desc: int, iid: int, place: int) -> int:
        kind, count, flags, mask = unpacked("<4I", desc)
        assert (kind, flags, mask) == (0, 1, 0), "descriptors of views that shaders see"
        self.log(f"create_descriptor_heap({count})")
        return self.machine.give(DescriptorHeap(self.machine, count), iid, place)

    @method(27)
    def create_committed_resource(
        self, properties: int, flags: int, desc: int, state: int, clear: int, iid: int, place: int
    ) -> int:
        heap, page, pool, creation, visible = unpacked("<5I", properties)
        assert (page, pool, creation, visible, low(flags), clear) == (0, 0, 1, 1, 0, 0)
        name, begins, allowed = HEAPS[heap]
        assert low(state) == begins, f"a buffer of the heap {name} begins as {begins:#x}, not {low(state):#x}"
        dimension, alignment, size, *rest = unpacked("<I4xQQIHHIIIII4x", desc)
        assert (dimension, alignment, rest) == (1, 0, [1, 1, 1, 0, 1, 0, 1, allowed])
        self.log(f"create_committed_resource({name}, {size})")
        return self.machine.give(Resource(self.machine, heap, size), iid, place)

    @method(36)
    def create_fence(self, value: int, flags: int, iid: int, place: int) -> int:
        self.log(f"create_fence({value})")
        assert low(flags) == 0
        return self.machine.give(Fence(self.machine, value), iid, place)

    @method(37)
    def get_device_removed_reason(self) -> None:
        self.log("get_device_removed_reason")


# ---- DirectML


class Bound(NamedTuple):
    """A part of a buffer that is bound."""

    buffer: Resource
    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.buffer.name} + {self.offset}, {self.size}"

    def read(self) -> bytes:
        self.buffer.use(UNORDERED_ACCESS)
        return self.buffer.bytes(self.offset, self.size)

    def write(self, data: bytes) -> None:
        assert len(data) <= self.size, f"{len(data)} bytes for {self}"
        self.buffer.use(UNORDERED_ACCESS)
        self.buffer.write(self.offset, data)


def bound_at(machine: Machine, address: int) -> Bound | None:
    """Return the DML_BUFFER_BINDING at an address, None for one of nothing."""
    buffer, offset, size = unpacked("<QQQ", address)
    if not buffer:
        assert (offset, size) == (0, 0)
        return None
    found = Bound(machine.at(buffer, Resource), offset, size)
    assert offset % 16 == 0, "less than DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT"
    assert size % 4 == 0
    assert size > 0
    assert offset + size <= found.buffer.size
    return found


def desc_at(machine: Machine, address: int) -> Any:
    """Return the DML_BINDING_DESC at an address: None, a part of a buffer, or a list of them."""
    kind, desc = unpacked("<I4xQ", address)
    if kind == 2:
        count, bindings = unpacked("<I4xQ", desc)
        return [bound_at(machine, bindings + 24 * index) for index in range(count)]
    assert (kind == 0) == (desc == 0)
    return bound_at(machine, desc) if kind else None


class Operator(Object):
    IID, KIND, IS_NUMBERED = "26caae7a-3081-4633-9581-226fbe57695d", "operator", True

    def __init__(self, machine: Machine, kernel: Kernel) -> None:
        super().__init__(machine)
        self.kernel = kernel


class Compiled(Object):
    IID, KIND, IS_NUMBERED = "6b15e56a-bf5c-4902-92d8-da3a650afea4", "compiled", True

    def __init__(self, machine: Machine, kernel: Kernel) -> None:
        super().__init__(machine)
        self.kernel = kernel
        self.is_initialised = False
        self.persistent: Bound | None = None

    @struct_method(8, 24)
    def get_binding_properties(self) -> bytes:
        return struct.pack("<I4xQQ", *self.needs)

    @property
    def needs(self) -> tuple[int, int, int]:
        return self.kernel.needs

    def dispatch(self, table: Table) -> None:
        assert self.is_initialised, "it is not initialised"
        assert table.persistent == self.persistent, "another persistent resource than it was initialised with"
        inputs = [None if each is None else each.read() for each in table.inputs]
        found = self.kernel.compute(inputs, b"" if table.persistent is None else table.persistent.read())
        for data, bound in zip(found, table.outputs, strict=True):
            assert (data is None) == (bound is None)
            if data is not None:
                bound.write(data)


class Initializer(Object):
    IID, KIND = "427c1113-435c-469c-8676-4d5dd072f813", "initializer"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.of: Any = None

    @struct_method(8, 24)
    def get_binding_properties(self) -> bytes:
        return struct.pack("<I4xQQ", *self.needs)

    @property
    def needs(self) -> tuple[int, int, int]:
        assert self.of is not None, "it initialises nothing"
        return (*self.of.kernel.initializer, 0)

    @method(9)
    def reset(self, count: int, operators: int) -> None:
        assert low(count) == 1
        self.of = self.machine.at(unpacked("<Q", operators)[0], Compiled)
        self.log(f"reset({self.of.name})")

    def dispatch(self, table: Table) -> None:
        assert len(table.inputs) <= 1
        owned = table.inputs[0] if table.inputs else []
        size = self.of.needs[2]
        self.of.persistent = None
        if size:
            (self.of.persistent,) = table.outputs
            assert self.of.persistent.size == size
            self.of.persistent.write(b"".join(each.read() for each in owned if each is not None).ljust(size, b"\1"))
        self.of.is_initialised = True


class Table(Object):
    """A binding table; its descriptors are those of the heap until there is another table."""

    IID, KIND, IS_NUMBERED = "29c687dc-de74-4e3b-ab00-1168f2fc3cfc", "table", True

    def __init__(self, machine: Machine, of: Any, heap: DescriptorHeap) -> None:
        super().__init__(machine)
        self.of, self.heap, heap.table = of, heap, self
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.temporary: Any = None
        self.persistent: Any = None

    @method(8)
    def bind_inputs(self, count: int, descs: int) -> None:
        self.inputs = [desc_at(self.machine, descs + 16 * index) for index in range(low(count))]
        self.log(f"bind_inputs({_listed(self.inputs)})")

    @method(9)
    def bind_outputs(self, count: int, descs: int) -> None:
        self.outputs = [desc_at(self.machine, descs + 16 * index) for index in range(low(count))]
        self.log(f"bind_outputs({_listed(self.outputs)})")

    @method(10)
    def bind_temporary_resource(self, desc: int) -> None:
        self.temporary = desc_at(self.machine, desc)
        self.log(f"bind_temporary_resource({self.temporary})")

    @method(11)
    def bind_persistent_resource(self, desc: int) -> None:
        self.persistent = desc_at(self.machine, desc)
        self.log(f"bind_persistent_resource({self.persistent})")

    def dispatch(self) -> None:
        assert not self.heap.is_released, "the heap was released"
        assert self.heap.table is self, "the descriptors are those of another table"
        if self.of.needs[1]:
            assert self.temporary.size == self.of.needs[1]
            self.temporary.write(b"\xee" * self.temporary.size)
        self.of.dispatch(self)


def _listed(bound: list[Any]) -> str:
    return "; ".join(f"[{_listed(each)}]" if isinstance(each, list) else str(each) for each in bound)


class Recorder(Object):
    IID, KIND = "e6857a76-2e3e-4fdd-bff4-5d2ba10fb453", "recorder"

    @method(8)
    def record_dispatch(self, commands: int, dispatchable: int, table: int) -> None:
        into = self.machine.at(commands, CommandList)
        of, bound = self.machine.at(dispatchable, (Compiled, Initializer)), self.machine.at(table, Table)  # type: ignore[arg-type]
        assert bound.of is of, "the table is for another one"
        assert into.heap is bound.heap, "the list has another heap"
        parts = [*bound.inputs, *bound.outputs, bound.temporary, bound.persistent]
        buffers = [each.buffer for each in parts if isinstance(each, Bound)]
        into.record(bound.dispatch, of, bound.heap, *buffers)
        self.log(f"record_dispatch({of.name}, {bound.name})")


class DirectMLDevice(Object):
    IID, KIND = "6dbd6437-96fd-423f-a98c-ae5e7c2a573f", "directml"

    @method(7)
    def check_feature_support(self, feature: int, size: int, query: int, room: int, answer: int) -> int:
        assert (low(feature), low(size), low(room)) == (1, 16, 4)
        count, levels = unpacked("<I4xQ", query)
        known = unpacked(f"<{count}I", levels)
        self.log(f"check_feature_support({', '.join(f'{level:#x}' for level in known)})")
        return put(answer, ctypes.c_uint32(max(level for level in known if level <= self.machine.feature_level)))

    @method(8)
    def create_operator(self, desc: int, iid: int, place: int) -> int:
        number, described = unpacked("<I4xQ", desc)
        kernel = self.machine.kernels.get(number)
        self.log("create_operator" + (f"({ctypes.string_at(described, 4).decode()})" if described else ""))
        return E_INVALIDARG if kernel is None else self.machine.give(Operator(self.machine, kernel), iid, place)

    @method(9)
    def compile_operator(self, operator: int, flags: int, iid: int, place: int) -> int:
        found = self.machine.at(operator, Operator)
        self.log(f"compile_operator({found.name}, {low(flags)})")
        return self.machine.give(Compiled(self.machine, found.kernel), iid, place)

    @method(10)
    def create_operator_initializer(self, count: int, operators: int, iid: int, place: int) -> int:
        assert (low(count), operators) == (0, 0)
        self.log("create_operator_initializer")
        return self.machine.give(Initializer(self.machine), iid, place)

    @method(11)
    def create_command_recorder(self, iid: int, place: int) -> int:
        self.log("create_command_recorder")
        return self.machine.give(Recorder(self.machine), iid, place)

    @method(12)
    def create_binding_table(self, desc: int, iid: int, place: int) -> int:
        dispatchable, cpu, gpu, size = unpacked("<QQQI4x", desc)
        of = self.machine.at(dispatchable, (Compiled, Initializer))  # type: ignore[arg-type]
        heaps = [each for each in self.machine.objects.values() if isinstance(each, DescriptorHeap)]
        (heap,) = (each for each in heaps if (each.cpu, each.gpu) == (cpu, gpu))
        assert not heap.is_released, "the heap was released"
        assert of.needs[0] <= size <= heap.count, f"{size} descriptors, of {heap.count}"
        self.log(f"create_binding_table({of.name}, {heap.name}, {size})")
        return self.machine.give(Table(self.machine, of, heap), iid, place)

    @method(15)
    def get_device_removed_reason(self) -> None:
        self.log("get_device_removed_reason")
