"""The process that holds the library, in this one: its answers through a connection, and how it ends."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest
from direct3d12_objects import E_FAIL, E_INVALIDARG, Kernel, Machine, Operator

from dmlcheck.implementations.directml import serving
from dmlcheck.implementations.directml.com import ComError
from dmlcheck.implementations.directml.executor import FILL, GUARD
from dmlcheck.implementations.directml.loading import CannotLoad, LoadedLibrary, Setup
from dmlcheck.processes.body import receive, send

SETUP = ("libdirectml.so", "", "")
LEVELS = [0x1000, 0x5000, 0x9000]
Ask = Callable[[Any], Any]


def image(operator: int) -> tuple[bytes, tuple[int, ...], int]:
    """Return a DML_OPERATOR_DESC that points at a text before it."""
    return b"TEXT" + bytes(4) + struct.pack("<I4xQ", operator, 0), (16,), 8


ADD, REFUSED = image(1), image(9)


@pytest.fixture
def machine() -> Iterator[Machine]:
    made = Machine(copy=Kernel(lambda inputs, _: list(inputs)))
    yield made
    assert made.errors == []


def serve(connection: Connection) -> None:
    """Serve as the body of a child does: the first message has the arguments."""
    serving.serve(connection, *receive(connection))


@pytest.fixture
def ask(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Ask a server, which ends when there are no more questions."""
    library = LoadedLibrary(machine.dml, machine.d3d12, "made for tests", None)
    monkeypatch.setattr(serving, "load", lambda _: library)
    yield from serving_to()


def serving_to() -> Iterator[Ask]:
    ours, theirs = Pipe()
    thread = threading.Thread(target=serve, args=(theirs,))
    thread.start()

    def asked(question: Any) -> Any:
        send(ours, question)
        assert ours.poll(60)
        return receive(ours)

    try:
        yield asked
    finally:
        ours.close()
        thread.join(60)
    assert not thread.is_alive()


def test_a_library_without_a_device_that_executes_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    setups = []

    def load(setup: Setup) -> LoadedLibrary:
        setups.append(setup)
        return LoadedLibrary(machine.dml, None, "none", None)

    monkeypatch.setattr(serving, "load", load)
    for ask in serving_to():
        assert ask((("a", "b", "c"), LEVELS)) == ("opened", 0x5000, "none", False)
        assert ask(("create", ADD)) == 0
    assert setups == [Setup("a", "b", "c")]
    assert machine.calls_of("device") == []


@pytest.mark.parametrize("error", [CannotLoad("it is no library"), ComError("D3D12CreateDevice", E_FAIL)])
def test_a_library_that_cannot_be_loaded_is_an_answer(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: Setup) -> LoadedLibrary:
        raise error

    monkeypatch.setattr(serving, "load", load)
    for ask in serving_to():
        assert ask((SETUP, LEVELS)) == ("cannot", str(error))


@pytest.mark.parametrize("step", ["directml.check_feature_support", "device.create_fence"])
def test_a_device_that_refuses_what_executing_takes_is_an_answer(ask: Ask, machine: Machine, step: str) -> None:
    machine.failing[step] = E_FAIL
    word, message = ask((SETUP, LEVELS))
    assert word == "cannot"
    assert message.endswith(" failed with 0x80004005 (E_FAIL)")


def test_create_answers_with_the_hresult_of_a_desc_whose_offsets_became_pointers(ask: Ask, machine: Machine) -> None:
    ask((SETUP, LEVELS))
    assert ask(("create", ADD)) == 0
    assert ask(("create", REFUSED)) == E_INVALIDARG
    assert machine.calls_of("directml.create_operator(", "operator", "directml.compile") == [
        "directml.create_operator(TEXT)",
        "operator1.release",
        "directml.create_operator(TEXT)",
    ]
    assert machine.alive(Operator) == []


def test_run_answers_with_outputs_and_their_guards(ask: Ask) -> None:
    ask((SETUP, LEVELS))
    inputs = [(b"abcd", False), None, (b"efghijkl", False)]
    guard = FILL * GUARD
    assert ask(("run", ADD, 0, inputs, [4, None, 8])) == ("", 0, [b"abcd" + guard, None, b"efghijkl" + guard])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "step"),
    [
        ("directml.create_operator", "CreateOperator"),
        ("directml.compile_operator", "CompileOperator"),
        ("directml.create_binding_table", "IDMLDevice::CreateBindingTable"),
        ("directml.get_device_removed_reason", "IDMLDevice::GetDeviceRemovedReason"),
    ],
)
def test_run_answers_with_the_step_that_failed_and_then_goes_on(
    ask: Ask, machine: Machine, method: str, step: str
) -> None:
    ask((SETUP, LEVELS))
    machine.failing[method] = E_FAIL
    assert ask(("run", ADD, 0, [(b"abcd", False)], [4])) == (step, E_FAIL, [])
    assert ask(("run", ADD, 0, [(b"abcd", False)], [4])) == ("", 0, [b"abcd" + FILL * GUARD])


def test_an_owned_input_is_bound_when_the_operator_is_initialised(ask: Ask, machine: Machine) -> None:
    machine.kernels[1] = Kernel(lambda _, persistent: [persistent], needs=(4, 0, 4))
    ask((SETUP, LEVELS))
    assert ask(("run", ADD, 0, [(b"abcd", True)], [4])) == ("", 0, [b"abcd" + FILL * GUARD])
    assert machine.calls_of("table1.bind_inputs", "table2.bind_inputs") == [
        "table1.bind_inputs([default1 + 0, 4])",
        "table2.bind_inputs(None)",
    ]


def test_an_access_violation_ends_the_process_that_serves(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows raises OSError for it, which must not look like the end of the questions."""

    def create(*_: Any) -> int:
        raise OSError("exception: access violation reading 0x0000000000000008")

    monkeypatch.setattr(serving, "load", lambda _: LoadedLibrary(machine.dml, None, "none", None))
    monkeypatch.setattr(serving.Server, "create", create)
    ours, theirs = Pipe()
    send(ours, (SETUP, LEVELS))
    send(ours, ("create", ADD))
    with pytest.raises(OSError, match="access violation"):
        serve(theirs)
    ours.close()


def test_an_answer_that_nobody_waits_for_ends_it_without_an_error(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = Pipe()

    def load(_: Setup) -> LoadedLibrary:
        ours.close()
        return LoadedLibrary(machine.dml, None, "none", None)

    monkeypatch.setattr(serving, "load", load)
    send(ours, (SETUP, LEVELS))
    with pytest.raises(SystemExit):
        serve(theirs)


def test_who_asks_may_go_without_reading_the_answer(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that was not read resets the connection, where it is a socket."""
    monkeypatch.setattr(serving, "load", lambda _: LoadedLibrary(machine.dml, None, "none", None))
    ours, theirs = Pipe()

    def go() -> None:
        send(ours, (SETUP, LEVELS))
        assert ours.poll(60)
        ours.close()

    thread = threading.Thread(target=go)
    thread.start()
    serve(theirs)
    thread.join(60)
