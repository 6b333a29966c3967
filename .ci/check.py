"""The checks before a commit: style, types and the quick tests. `.ci/run` has all of them, in fresh environments."""
# ruff: noqa: INP001, S603, T201 - a script, which runs commands and prints what they find

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("pytest", "-n", "auto", "-q", "-m", "not slow"),
)


def passes(words: tuple[str, ...]) -> bool:
    """Run a check in this Python, and return whether it found nothing."""
    print("==", *words, flush=True)
    return subprocess.run([sys.executable, "-m", *words], cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    failed = [words for words in CHECKS if not passes(words)]
    sys.exit("failed: " + ", ".join(map(" ".join, failed)) if failed else 0)
