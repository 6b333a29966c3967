"""The implementations of a run: the one under test, and a second one if the run compares two."""

from __future__ import annotations

from typing import Any

from dmlcheck.implementations import make
from dmlcheck.implementations.protocol import Adapted, Implementation, adapted


class Pair(Adapted):
    """Two implementations that run the same cases; where one is asked for, it is the first."""

    keeps_time = may_crash = False

    def __init__(self, first: Any, second: Any) -> None:
        """Take the implementation under test, and the second one."""
        super().__init__(first)
        self.first, self.second = adapted(first), adapted(second)
        self.may_crash = self.first.may_crash or self.second.may_crash
        self.keeps_time = self.first.keeps_time and self.second.keeps_time

    def close(self) -> None:
        """End both."""
        try:
            self.first.close()
        finally:
            self.second.close()


def make_all(name: str, against: str | None, timeout: float | None) -> Implementation:
    """Return the implementation of a name, in a pair with that of a second name; Unavailable if there is none."""
    first = make(name, timeout)
    if against is None:
        return first
    try:
        return Pair(first, make(against, timeout))
    except BaseException:
        first.close()
        raise
