"""Interrupts of a run, by Ctrl-C or by the system."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class Interrupts:
    """Interrupts that wait while a result is on its way into the reports, so that all of them tell the same."""

    def __init__(self) -> None:
        """Begin with none."""
        self.is_held = False
        self.is_pending = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.before = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
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
        """Let interrupts wait until the end of the block."""
        self.is_held = True
        yield
        self.is_held = False
        if self.is_pending:
            raise KeyboardInterrupt
