"""Tracebacks of what implementations raise, as reports have them."""

from __future__ import annotations

from dmlcheck.running.raised import traceback_text


def raised(depth: int, message: str) -> BaseException:
    """Return an exception that was raised so many calls deep, no two in a row of one function."""

    def even(left: int) -> None:
        odd(left - 1)

    def odd(left: int) -> None:
        if left <= 0:
            raise ValueError(message)
        even(left - 1)

    try:
        even(depth)
    except ValueError as error:
        return error
    raise AssertionError


def test_a_traceback_has_the_lines_that_led_to_the_exception() -> None:
    lines = traceback_text(raised(0, "no device")).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "    raise ValueError(message)" in lines
    assert lines[-1] == "ValueError: no device"


def test_a_long_traceback_loses_lines_of_its_middle_and_the_ends_of_long_lines() -> None:
    lines = traceback_text(raised(200, "x" * 10_000)).splitlines()
    assert len(lines) == 41
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[10].strip().startswith("... ")
    assert lines[10].strip().endswith(" lines left out ...")
    assert lines[-1].startswith("ValueError: xxx")
    assert len(lines[-1]) <= 510
