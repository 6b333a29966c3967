"""Executing, call by call: what is made once, what is bound, states of buffers, and what a failure leaves behind."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from direct3d12_objects import (
    DEVICE_REMOVED,
    E_FAIL,
    Allocator,
    Compiled,
    DescriptorHeap,
    Kernel,
    Machine,
    Operator,
    Resource,
    Table,
)

from dmlcheck.implementations.directml.com import ComError
from dmlcheck.implementations.directml.executor import FILL, GUARD, DeviceExecutor, Failed, InputBytes

E_OUTOFMEMORY = 0x8007000E


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def added(inputs: list[bytes | None], _: bytes) -> list[bytes | None]:
    """Add the inputs that there are."""
    given = [np.frombuffer(each, "<f4") for each in inputs if each is not None]
    return [np.sum(given, axis=0, dtype=np.float32).tobytes()]


def added_to_persistent(inputs: list[bytes | None], persistent: bytes) -> list[bytes | None]:
    return added([*inputs, persistent], b"")


def copied(inputs: list[bytes | None], _: bytes) -> list[bytes | None]:
    return list(inputs)


@pytest.fixture
def machine() -> Iterator[Machine]:
    made = Machine(
        add=Kernel(added),
        needy=Kernel(added, needs=(300, 70000, 8), initializer=(400, 512)),
        owning=Kernel(added_to_persistent, needs=(4, 0, 8)),
        copy=Kernel(copied),
        fill=Kernel(lambda _inputs, _: [floats(7.0)]),
        nothing=Kernel(lambda _inputs, _: []),
        half=Kernel(lambda inputs, _: [None if each is None else each[: len(each) // 2] for each in inputs]),
    )
    yield made
    assert made.errors == []


@pytest.fixture
def executor(machine: Machine) -> DeviceExecutor:
    return DeviceExecutor(machine.d3d12, machine.dml)


Run = Callable[..., "list[bytes | None]"]


@pytest.fixture
def run(machine: Machine, executor: DeviceExecutor) -> Run:
    """Return a function that runs a kernel on bytes, and returns its outputs, whose guards must be whole."""

    def ran(name: str, *inputs: bytes | InputBytes | None, sizes: tuple[int | None, ...]) -> list[bytes | None]:
        operator = executor.operator(name, machine.desc(name), 0)
        given = [InputBytes(each) if isinstance(each, bytes) else each for each in inputs]
        found = executor.run(operator, given, sizes)
        for each in found:
            assert each is None or each[-GUARD:] == FILL * GUARD
        return [None if each is None else each[:-GUARD] for each in found]

    return ran


# ---- what is made


def test_a_queue_a_list_and_a_fence_are_of_the_device_and_for_computing(
    machine: Machine, executor: DeviceExecutor
) -> None:
    assert machine.calls == [
        "device.create_command_queue(2)",
        "device.create_command_allocator(2)",
        "device.create_command_list(2)",
        "device.create_fence(0)",
        "directml.create_command_recorder",
        "directml.create_operator_initializer",
    ]
    assert executor.compiled == {}


@pytest.mark.parametrize(
    "step",
    [
        "device.create_command_queue",
        "device.create_command_allocator",
        "device.create_command_list",
        "device.create_fence",
        "directml.create_command_recorder",
        "directml.create_operator_initializer",
    ],
)
def test_a_device_that_refuses_is_an_error_with_the_name_of_the_step(machine: Machine, step: str) -> None:
    machine.failing[step] = E_FAIL
    with pytest.raises(ComError) as error:
        DeviceExecutor(machine.d3d12, machine.dml)
    assert error.value.hresult == E_FAIL
    assert error.value.method.lower().endswith("::" + step.partition(".")[2].replace("_", ""))


# ---- operators


def test_a_desc_is_compiled_once_for_a_key_and_its_operator_is_given_up(
    machine: Machine, executor: DeviceExecutor
) -> None:
    first = executor.operator(("add", 0), machine.desc("add"), 0)
    assert executor.operator(("add", 0), machine.desc("add"), 0) is first
    executor.operator(("add", 2), machine.desc("add"), 2)
    assert machine.calls_of("directml.create_operator", "directml.compile", "operator")[1:] == [
        "directml.create_operator",
        "directml.compile_operator(operator1, 0)",
        "operator1.release",
        "directml.create_operator",
        "directml.compile_operator(operator2, 2)",
        "operator2.release",
    ]


def test_of_64_operators_the_one_that_was_not_asked_for_longest_is_given_up(
    machine: Machine, executor: DeviceExecutor, run: Run
) -> None:
    run("needy", floats(1, 2), sizes=(8,))  # compiled1, with a persistent resource
    run("add", floats(1, 2), sizes=(8,))
    for number in range(62):
        executor.operator(number, machine.desc("add"), 0)
    assert machine.calls_of("compiled") == []
    executor.operator("add", machine.desc("add"), 0)  # the latest now
    executor.operator(62, machine.desc("add"), 0)
    assert machine.calls_of("compiled") == ["compiled1.release"]
    persistent = next(each for each in machine.buffers() if each.size == 8)
    assert persistent.is_released
    executor.operator(63, machine.desc("add"), 0)
    assert machine.calls_of("compiled") == ["compiled1.release", "compiled3.release"]
    assert len(machine.alive(Compiled)) == 64


@pytest.mark.parametrize(
    ("method", "step"),
    [("directml.create_operator", "CreateOperator"), ("directml.compile_operator", "CompileOperator")],
)
def test_a_desc_that_is_refused_says_the_step_and_is_asked_for_again(
    machine: Machine, executor: DeviceExecutor, method: str, step: str
) -> None:
    machine.failing[method] = E_OUTOFMEMORY
    with pytest.raises(Failed) as error:
        executor.operator("add", machine.desc("add"), 0)
    assert (error.value.step, error.value.hresult) == (step, E_OUTOFMEMORY)
    assert machine.alive(Operator) == []
    executor.operator("add", machine.desc("add"), 0)
    assert len(machine.alive(Compiled)) == 1


# ---- one dispatch


def test_a_dispatch_is_these_calls(machine: Machine, run: Run) -> None:
    run("add", floats(1, 2, 3), floats(10, 20, 30), sizes=(12,))
    machine.calls.clear()
    assert run("add", floats(1, 2, 4), floats(10, 20, 40), sizes=(12,)) == [floats(11, 22, 44)]
    assert machine.calls == [
        "list.copy(default1 + 0, upload1 + 0, 268)",
        "list.barrier(default1: COPY_DEST to UAV)",
        "list.copy(default2 + 0, upload1 + 268, 268)",
        "list.barrier(default2: COPY_DEST to UAV)",
        "list.set_descriptor_heaps(heap1)",
        "directml.create_binding_table(compiled1, heap1, 4)",
        "table3.bind_inputs(default1 + 0, 12; default1 + 256, 12)",
        "table3.bind_outputs(default2 + 0, 12)",
        "recorder.record_dispatch(compiled1, table3)",
        "list.barrier(UAV)",
        "table3.release",
        "list.barrier(default2: UAV to COPY_SOURCE)",
        "list.copy(readback1 + 0, default2 + 0, 268)",
        "list.close",
        "queue.execute_command_lists(list)",
        "queue.signal(fence, 3)",
        "fence.set_event_on_completion(3)",
        "device.get_device_removed_reason",
        "directml.get_device_removed_reason",
        "allocator.reset",
        "list.reset",
    ]


def test_the_first_dispatch_of_an_operator_is_initialised_and_submitted_before_it(machine: Machine, run: Run) -> None:
    assert run("add", floats(1), floats(2), sizes=(4,)) == [floats(3)]
    own = machine.calls_of("initializer", "table", "recorder", "directml.create_binding", "queue", "fence")
    assert own == [
        "initializer.reset(compiled1)",
        "directml.create_binding_table(initializer, heap1, 1)",
        "recorder.record_dispatch(initializer, table1)",
        "queue.execute_command_lists(list)",
        "queue.signal(fence, 1)",
        "fence.set_event_on_completion(1)",
        "table1.release",
        "directml.create_binding_table(compiled1, heap1, 4)",
        "table2.bind_inputs(default1 + 0, 4; default1 + 256, 4)",
        "table2.bind_outputs(default2 + 0, 4)",
        "recorder.record_dispatch(compiled1, table2)",
        "table2.release",
        "queue.execute_command_lists(list)",
        "queue.signal(fence, 2)",
        "fence.set_event_on_completion(2)",
    ]
    machine.calls.clear()
    assert run("add", floats(5), floats(6), sizes=(4,)) == [floats(11)]
    assert machine.calls_of("initializer") == []
    assert machine.alive(Table) == []


def test_tensors_that_a_desc_leaves_out_are_bound_to_nothing(machine: Machine, run: Run) -> None:
    assert run("copy", floats(1), None, floats(2, 3), sizes=(4, None, 8)) == [floats(1), None, floats(2, 3)]
    assert machine.calls_of("table2.bind_inputs", "table2.bind_outputs") == [
        "table2.bind_inputs(default1 + 0, 4; None; default1 + 256, 8)",
        "table2.bind_outputs(default2 + 0, 4; None; default2 + 512, 8)",
    ]


def test_an_operator_without_inputs_uploads_the_filling_of_its_output_alone(machine: Machine, run: Run) -> None:
    assert run("fill", sizes=(4,)) == [floats(7.0)]
    assert machine.calls_of("table2.bind", "list.copy") == [
        "list.copy(default1 + 0, upload1 + 0, 260)",
        "table2.bind_inputs()",
        "table2.bind_outputs(default1 + 0, 4)",
        "list.copy(readback1 + 0, default1 + 0, 260)",
    ]


def test_an_operator_without_outputs_reads_nothing_back(machine: Machine, run: Run) -> None:
    assert run("nothing", floats(1), None, sizes=()) == []
    assert machine.calls_of("list.copy") == ["list.copy(default1 + 0, upload1 + 0, 4)"]
    assert machine.alive(Resource) == ["upload1", "default1"]


def test_tensors_are_bound_in_whole_words(machine: Machine, run: Run) -> None:
    (found,) = run("copy", b"\1\2\3\4\5", sizes=(5,))
    assert found is not None
    assert (found[:5], len(found)) == (b"\1\2\3\4\5", 8)
    assert machine.calls_of("table2.bind") == [
        "table2.bind_inputs(default1 + 0, 8)",
        "table2.bind_outputs(default2 + 0, 8)",
    ]


def test_an_output_that_is_not_written_keeps_its_filling_and_not_the_result_before(run: Run) -> None:
    data = floats(1, 2, 3, 4)
    assert run("copy", data, sizes=(16,)) == [data]
    assert run("half", data, sizes=(16,)) == [data[:8] + FILL * 8]


def test_what_is_written_behind_an_output_is_in_its_guard_and_in_no_other_output(
    machine: Machine, executor: DeviceExecutor
) -> None:
    operator = executor.operator("copy", machine.desc("copy"), 0)
    outputs = machine.buffers

    def behind(inputs: list[bytes | None], _: bytes) -> list[bytes | None]:
        where = next(each for each in outputs() if each.name == "default2")
        where.write(12, b"\0")
        return inputs

    next(each for each in machine.objects.values() if isinstance(each, Compiled)).kernel = Kernel(behind)
    first, second = executor.run(operator, [InputBytes(floats(1, 2, 3)), InputBytes(floats(4))], [12, 4])
    assert first == floats(1, 2, 3) + b"\0" + FILL * (GUARD - 1)
    assert second == floats(4) + FILL * GUARD


# ---- temporary and persistent resources, and inputs that DirectML owns


def test_temporary_and_persistent_resources_are_as_large_as_both_dispatchables_say(machine: Machine, run: Run) -> None:
    assert run("needy", floats(1, 2), floats(3, 4), sizes=(8,)) == [floats(4, 6)]
    assert machine.calls_of("table", "device.create") == [
        "device.create_command_queue(2)",
        "device.create_command_allocator(2)",
        "device.create_command_list(2)",
        "device.create_fence(0)",
        "device.create_committed_resource(upload, 65536)",
        "device.create_committed_resource(default, 65536)",
        "device.create_committed_resource(default, 65536)",
        "device.create_committed_resource(readback, 65536)",
        "device.create_committed_resource(default, 8)",
        "device.create_descriptor_heap(512)",
        "device.create_committed_resource(default, 65536)",
        "table1.bind_temporary_resource(default4 + 0, 512)",
        "table1.bind_outputs(default3 + 0, 8)",
        "table1.release",
        "device.create_committed_resource(default, 131072)",
        "table2.bind_temporary_resource(default5 + 0, 70000)",
        "table2.bind_persistent_resource(default3 + 0, 8)",
        "table2.bind_inputs(default1 + 0, 8; default1 + 256, 8)",
        "table2.bind_outputs(default2 + 0, 8)",
        "table2.release",
    ]


def test_a_persistent_resource_is_kept_for_the_next_dispatch(machine: Machine, run: Run) -> None:
    run("needy", floats(1, 2), sizes=(8,))
    machine.calls.clear()
    assert run("needy", floats(5, 6), sizes=(8,)) == [floats(5, 6)]
    assert machine.calls_of("device.create", "initializer", "table3.bind_persistent") == [
        "table3.bind_persistent_resource(default3 + 0, 8)"
    ]


def test_an_owned_input_is_read_when_the_operator_is_initialised_and_bound_to_nothing_later(
    machine: Machine, run: Run
) -> None:
    weights = InputBytes(floats(10, 20), is_owned=True)
    assert run("owning", floats(1, 2), weights, sizes=(8,)) == [floats(11, 22)]
    assert machine.calls_of("table") == [
        "table1.bind_outputs(default3 + 0, 8)",
        "table1.bind_inputs([None; default1 + 256, 8])",
        "table1.release",
        "table2.bind_persistent_resource(default3 + 0, 8)",
        "table2.bind_inputs(default1 + 0, 8; None)",
        "table2.bind_outputs(default2 + 0, 8)",
        "table2.release",
    ]


def test_an_operator_with_owned_inputs_is_initialised_each_time_into_the_same_resource(
    machine: Machine, run: Run
) -> None:
    run("owning", floats(1, 2), InputBytes(floats(10, 20), is_owned=True), sizes=(8,))
    machine.calls.clear()
    other = InputBytes(floats(30, 40), is_owned=True)
    assert run("owning", floats(1, 2), other, sizes=(8,)) == [floats(31, 42)]
    assert machine.calls_of("initializer", "device.create", "table3.bind_outputs") == [
        "initializer.reset(compiled1)",
        "table3.bind_outputs(default3 + 0, 8)",
    ]


# ---- what grows


def test_buffers_grow_to_powers_of_two_and_are_kept_for_what_is_smaller(machine: Machine, run: Run) -> None:
    def made() -> list[str]:
        calls = machine.calls_of("device.create_committed", "upload", "default", "readback")
        machine.calls.clear()
        return calls

    run("copy", floats(1), sizes=(4,))
    assert len(made()) == 4 + 2  # of which two are mapped
    large = np.arange(20_000, dtype="<f4").tobytes()
    assert run("copy", large, sizes=(80_000,)) == [large]
    assert made() == [
        "upload1.release",
        "device.create_committed_resource(upload, 262144)",
        "upload2.map",
        "default1.release",
        "device.create_committed_resource(default, 131072)",
        "default2.release",
        "device.create_committed_resource(default, 131072)",
        "readback1.release",
        "device.create_committed_resource(readback, 131072)",
        "readback2.map",
    ]
    assert run("copy", floats(2, 3), sizes=(8,)) == [floats(2, 3)]
    assert run("copy", large, sizes=(80_000,)) == [large]
    assert made() == []


def test_the_descriptor_heap_has_256_descriptors_and_grows(machine: Machine, run: Run) -> None:
    run("add", floats(1), sizes=(4,))
    run("needy", floats(1, 2), sizes=(8,))
    run("add", floats(1), sizes=(4,))
    assert machine.calls_of("device.create_descriptor", "heap") == [
        "device.create_descriptor_heap(256)",
        "heap1.release",
        "device.create_descriptor_heap(512)",
    ]
    assert machine.calls_of("directml.create_binding_table")[-1] == (
        "directml.create_binding_table(compiled1, heap2, 4)"
    )
    assert machine.alive(DescriptorHeap) == ["heap2"]


# ---- failures

STEPS = {
    "device.create_committed_resource": "ID3D12Device::CreateCommittedResource",
    "device.create_descriptor_heap": "ID3D12Device::CreateDescriptorHeap",
    "buffer.map": "ID3D12Resource::Map",
    "initializer.reset": "IDMLOperatorInitializer::Reset",
    "directml.create_binding_table": "IDMLDevice::CreateBindingTable",
    "list.close": "ID3D12GraphicsCommandList::Close",
    "commands": "ID3D12GraphicsCommandList::Close",
    "queue.signal": "ID3D12CommandQueue::Signal",
    "fence.set_event_on_completion": "ID3D12Fence::SetEventOnCompletion",
    "device.get_device_removed_reason": "ID3D12Device::GetDeviceRemovedReason",
    "directml.get_device_removed_reason": "IDMLDevice::GetDeviceRemovedReason",
    "allocator.reset": "ID3D12CommandAllocator::Reset",
    "list.reset": "ID3D12GraphicsCommandList::Reset",
}


@pytest.mark.slow
@pytest.mark.parametrize("method", STEPS)
def test_after_a_step_that_failed_the_next_dispatch_begins_with_an_empty_list(
    machine: Machine, run: Run, method: str
) -> None:
    machine.failing[method] = E_OUTOFMEMORY
    with pytest.raises(Failed) as error:
        run("needy", floats(1, 2), floats(3, 4), sizes=(8,))
    assert (error.value.step, error.value.hresult) == (STEPS[method], E_OUTOFMEMORY)
    assert machine.failing == {}
    assert machine.alive(Table) == []
    assert run("needy", floats(1, 2), floats(3, 4), sizes=(8,)) == [floats(4, 6)]
    assert run("add", floats(1), floats(2), sizes=(4,)) == [floats(3)]


@pytest.mark.slow
@pytest.mark.parametrize("method", STEPS)
def test_a_step_that_fails_later_fails_no_dispatch_but_its_own(machine: Machine, run: Run, method: str) -> None:
    run("add", floats(1), sizes=(4,))
    large = bytes(100_000)
    machine.failing[method] = E_FAIL
    with pytest.raises(Failed):
        run("needy", large, large, sizes=(100_000,))
    assert run("add", floats(3), floats(4), sizes=(4,)) == [floats(7)]
    assert run("copy", large, sizes=(100_000,)) == [large]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(7))  # upload, inputs, outputs, readback, persistent, and temporary twice
def test_each_buffer_that_cannot_be_made_is_made_the_next_time(machine: Machine, run: Run, number: int) -> None:
    run("add", floats(1), sizes=(4,))
    large = bytes(100_000)
    machine.failing["device.create_committed_resource"] = E_OUTOFMEMORY
    machine.passing["device.create_committed_resource"] = number
    with pytest.raises(Failed) as error:
        run("needy", large, large, sizes=(100_000,))
    assert error.value.step == "ID3D12Device::CreateCommittedResource"
    assert run("needy", large, large, sizes=(100_000,)) == [large]
    assert run("add", floats(3), floats(4), sizes=(4,)) == [floats(7)]
    assert len(machine.alive(Resource)) == 6


def test_an_abandoned_dispatch_is_not_executed(machine: Machine, run: Run) -> None:
    run("add", floats(1), sizes=(4,))
    machine.calls.clear()
    machine.failing["directml.create_binding_table"] = E_FAIL
    with pytest.raises(Failed):
        run("add", floats(1), sizes=(4,))
    assert machine.calls[-6:] == [
        "directml.create_binding_table fails",
        "list.close",
        "queue.signal(fence, 3)",
        "fence.set_event_on_completion(3)",
        "allocator.reset",
        "list.reset",
    ]
    assert machine.calls_of("queue.execute") == []


def test_an_operator_whose_initialisation_failed_is_initialised_again(machine: Machine, run: Run) -> None:
    machine.failing["device.get_device_removed_reason"] = DEVICE_REMOVED
    with pytest.raises(Failed) as error:
        run("needy", floats(1, 2), sizes=(8,))
    assert error.value.hresult == DEVICE_REMOVED
    machine.calls.clear()
    run("needy", floats(1, 2), sizes=(8,))
    assert machine.calls_of("initializer") == ["initializer.reset(compiled1)"]
    assert machine.calls_of("device.create_committed")[0].endswith("131072)")  # no second persistent resource


def test_a_removed_device_fails_each_dispatch_and_ends_none(machine: Machine, run: Run) -> None:
    for _ in range(3):
        machine.failing["device.get_device_removed_reason"] = DEVICE_REMOVED
        with pytest.raises(Failed, match="GetDeviceRemovedReason") as error:
            run("add", floats(1), sizes=(4,))
        assert error.value.hresult == DEVICE_REMOVED


def test_the_list_of_an_allocator_is_the_one_of_the_executor(machine: Machine, executor: DeviceExecutor) -> None:
    (allocator,) = (each for each in machine.objects.values() if isinstance(each, Allocator))
    assert allocator.address == executor.allocator.address
    assert allocator.list.address == executor.list.address
