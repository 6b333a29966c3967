"""The process of a child, in this one: its questions, and what it does when its parent is gone."""

from __future__ import annotations

import sys
from multiprocessing import Pipe
from types import ModuleType
from typing import Any

import pytest

from dmlcheck.processes import body
from dmlcheck.processes.body import READY, main, questions, tell
from dmlcheck.processes.messages import receive, send


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
