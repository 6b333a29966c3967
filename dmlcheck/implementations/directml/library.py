"""DirectML's library: where it is, whether this machine can load it, and which release it is of."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import platform
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

from dmlcheck.implementations import Unavailable

_IS_WINDOWS = sys.platform == "win32"
HOW = (
    "name one: directml:LIBRARY, where LIBRARY is DirectML.dll, libdirectml.so, a folder or a wheel with one; "
    "`pip download --no-deps torch-directml==0.2.5.dev240914` has both"
)
PACKAGES = ("onnxruntime-directml", "torch-directml", "tensorflow-directml-plugin", "tensorflow-directml")
_MOST_BYTES = 2**30  # of a file in a wheel

# The libraries for Linux say nowhere which release they are: the beginning of their SHA-256.
_RELEASES = {
    "fd54a8c578630f62": "1.13.1",  # torch-directml 0.2.5.dev240914
    "77469c8c07c47b64": "1.9.1",  # tensorflow-directml-plugin 0.3.0.dev221212
}


class Library(NamedTuple):
    """The file of a library, and its release, "" if the file does not say."""

    path: str
    version: str

    @property
    def folder(self) -> str:
        """The folder that it is in, with the libraries that it needs."""
        return os.path.dirname(self.path)


def find(place: str) -> Library:
    """Return the library that a file, a wheel or a folder has, or without a place that of this machine.

    Unavailable if there is none, or it is not for this machine.
    """
    path = _in_place(place) if place else _installed()
    _check_machine(path)
    # The name of its first function is in every library of DirectML.
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data.find(b"DMLCreateDevice\0") < 0:
            raise Unavailable(f"directml:{path} has no function DMLCreateDevice: it is not DirectML's library")
    return Library(path, version_of(path))


# ---- where it is


def _in_place(place: str) -> str:
    if os.path.isdir(place):
        return _in_folder(place)
    if not os.path.isfile(place):
        raise Unavailable(f"directml:{place}: there is no such file or folder; {HOW}")
    if place.lower().endswith(".whl"):
        return unpacked(place)
    return os.path.abspath(place)


def _in_folder(folder: str) -> str:
    """Return the library in a folder, or in the only wheel there."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise Unavailable(f"directml:{folder} cannot be read: {error.strerror or error}") from None
    own = [name for name in names if is_library(name)]
    found = own or [name for name in names if name.lower().endswith(".whl")]
    if not found:
        other = next(filter(_is_of_another_system, names), None)
        help = f"; {other} is for {_system_of(other)}" if other else ""
        raise Unavailable(f"directml:{folder} has no library of DirectML{help}; {HOW}")
    if len(found) > 1:
        kind = "libraries of DirectML" if own else "wheels"
        raise Unavailable(f"directml:{folder} has {len(found)} {kind}: {', '.join(found)}; name one")
    return _in_place(os.path.join(folder, found[0]))


def is_library(name: str) -> bool:
    """Whether a file has a name of DirectML's library for this system; that with checks of the debug layer has not."""
    return _is_named(name, is_windows=_IS_WINDOWS)


def _is_named(name: str, *, is_windows: bool) -> bool:
    name = name.lower()
    if is_windows:
        return name.startswith("directml") and name.endswith(".dll") and ".debug." not in name
    return name.startswith("libdirectml") and ".so" in name


def _is_of_another_system(name: str) -> bool:
    return _is_named(name, is_windows=not _IS_WINDOWS)


def _system_of(name: str) -> str:
    return "Windows" if name.lower().endswith(".dll") else "Linux"


def _installed() -> str:
    """Return the library of an installed package, or that of the system."""
    for path in (*_of_packages(), *_of_system()):
        if os.path.isfile(path):
            return path
    raise Unavailable(f"directml: there is no library of DirectML on this machine; {HOW}")


def _of_packages() -> Iterator[str]:
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            for file in distribution(package).files or ():
                if is_library(file.name):
                    yield str(file.locate())


def _of_system() -> Iterable[str]:
    if _IS_WINDOWS:
        return (os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "DirectML.dll"),)
    return ("/usr/lib/wsl/lib/libdirectml.so",)


# ---- wheels


def unpacked(wheel: str) -> str:
    """Return the library of a wheel, from the user's cache; it is unpacked there once, with what it needs."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return _unpacked(wheel, archive)
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
        raise Unavailable(f"directml:{wheel} cannot be unpacked: {_reason(error, wheel)}") from None


def _reason(error: Exception, wheel: str) -> str:
    """Return why a wheel could not be unpacked, with the file that it was about if that is another."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error) or "it is cut short"
    return error.strerror if error.filename in (None, wheel) else f"{error.filename}: {error.strerror}"


def _unpacked(wheel: str, archive: zipfile.ZipFile) -> str:
    files = {info.filename.rpartition("/")[2]: info for info in archive.infolist() if not info.is_dir()}
    name = next(filter(is_library, files), None)
    if name is None:
        other = next(filter(_is_of_another_system, files), None)
        help = f", only {other}, which is for {_system_of(other)}" if other else ""
        raise Unavailable(f"directml:{wheel} has no library of DirectML for this system{help}; {HOW}")
    library = files[name]
    beside = library.filename.rpartition("/")[0]
    own = [info for file, info in files.items() if _is_needed(file) and info.filename.rpartition("/")[0] == beside]
    if max(info.file_size for info in own) > _MOST_BYTES:
        raise Unavailable(f"directml:{wheel} has a library of more than 1 GiB, which is none of DirectML's")
    stem = os.path.splitext(os.path.basename(wheel))[0]
    folder = os.path.join(cache_folder(), f"{stem}-{library.CRC:08x}")
    if not os.path.isdir(folder):
        _unpack(archive, own, folder)
    return os.path.join(folder, name)


def _is_needed(name: str) -> bool:
    """Whether a file next to the library belongs to it: on Linux, the libraries that it is linked with."""
    return is_library(name) or (not _IS_WINDOWS and name.startswith(("libd3d12", "libdxcore")))


def _unpack(archive: zipfile.ZipFile, files: Iterable[zipfile.ZipInfo], folder: str) -> None:
    """Unpack files into a new folder, which is there as a whole or not at all."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as new:
        inner = os.path.join(new, "files")
        os.mkdir(inner)
        for info in files:
            with archive.open(info) as source, open(os.path.join(inner, os.path.basename(info.filename)), "wb") as file:
                while block := source.read(2**20):
                    file.write(block)
        with contextlib.suppress(OSError):  # another process was faster
            os.rename(inner, folder)
    if not os.path.isdir(folder):
        raise OSError(f"{folder} cannot be made")


def cache_folder() -> str:
    """Return the folder of the user's cache for what is unpacked."""
    home = os.path.expanduser("~")
    if _IS_WINDOWS:
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "dmlcheck", "directml")


# ---- what it is

_X86_64 = ("x86_64", "amd64")
_PE_MACHINES = {0x8664: "x86-64", 0x14C: "32-bit x86", 0xAA64: "ARM64"}
_ELF_MACHINES = {62: "x86-64", 3: "32-bit x86", 183: "ARM64"}


def _check_machine(path: str) -> None:
    """Raise Unavailable for a file that is no library for this system and processor."""
    if platform.machine().lower() not in _X86_64 or struct.calcsize("P") != 8:
        raise Unavailable(
            f"directml needs a 64-bit Python on x86-64; this one is for {platform.machine() or 'another'}"
        )
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise Unavailable(f"directml:{path} cannot be read: {error.strerror or error}") from None
    system, machine = _made_for(head)
    here = "Windows" if _IS_WINDOWS else "Linux"
    if not system:
        raise Unavailable(f"directml:{path} is no library; {HOW}")
    if system != here:
        raise Unavailable(f"directml:{path} is a library for {system}, and this is {sys.platform}; {HOW}")
    if machine != "x86-64":
        raise Unavailable(f"directml:{path} is a library for {machine}; this Python is for x86-64")


def _made_for(head: bytes) -> tuple[str, str]:
    """Return the system and the processor that a library is for, by its beginning; "" for a file that is none."""
    if head[:4] == b"\x7fELF" and len(head) > 20:
        number = struct.unpack_from("<H", head, 18)[0]
        return "Linux", _ELF_MACHINES.get(number, f"machine {number}")
    if head[:2] == b"MZ" and len(head) >= 64:
        start = struct.unpack_from("<I", head, 60)[0]
        if head[start : start + 4] == b"PE\0\0" and len(head) >= start + 6:
            number = struct.unpack_from("<H", head, start + 4)[0]
            return "Windows", _PE_MACHINES.get(number, f"machine {number:#x}")
    return "", ""


_FIXED_FILE_INFO = b"\xbd\x04\xef\xfe"  # the signature of VS_FIXEDFILEINFO


def version_of(path: str) -> str:
    """Return the release of a library: the version in a DLL's resources, or by the contents of a known one of Linux."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return ""
    if data[:2] == b"MZ":
        at = data.rfind(_FIXED_FILE_INFO)
        if at < 0 or at + 16 > len(data):
            return ""
        high, low = struct.unpack_from("<II", data, at + 8)
        return f"{high >> 16}.{high & 0xFFFF}.{low >> 16}"
    return _RELEASES.get(hashlib.sha256(data).hexdigest()[:16], "")
