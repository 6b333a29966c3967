"""Interrupts that wait until a result is in all reports."""

from __future__ import annotations

import signal
import threading

import pytest

from dmlcheck.cli.interrupts import Interrupts


def test_an_interrupt_between_results_ends_the_run_at_once() -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_a_result_waits_for_its_end(number: signal.Signals) -> None:
    done = []

    def report(interrupts: Interrupts) -> None:
        with interrupts.held():
            signal.raise_signal(number)
            done.append("the rest of the block")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        report(interrupts)
    assert done == ["the rest of the block"]


def test_a_second_interrupt_does_not_wait() -> None:
    """A report may go into a pipe that nobody reads."""
    done = []

    def report(interrupts: Interrupts) -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            done.append("after the first")
            signal.raise_signal(signal.SIGTERM)
            done.append("after the second")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        report(interrupts)
    assert done == ["after the first"]


def test_what_an_interrupt_did_before_it_does_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_interrupts_as_they_are() -> None:
    before = signal.getsignal(signal.SIGINT)
    found = []

    def run() -> None:
        with Interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [before]
