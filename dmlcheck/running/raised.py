"""Exceptions of implementations as text: the traceback from its own code on, cut to a report's length."""

from __future__ import annotations

import os
import traceback
from types import TracebackType

from dmlcheck.diagnostics.wording import cut

_HERE = os.path.dirname(os.path.abspath(__file__))
_FIRST, _LAST = 10, 30  # lines
_WIDTH = 500  # characters of a line


def traceback_text(error: BaseException) -> str:
    """Return the traceback of an exception without the frames that only led to the implementation."""
    shown = traceback.TracebackException(type(error), error, _from_outside(error.__traceback__))
    lines = [cut(line, _WIDTH) for part in shown.format() for line in part.rstrip("\n").split("\n")]
    left = len(lines) - _FIRST - _LAST
    if left > 0:
        lines[_FIRST:-_LAST] = [f"  ... {left:,} lines left out ..."]
    return "\n".join(lines)


def _from_outside(found: TracebackType | None) -> TracebackType | None:
    """Return a traceback from the first frame outside this package on; all of it if there is none."""
    first = found
    while first is not None and os.path.dirname(os.path.abspath(first.tb_frame.f_code.co_filename)) == _HERE:
        first = first.tb_next
    return first or found
