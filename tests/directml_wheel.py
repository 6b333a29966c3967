"""The real DirectML 1.13.1, from the wheel of torch-directml, which pip downloads by name, once for this machine."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from dmlcheck.implementations.directml.library import cache_folder

VERSION = "1.13.1"
_PACKAGE = "torch-directml==0.2.5.dev240914"
_STEM = "torch_directml-0.2.5.dev240914-cp311-cp311"
_WHEELS = {
    "linux": ("manylinux2010_x86_64", "6afb675585d30018c813e5ba203a3437073748919af8ab3e910092a0e0ec531f"),
    "win32": ("win_amd64", "3315b6c7e898685827607f1d8170dacc386ac248502aba9bd36cf82e78d930bb"),
}


def wheel() -> Path:
    """Return the wheel; the test that asks is skipped where pip cannot download it."""
    found = wheel_or_reason()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@cache
def wheel_or_reason() -> Path | str:
    """Return the wheel, or why there is none."""
    if sys.platform not in _WHEELS:
        return "there is no DirectML for this system"
    platform, digest = _WHEELS[sys.platform]
    kept = Path(cache_folder()).parent / "tests" / f"{_STEM}-{platform}.whl"
    if not _is_whole(kept, digest):
        problem = _download(kept, platform, digest)
        if problem:
            return problem
    return kept


def _is_whole(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _download(kept: Path, platform: str, digest: str) -> str:
    """Download the wheel, and return why that cannot be done, "" where it is there."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        requirement = Path(folder) / "requirement.txt"
        requirement.write_text(f"{_PACKAGE} --hash=sha256:{digest}\n", encoding="utf-8")
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        words += ["--platform", platform, "--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"]
        words += ["--require-hashes", "--requirement", str(requirement), "--dest", folder]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        except subprocess.TimeoutExpired:
            return f"{_PACKAGE} cannot be downloaded: pip takes longer than 300 s"
        files = list(Path(folder).glob("*.whl"))
        if done.returncode or not files:
            lines = done.stderr.strip().splitlines()
            return f"{_PACKAGE} cannot be downloaded: {lines[-1] if lines else 'pip gives no reason'}"
        os.replace(files[0], kept)
    return ""
