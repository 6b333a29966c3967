"""Where DirectML's library is found, which of them this machine can load, and which release one is of."""

from __future__ import annotations

import hashlib
import os
import platform
import struct
import sys
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dmlcheck.implementations import Unavailable
from dmlcheck.implementations.directml import library

HOW = (
    "name one: directml:LIBRARY, where LIBRARY is DirectML.dll, libdirectml.so, a folder or a wheel with one; "
    "`pip download --no-deps torch-directml==0.2.5.dev240914` has both"
)


FUNCTION = b"DMLCreateDevice\0"


def elf(machine: int = 62, more: bytes = FUNCTION) -> bytes:
    """Return the beginning of a library of Linux."""
    return b"\x7fELF\x02\x01\x01" + bytes(11) + struct.pack("<H", machine) + bytes(44) + more


def pe(machine: int = 0x8664, more: bytes = FUNCTION) -> bytes:
    """Return the beginning of a library of Windows."""
    return b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + b"PE\0\0" + struct.pack("<H", machine) + more


class System(NamedTuple):
    """A system: the name of DirectML's library there and its contents, those of another one, and its name."""

    library: str
    data: bytes
    other: str
    other_data: bytes
    other_name: str


SYSTEMS = {
    "Linux": System("libdirectml.so", elf(), "DirectML.dll", pe(), "Windows"),
    "Windows": System("DirectML.dll", pe(), "libdirectml.so", elf(), "Linux"),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a cache of this test alone, on a machine that can load libraries."""
    monkeypatch.setattr(platform, "machine", lambda: "AMD64")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    return tmp_path / "cache" / "dmlcheck" / "directml"


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> System:
    monkeypatch.setattr(library, "_IS_WINDOWS", request.param == "Windows")
    return SYSTEMS[request.param]


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> System:
    monkeypatch.setattr(library, "_IS_WINDOWS", False)
    return SYSTEMS["Linux"]


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def wheel(path: Path, files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def message(place: Path | str) -> str:
    """Return why there is no library at a place, which is one line."""
    with pytest.raises(Unavailable) as raised:
        library.find(str(place))
    text = str(raised.value)
    assert "\n" not in text
    return text


# ---- files and folders


def test_a_file_is_the_library_whatever_its_name(system: System, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.bin", system.data)
    found = library.find(str(path))
    assert (found.path, found.version, found.folder) == (str(path), "", str(tmp_path))


def test_a_folder_with_the_library_of_another_system_says_so(system: System, tmp_path: Path) -> None:
    write(tmp_path / system.other, system.other_data)
    other = f"{system.other} is for {system.other_name}"
    assert message(tmp_path) == f"directml:{tmp_path} has no library of DirectML; {other}; {HOW}"


def test_a_folder_may_have_one_wheel_and_of_several_one_must_be_named(
    system: System, tmp_path: Path, cache: Path
) -> None:
    wheel(tmp_path / "downloads" / "b.whl", {f"b/{system.library}": system.data})
    assert os.path.dirname(library.find(str(tmp_path / "downloads")).folder) == str(cache)
    wheel(tmp_path / "downloads" / "a.whl", {f"a/{system.library}": system.data})
    place = tmp_path / "downloads"
    assert message(place) == f"directml:{place} has 2 wheels: a.whl, b.whl; name one"


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> list[str]:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "listdir", denied)
    assert message(tmp_path) == f"directml:{tmp_path} cannot be read: Permission denied"


# ---- wheels


def test_a_wheel_is_unpacked_once_with_what_its_library_needs(
    tmp_path: Path, cache: Path, linux: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wheel(
        tmp_path / "torch_directml-0.2.5-cp311.whl",
        {
            "torch_directml/": b"",
            "torch_directml/libdirectml.so": linux.data,
            "torch_directml/libd3d12.so": b"3d",
            "torch_directml/libdxcore.so": b"core",
            "torch_directml/__init__.py": b"",
            "torch_directml.libs/libd3d12core.so": b"elsewhere",
        },
    )
    found = library.find(str(path))
    (folder,) = cache.iterdir()
    crc = zipfile.ZipFile(path).getinfo("torch_directml/libdirectml.so").CRC
    assert folder.name == f"torch_directml-0.2.5-cp311-{crc:08x}"
    assert (found.path, found.folder) == (str(folder / "libdirectml.so"), str(folder))
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == {
        "libdirectml.so": linux.data,
        "libd3d12.so": b"3d",
        "libdxcore.so": b"core",
    }
    monkeypatch.setattr(library, "_unpack", None)  # it is there already
    assert library.find(str(path)) == found


def test_of_a_wheel_for_windows_the_library_is_all_that_is_needed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_IS_WINDOWS", True)
    files = {"a/DirectML.Debug.dll": b"", "a/DirectML.dll": pe(), "a/d3d12.dll": b"", "a/libd3d12.so": b""}
    found = library.find(str(wheel(tmp_path / "a.whl", files)))
    assert (os.path.basename(found.path), os.listdir(found.folder)) == ("DirectML.dll", ["DirectML.dll"])
    assert os.path.dirname(found.folder) == str(cache)


def test_what_another_process_unpacked_meanwhile_is_used(
    tmp_path: Path, cache: Path, linux: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slower(_: str, folder: str) -> None:
        write(Path(folder) / linux.library, elf(more=FUNCTION + b"theirs"))
        raise FileExistsError(17, "File exists", folder)

    monkeypatch.setattr(os, "rename", slower)
    found = library.find(str(wheel(tmp_path / "a.whl", {f"a/{linux.library}": linux.data})))
    assert Path(found.path).read_bytes() == elf(more=FUNCTION + b"theirs")
    assert len(list(cache.iterdir())) == 1  # nothing temporary is left


def test_what_cannot_be_moved_into_the_cache_is_told(
    tmp_path: Path, cache: Path, linux: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(source: str, _: str) -> None:
        raise PermissionError(13, "Permission denied", source)

    monkeypatch.setattr(os, "rename", denied)
    path = wheel(tmp_path / "a.whl", {f"a/{linux.library}": linux.data})
    folder = cache / f"a-{zipfile.ZipFile(path).infolist()[0].CRC:08x}"
    assert message(path) == f"directml:{path} cannot be unpacked: {folder} cannot be made"


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, linux: System) -> None:
    write(tmp_path / "cache", b"a file where a folder should be")
    path = wheel(tmp_path / "a.whl", {f"a/{linux.library}": linux.data})
    with pytest.raises(OSError, match=r".") as raised:
        os.makedirs(tmp_path / "cache" / "dmlcheck")
    text = message(path)
    start = f"directml:{path} cannot be unpacked: {tmp_path / 'cache'}"
    assert (text.startswith(start), text.endswith(f": {raised.value.strerror}")) == (True, True)


def test_a_wheel_of_another_system_says_which(system: System, tmp_path: Path, cache: Path) -> None:
    path = wheel(tmp_path / "other.whl", {f"other/{system.other}": system.other_data})
    only = f"only {system.other}, which is for {system.other_name}"
    assert message(path) == f"directml:{path} has no library of DirectML for this system, {only}; {HOW}"
    assert not cache.exists()


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wheel_with_wrong_bytes_leaves_nothing_in_the_cache(
    tmp_path: Path, cache: Path, linux: System, compression: int
) -> None:
    path = wheel(tmp_path / "a.whl", {"libdirectml.so": elf(more=bytes(range(200)))}, compression)
    data = bytearray(path.read_bytes())
    start = 30 + len("libdirectml.so")
    data[start : start + 8] = b"\xff" * 8
    path.write_bytes(data)
    wrong = {
        zipfile.ZIP_STORED: "Bad CRC-32 for file 'libdirectml.so'",
        zipfile.ZIP_DEFLATED: "Error -3 while decompressing data: invalid block type",
    }
    assert message(path) == f"directml:{path} cannot be unpacked: {wrong[compression]}"
    assert list(cache.iterdir()) == []
    assert linux.library == "libdirectml.so"


def test_an_error_without_a_text_means_that_a_wheel_is_cut_short(
    tmp_path: Path, linux: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: Any) -> None:
        raise EOFError

    path = wheel(tmp_path / "a.whl", {linux.library: linux.data})
    monkeypatch.setattr(zipfile.ZipFile, "open", ended)
    assert message(path) == f"directml:{path} cannot be unpacked: it is cut short"


def test_a_wheel_that_cannot_be_read_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.whl", b"")

    def denied(name: str) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(zipfile, "ZipFile", denied)
    assert message(path) == f"directml:{path} cannot be unpacked: Permission denied"


def test_a_wheel_that_is_encrypted_is_told(tmp_path: Path, linux: System) -> None:
    path = wheel(tmp_path / "a.whl", {linux.library: linux.data})
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags] |= 1
    path.write_bytes(data)
    text = message(path)
    assert text.startswith(f"directml:{path} cannot be unpacked: ")
    assert "encrypted" in text


def test_a_file_of_more_than_a_gib_is_not_unpacked(
    tmp_path: Path, cache: Path, linux: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_MOST_BYTES", 1000)
    files = {f"a/{linux.library}": linux.data, "a/libd3d12core.so": bytes(1000)}
    assert library.find(str(wheel(tmp_path / "a.whl", files))).folder.startswith(str(cache))
    path = wheel(tmp_path / "b.whl", {**files, "a/libd3d12core.so": bytes(1001)})
    assert message(path) == f"directml:{path} has a library of more than 1 GiB, which is none of DirectML's"


@pytest.mark.parametrize(
    ("is_windows", "variable", "beside_home"),
    [(False, "XDG_CACHE_HOME", (".cache",)), (True, "LOCALAPPDATA", ("AppData", "Local"))],
)
def test_without_its_variable_the_cache_is_in_the_users_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_windows: bool, variable: str, beside_home: tuple[str, ...]
) -> None:
    monkeypatch.setattr(library, "_IS_WINDOWS", is_windows)
    assert library.cache_folder() == os.path.join(str(tmp_path), "cache", "dmlcheck", "directml")
    monkeypatch.setattr(os.path, "expanduser", {"~": str(tmp_path)}.__getitem__)
    for value in ("", None):
        if value is None:
            monkeypatch.delenv(variable)
        else:
            monkeypatch.setenv(variable, value)
        assert library.cache_folder() == os.path.join(str(tmp_path), *beside_home, "dmlcheck", "directml")


# ---- what this machine has


class File:
    """A file of an installed package."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.path = path

    def locate(self) -> Path:
        return self.path


class Package(NamedTuple):
    """An installed package, whose record may be lost."""

    files: list[File] | None


def install(monkeypatch: pytest.MonkeyPatch, packages: Mapping[str, list[Path] | None], of_system: str = "") -> None:
    def distribution(name: str) -> Any:
        if name not in packages:
            raise PackageNotFoundError(name)
        files = packages[name]
        return Package(files if files is None else [File(path) for path in files])

    monkeypatch.setattr(library, "distribution", distribution)
    monkeypatch.setattr(library, "_of_system", lambda: (of_system,))


def test_an_installed_package_has_the_library(system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, own = (write(tmp_path / name / system.library, system.data) for name in ("a", "b", "own"))
    text = write(tmp_path / "a" / "readme.txt", b"")
    gone = tmp_path / "gone" / system.library
    install(monkeypatch, {"torch-directml": [text, first], "tensorflow-directml": [second]}, str(own))
    assert library.find("").path == str(first)
    install(monkeypatch, {"torch-directml": [text, gone], "tensorflow-directml": [second]}, str(own))
    assert library.find("").path == str(second)
    install(monkeypatch, {"onnxruntime-directml": [second], "torch-directml": [first]}, str(own))
    assert library.find("").path == str(second)
    install(monkeypatch, {"torch-directml": None, "tensorflow-directml-plugin": [text]}, str(own))
    assert library.find("").path == str(own)


def test_without_a_library_on_the_machine_the_message_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, {}, str(tmp_path / "none"))
    assert message("") == f"directml: there is no library of DirectML on this machine; {HOW}"


def test_the_systems_own_library_is_that_of_windows_or_of_its_subsystem_for_linux(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library, "_IS_WINDOWS", False)
    assert list(library._of_system()) == ["/usr/lib/wsl/lib/libdirectml.so"]
    monkeypatch.setattr(library, "_IS_WINDOWS", True)
    monkeypatch.setenv("SYSTEMROOT", "W:")
    assert list(library._of_system()) == [os.path.join("W:", "System32", "DirectML.dll")]
    monkeypatch.delenv("SYSTEMROOT")
    assert list(library._of_system()) == [os.path.join(r"C:\Windows", "System32", "DirectML.dll")]


# ---- what a library is for


def test_a_library_of_another_system_is_told(system: System, tmp_path: Path) -> None:
    path = write(tmp_path / system.other, system.other_data)
    wrong = f"is a library for {system.other_name}, and this is {sys.platform}"
    assert message(path) == f"directml:{path} {wrong}; {HOW}"


@pytest.mark.parametrize(
    ("is_windows", "data", "machine"),
    [
        (False, elf(3), "32-bit x86"),
        (False, elf(183), "ARM64"),
        (False, elf(243), "machine 243"),
        (True, pe(0x14C), "32-bit x86"),
        (True, pe(0xAA64), "ARM64"),
        (True, pe(0x1C4), "machine 0x1c4"),
    ],
)
def test_a_library_for_another_processor_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_windows: bool, data: bytes, machine: str
) -> None:
    monkeypatch.setattr(library, "_IS_WINDOWS", is_windows)
    path = write(tmp_path / "library", data)
    assert message(path) == f"directml:{path} is a library for {machine}; this Python is for x86-64"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b"\x7fELF",
        b"MZ",
        pe(more=b"")[:-2],
        b"MZ" + bytes(58) + b"\xff" * 4 + bytes(64),
        b"MZ" + bytes(200),
    ],
)
def test_a_file_that_is_no_library_is_told(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path / "DirectML.dll", data)
    assert message(path) == f"directml:{path} is no library; {HOW}"


def test_a_library_of_something_else_is_told(tmp_path: Path, linux: System) -> None:
    path = write(tmp_path / linux.library, elf(more=b"DMLCreate\0Device"))
    assert message(path) == f"directml:{path} has no function DMLCreateDevice: it is not DirectML's library"


def test_a_library_that_cannot_be_read_is_told(tmp_path: Path, linux: System, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / linux.library
    monkeypatch.setattr(library, "_in_place", lambda place: place)
    text = message(path)
    assert text == f"directml:{path} cannot be read: {os.strerror(2)}"


@pytest.mark.parametrize(("machine", "text"), [("aarch64", "aarch64"), ("", "another")])
def test_a_python_for_another_processor_can_load_none(
    tmp_path: Path, linux: System, monkeypatch: pytest.MonkeyPatch, machine: str, text: str
) -> None:
    path = write(tmp_path / linux.library, linux.data)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert message(path) == f"directml needs a 64-bit Python on x86-64; this one is for {text}"


# ---- releases


def fixed_file_info(*version: int) -> bytes:
    """Return a VS_FIXEDFILEINFO of the resources of a DLL."""
    major, minor, build, revision = version
    return struct.pack("<IIII", 0xFEEF04BD, 0x10000, major << 16 | minor, build << 16 | revision) + bytes(36)


def test_the_release_of_a_dll_is_in_its_resources(tmp_path: Path) -> None:
    chance = fixed_file_info(9, 9, 9, 9)[:16]  # bytes of code that look like one come before the resources
    path = write(tmp_path / "DirectML.dll", pe(more=chance + bytes(5000) + fixed_file_info(1, 15, 4, 7) + bytes(9)))
    assert library.version_of(str(path)) == "1.15.4"


def test_the_release_of_a_known_library_for_linux_follows_from_its_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, other = (write(tmp_path / name, elf(more=name.encode())) for name in ("known.so", "other.so"))
    digest = hashlib.sha256(known.read_bytes()).hexdigest()
    monkeypatch.setattr(library, "_RELEASES", {digest[:16]: "1.13.1"})
    assert [library.version_of(str(path)) for path in (known, other, tmp_path / "none")] == ["1.13.1", "", ""]


def test_known_releases_are_known_by_16_digits_of_a_hash_each() -> None:
    for digits, release in library._RELEASES.items():
        assert (len(digits), int(digits, 16) > 0, release.count(".")) == (16, True, 2)


def test_a_library_is_found_with_its_release(tmp_path: Path, linux: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_RELEASES", {hashlib.sha256(linux.data).hexdigest()[:16]: "1.9.1"})
    path = write(tmp_path / linux.library, linux.data)
    assert library.find(str(path)) == (str(path), "1.9.1")
