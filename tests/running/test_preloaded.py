"""What workers need is imported without what lies in the current folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_file_of_the_current_folder_is_no_module_of_a_worker(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="there is no dask")
    (tmp_path / "msgpack.py").write_text("raise RuntimeError", encoding="utf-8")
    program = "import dmlcheck.running.preloaded, sys; print('msgpack' in sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False, timeout=60)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"True", b"")
