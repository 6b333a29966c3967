"""The process of a child, in this one: its questions, and what it does when its parent is gone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pickle import PickleBuffer
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dmlcheck.processes import body
from dmlcheck.processes.body import READY, main, questions, receive, send, tell


def test_a_child_is_ready_before_its_first_question() -> None:
    ours, theirs = Pipe()
    for question in (1, None, "two"):
        send(ours, question)
    asked = questions(theirs)
    assert next(asked) == 1
    assert receive(ours) == READY
    assert [next(asked), next(asked)] == [None, "two"]
    ours.close()
    assert list(asked) == []


def test_the_first_message_may_say_more() -> None:
    ours, theirs = Pipe()
    send(ours, 1)
    next(questions(theirs, {"level": 5}))
    assert receive(ours) == {"level": 5}


def test_a_child_that_nobody_listens_to_ends() -> None:
    ours, theirs = Pipe()
    ours.close()
    with pytest.raises(SystemExit):
        tell(theirs, "answer")


def test_an_answer_that_was_not_read_is_no_error_of_a_child() -> None:
    """It resets the connection, where that is a socket."""
    ours, theirs = Pipe()
    send(ours, 1)
    asked = questions(theirs)
    assert next(asked) == 1
    ours.close()  # with the first message unread
    assert list(asked) == []


def test_a_body_calls_a_function_of_a_module_with_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = Pipe()
    made: Any = ModuleType("made_for_this")
    made.serve = lambda connection, *given: send(connection, given)
    monkeypatch.setitem(sys.modules, "made_for_this", made)
    monkeypatch.setattr(body, "leave_interrupts_to_the_parent", lambda: None)
    send(ours, (1, "two"))
    handle = theirs.fileno()
    theirs._handle = None  # type: ignore[attr-defined]
    main(handle, "made_for_this")
    assert receive(ours) == (1, "two")


# ---- messages: each object arrives whole, arrays of any size and layout too, and one that cannot be sent sends nothing


COUNT = 1 << 20


@pytest.fixture
def ends() -> Iterator[tuple[Connection, Connection]]:
    first, second = Pipe()
    yield first, second
    first.close()
    second.close()


def passed(ends: tuple[Connection, Connection], message: Any) -> Any:
    sender = threading.Thread(target=send, args=(ends[0], message))
    sender.start()
    found = receive(ends[1])
    sender.join()
    assert not ends[1].poll()
    return found


@pytest.mark.parametrize("message", [None, ("a", [1, {"b": 2.5}]), b"x" * COUNT, "\u00e9"])
def test_an_object_arrives_as_it_is(message: Any, ends: tuple[Connection, Connection]) -> None:
    assert passed(ends, message) == message


@pytest.mark.parametrize("count", [0, 1, 16_383, 16_384, COUNT])
def test_arrays_of_any_size_arrive_and_may_be_written(count: int, ends: tuple[Connection, Connection]) -> None:
    x = np.arange(count, dtype=np.float32)
    found, number, other = passed(ends, (x, 7, x[::-1]))
    assert np.array_equal(found, x)
    assert np.array_equal(other, x[::-1])
    assert (found.dtype, number) == (np.dtype(np.float32), 7)
    found += 1
    assert np.array_equal(found, x + 1)


def test_large_arrays_are_not_among_the_bytes_of_the_object(ends: tuple[Connection, Connection]) -> None:
    sizes = []
    x, order = np.ones((512, 256)), np.asfortranarray(np.ones((256, 512), np.int16))

    class Counted:
        def send(self, given: tuple[bytes, list[int]]) -> None:
            sizes.append((len(given[0]) < 1000, given[1]))
            ends[0].send(given)

        def fileno(self) -> int:
            return ends[0].fileno()

        def send_bytes(self, data: Any) -> None:
            ends[0].send_bytes(data)

    sender = threading.Thread(target=send, args=(Counted(), {"x": x, "order": order}))
    sender.start()
    found = receive(ends[1])
    sender.join()
    assert sizes == [(True, [x.nbytes, order.nbytes])]
    assert all(np.array_equal(found[name], array) for name, array in (("x", x), ("order", order)))
    assert found["order"].flags.f_contiguous


def test_pieces_of_bytes_arrive_in_their_order(ends: tuple[Connection, Connection]) -> None:
    pieces = [b"small", bytes(COUNT), b"", b"z" * 70_000]
    assert b"".join(passed(ends, [*map(PickleBuffer, pieces)])) == b"".join(pieces)


def test_nothing_is_sent_of_what_cannot_be_pickled(ends: tuple[Connection, Connection]) -> None:
    with pytest.raises((AttributeError, TypeError, body.pickle.PicklingError)):
        send(ends[0], (np.ones(COUNT), lambda: None))
    send(ends[0], "next")
    assert receive(ends[1]) == "next"


def test_the_end_of_the_other_process_ends_a_message(ends: tuple[Connection, Connection]) -> None:
    ends[0].send((b"", [10]))
    ends[0].close()
    with pytest.raises((EOFError, OSError)):
        receive(ends[1])
