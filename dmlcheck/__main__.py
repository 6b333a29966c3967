"""`python -m dmlcheck`."""

from __future__ import annotations

from dmlcheck.cli import main

if __name__ == "__main__":
    main(prog_name="dmlcheck")
