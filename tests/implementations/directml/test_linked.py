"""Libraries that refuse, made without a compiler, as the loader of Linux takes them."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dmlcheck.implementations.directml.answering import refusing

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="libraries for Linux on x86-64"
)
ASKING = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
said = [hex(library[name]() & 0xFFFFFFFF) for name in sys.argv[3:]] + [hasattr(library, "Other")]
if sys.argv[2]:
    said.append(hex(ctypes.CDLL(sys.argv[2]).Use() & 0xFFFFFFFF))
print(*said)
"""


def asked(library: Path, *functions: str, user: Path | None = None) -> str:
    """Return the words of a process that loads a library: its functions' results, `Other`, and that of a user of it."""
    command = [sys.executable, "-c", ASKING, str(library), "" if user is None else str(user), *functions]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def test_every_function_refuses(tmp_path: Path) -> None:
    names = ["One", "Two", "Three"]
    place = tmp_path / "libone.so"
    place.write_bytes(refusing("libone.so", names))
    assert asked(place, *names) == "0x80004001 0x80004001 0x80004001 False"


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler `cc`")
def test_a_library_that_is_linked_with_one_finds_it_by_its_name_and_version(tmp_path: Path) -> None:
    for name, text in {"one.c": "int One() { return 0; }", "user.c": "int Use() { return One() + 1; }"}.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    (tmp_path / "one.map").write_text("VER_1 { *; };", encoding="ascii")
    make = ["cc", "-shared", "-fPIC", "-w", "-std=gnu89", "-o"]
    versions = ["-Wl,--version-script=one.map", "-Wl,-soname,libone.so"]
    subprocess.run([*make, "libone.so", "one.c", *versions], cwd=tmp_path, check=True)
    subprocess.run([*make, "libuser.so", "user.c", "libone.so"], cwd=tmp_path, check=True)
    (tmp_path / "libone.so").unlink()
    (tmp_path / "elsewhere").write_bytes(refusing("libone.so", ["One"]))
    assert asked(tmp_path / "elsewhere", "One", user=tmp_path / "libuser.so") == "0x80004001 False 0x80004002"
