"""`dmlcheck`, and `python -m dmlcheck`: the command line in a process of its own."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line, and end the process."""
    _open_closed_streams()
    gc.set_threshold(100_000)  # objects between two searches for cycles, of which few are made
    try:
        from dmlcheck.cli import main as command_line

        command_line(prog_name="dmlcheck")
    except KeyboardInterrupt:  # before there was a command
        sys.exit(130)
    finally:
        gc.freeze()  # all that is left goes with the process: there is nothing to search it for


def _open_closed_streams() -> None:
    """Open the null device for standard streams that the caller closed, so that no file gets their numbers."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(null, True)  # noqa: FBT003 - a standard stream is
    os.close(null)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends


if __name__ == "__main__":
    main()
