"""`dmlcheck`, and `python -m dmlcheck`: the command line in a process of its own."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line, and end the process."""
    gc.set_threshold(100_000)  # objects between two searches for cycles, of which few are made
    from dmlcheck.cli import main as command_line

    try:
        command_line(prog_name="dmlcheck")
    finally:
        gc.freeze()  # all that is left goes with the process: there is nothing to search it for


if __name__ == "__main__":
    main()
