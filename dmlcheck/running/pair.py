"""The implementations of a run: the one under test, and a second one if the run compares two."""

from __future__ import annotations

from typing import Any

from dmlcheck.implementations import Implementation, close, keeps_time, make, may_crash


class Pair:
    """Two implementations that run the same cases; where one is asked for, it is the first."""

    def __init__(self, first: Any, second: Any) -> None:
        """Take the implementation under test, and the second one."""
        self.first, self.second = first, second
        self.may_crash = may_crash(first) or may_crash(second)
        self.keeps_time = keeps_time(first) and keeps_time(second)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.first, name)

    def close(self) -> None:
        """End both."""
        try:
            close(self.first)
        finally:
            close(self.second)


def make_all(name: str, against: str | None, timeout: float | None) -> Implementation:
    """Return the implementation of a name, in a pair with that of a second name; Unavailable if there is none."""
    first = make(name, timeout)
    if against is None:
        return first
    try:
        return Pair(first, make(against, timeout))
    except BaseException:
        close(first)
        raise
