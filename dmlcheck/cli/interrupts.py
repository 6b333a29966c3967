"""Interrupts of a command: by Ctrl-C, by the system, or by the end of its terminal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self


Item = TypeVar("Item")

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # not every system has all of them
SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


class Interrupts:
    """Interrupts that end a command as Ctrl-C does, and wait while its reports would become inconsistent.

    The starter of the command may have the end of its terminal ignored (nohup): that stays as it is.
    """

    def __init__(self) -> None:
        self.is_held = False
        self.is_pending = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                before = signal.getsignal(number)
                if before is not None and not (before == signal.SIG_IGN and number != signal.SIGINT):
                    self.before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _interrupt(self, *_: object) -> None:
        if not self.is_held or self.is_pending:  # asked twice: a report may be waiting for whoever reads it
            raise KeyboardInterrupt
        self.is_pending = True

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let interrupts wait until the end of the block, or for an item that `through` yields."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False
        self._raise_pending()

    def through(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items in a block that holds interrupts, which are let through while an item is awaited."""
        following = iter(items)
        while True:
            self.is_held = False
            try:
                self._raise_pending()
                item = next(following)
            except StopIteration:
                return
            finally:
                self.is_held = True
            yield item

    def _raise_pending(self) -> None:
        if self.is_pending:
            self.is_pending = False
            raise KeyboardInterrupt
