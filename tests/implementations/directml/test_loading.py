"""Loading, on Windows and on Linux: which libraries and which device are taken, and what is said without them."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from direct3d12_objects import E_FAIL, Machine, Object, iid_at, low, method

from dmlcheck.implementations.directml import d3d12, loading
from dmlcheck.implementations.directml.com import UINT64, ComError, function_of, put
from dmlcheck.implementations.directml.loading import CannotLoad, Setup, environment_for, load

NOT_FOUND = 0x887A0002
ROOT = Path(__file__).parents[3]


class Adapter(Object):
    IID, KIND, IS_NUMBERED = "29038f61-3839-4626-91fd-086879011a05", "adapter", True
    title = ""

    @method(10)
    def get_desc(self, place: int) -> int:
        data = self.title.encode("utf-16-le")
        ctypes.memset(place, 0, 312)  # DXGI_ADAPTER_DESC1
        ctypes.memmove(place, data, len(data))
        return 0


class Factory(Object):
    IID, KIND = "1bc6ea02-ef36-464f-bf0c-21ca39e5168a", "factory"

    @method(12)
    def enum_adapters(self, number: int, place: int) -> int:
        self.log(f"enum_adapters({low(number)})")
        adapters = self.machine.adapters
        return put(place, UINT64(adapters[low(number)].address)) if low(number) < len(adapters) else NOT_FOUND

    @method(27)
    def enum_warp_adapter(self, iid: int, place: int) -> int:
        self.log("enum_warp_adapter")
        return self.machine.give(self.machine.warp, iid, place)


class Libraries(Machine):
    """The libraries of a machine by their names, with functions that make its objects."""

    def __init__(self) -> None:
        super().__init__()
        self.adapters = [self.adapter("A GPU"), self.adapter("Another GPU\0left over")]
        self.warp = self.adapter("Microsoft Basic Render Driver")
        self.refused: set[int] = set()  # adapters that there is no Direct3D 12 for; 0 is the first device of Linux
        self.loaded: list[str] = []
        self.folders: list[str] = []
        self.led: list[Any] = []
        self.takes = lambda device: device == self.device.address
        self.functions = {
            "D3D12CreateDevice": self.function(self.create_device),
            "DMLCreateDevice": self.function(self.create_directml),
            "CreateDXGIFactory1": self.function(lambda iid, place, *_: self.give(Factory(self), iid, place)),
        }

    def adapter(self, title: str) -> Adapter:
        made = Adapter(self)
        made.title = title
        return made

    def function(self, body: Callable[..., int]) -> Any:
        def checked(*words: int) -> int:
            try:
                return body(*words)
            except Exception as error:  # noqa: BLE001 - shown by the test
                self.errors.append(f"{type(error).__name__}: {error}")
                return E_FAIL

        callback = function_of(checked)
        made = ctypes.CFUNCTYPE(ctypes.c_int32)(ctypes.cast(callback, ctypes.c_void_p).value)
        made.keeps = callback
        return made

    def create_device(self, adapter: int, level: int, iid: int, place: int, *_: int) -> int:
        self.calls.append(f"D3D12CreateDevice({self.objects[adapter].title if adapter else 'the first'}, {level:#x})")
        return E_FAIL if adapter in self.refused else self.give(self.device, iid, place)

    def create_directml(self, device: int, flags: int, iid: int, place: int, *_: int) -> int:
        self.calls.append("DMLCreateDevice")
        assert flags == 0
        assert iid_at(iid) == self.directml.IID
        return self.give(self.directml, iid, place) if self.takes(device) else NOT_FOUND

    def library(self, path: str) -> Any:
        self.loaded.append(path)
        return SimpleNamespace(_name=path, **self.functions)


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Libraries]:
    made = Libraries()
    monkeypatch.setattr(loading, "_library", made.library)
    yield made
    assert made.errors == []


# ---- Windows


@pytest.fixture
def windows(libraries: Libraries, monkeypatch: pytest.MonkeyPatch) -> Libraries:
    monkeypatch.setattr(loading, "IS_WINDOWS", True)
    monkeypatch.setattr(os, "add_dll_directory", libraries.folders.append, raising=False)
    return libraries


def test_on_windows_the_first_adapter_executes(windows: Libraries) -> None:
    loaded = load(Setup(os.path.join("folder", "DirectML.dll"), "", ""))
    assert loaded.directml.address == windows.directml.address
    assert loaded.device is not None
    assert (loaded.device.address, loaded.name) == (windows.device.address, "A GPU")
    assert windows.loaded == [os.path.join("folder", "DirectML.dll"), "d3d12.dll", "dxgi.dll"]
    assert windows.folders == ["folder"]  # where its own dependencies are
    assert windows.calls == ["factory.enum_adapters(0)", "D3D12CreateDevice(A GPU, 0xb000)", "DMLCreateDevice"]


def test_on_windows_without_a_device_warp_answers_and_nothing_executes(windows: Libraries) -> None:
    loaded = load(Setup("DirectML.dll", "", "none"))
    assert (loaded.device, loaded.name) == (None, "none")
    assert windows.calls[0] == "factory.enum_warp_adapter"
    assert loaded.directml.address == windows.directml.address


def test_on_windows_another_direct3d_is_loaded_from_its_place(windows: Libraries) -> None:
    load(Setup("DirectML.dll", "other.dll", ""))
    assert windows.loaded == ["DirectML.dll", "other.dll", "dxgi.dll"]


def test_on_windows_a_number_without_a_device_is_not_another_device(windows: Libraries) -> None:
    with pytest.raises(CannotLoad, match=r"^there is no device 2: IDXGIFactory::EnumAdapters failed with 0x887A0002"):
        load(Setup("DirectML.dll", "", "2"))
    windows.refused = {windows.adapters[1].address}
    with pytest.raises(
        CannotLoad, match=r"^there is no device 1: D3D12CreateDevice failed with 0x80004005 \(E_FAIL\)$"
    ):
        load(Setup("DirectML.dll", "", "1"))
    assert "factory.enum_warp_adapter" not in windows.calls


def test_on_windows_a_machine_without_any_device_says_the_step(windows: Libraries) -> None:
    windows.refused = {each.address for each in (*windows.adapters, windows.warp)}
    with pytest.raises(ComError, match=r"^D3D12CreateDevice failed with 0x80004005 \(E_FAIL\)$"):
        load(Setup("DirectML.dll", "", ""))


# ---- Linux


@pytest.fixture
def linux(libraries: Libraries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Libraries:
    """Be on a Linux that is not in WSL."""

    def lead(library: Any, factory: int) -> str:
        libraries.led.append((library._name, factory))
        return "led"

    monkeypatch.setattr(loading, "IS_WINDOWS", False)
    monkeypatch.setattr(loading, "WSL", str(tmp_path / "wsl"))
    monkeypatch.setattr(loading, "_lead", lead)
    return libraries


LIBRARY = "/folder/libdirectml.so"


def test_on_linux_the_library_is_made_on_a_device_that_answers(linux: Libraries) -> None:
    linux.takes = lambda device: device not in (0, linux.device.address)
    linux.refused = {0}
    loaded = load(Setup(LIBRARY, "", ""))
    assert (loaded.device, loaded.name) == (None, "none")
    assert loaded.directml.address == linux.directml.address
    assert linux.loaded == ["libd3d12.so", "libdxcore.so", LIBRARY]
    assert [name for name, _ in linux.led] == ["libdxcore.so"]
    assert linux.calls == ["D3D12CreateDevice(the first, 0xb000)", "DMLCreateDevice"]


def test_in_wsl_the_first_device_executes_and_nothing_is_answered_for(linux: Libraries) -> None:
    Path(loading.WSL).mkdir()
    loaded = load(Setup(LIBRARY, "", "0"))
    assert loaded.device is not None
    assert loaded.name == "the first device of libd3d12.so"
    assert linux.loaded == ["libd3d12.so", "libdxcore.so", LIBRARY]
    assert linux.led == []


@pytest.mark.parametrize("device", ["warp", "1"])
def test_on_linux_there_is_the_first_device_and_none(linux: Libraries, device: str) -> None:
    message = rf"^device={device} is for Windows; elsewhere there is the first device, and none$"
    with pytest.raises(CannotLoad, match=message):
        load(Setup(LIBRARY, "other.so", device))
    assert linux.calls == []


@pytest.mark.parametrize("executes", [True, False])
def test_a_library_that_refuses_the_device_says_so(linux: Libraries, executes: bool) -> None:
    linux.takes = lambda _: False
    message = r"^DMLCreateDevice failed with 0x887A0002 \(DXGI_ERROR_NOT_FOUND\)$"
    with pytest.raises(CannotLoad, match=message):
        load(Setup(LIBRARY, "other.so" if executes else "", ""))


@pytest.mark.parametrize(
    ("function", "library"), [("DMLCreateDevice", "libdirectml.so"), ("D3D12CreateDevice", "other.so")]
)
def test_a_library_without_its_function_is_said_by_name(linux: Libraries, function: str, library: str) -> None:
    del linux.functions[function]
    with pytest.raises(CannotLoad, match=rf"^{library} has no function {function}$"):
        load(Setup(LIBRARY, "/folder/other.so", ""))


# ---- libraries that are files


def test_a_library_that_is_missing_or_none_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CannotLoad, match=r"^libnowhere\.so cannot be loaded: .*libnowhere\.so"):
        loading._library(str(tmp_path / "libnowhere.so"))
    text = tmp_path / "libtext.so"
    text.write_text("no library\n" * 100, encoding="ascii")
    with pytest.raises(CannotLoad, match=r"^libtext\.so cannot be loaded: .+") as error:
        loading._library(str(text))
    assert "\n" not in str(error.value)


def test_the_loader_looks_beside_the_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "IS_WINDOWS", False)
    monkeypatch.setattr(loading, "WSL", str(tmp_path))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    setup = Setup(os.path.join("a", "libdirectml.so"), os.path.join("b", "libd3d12.so"), "")
    monkeypatch.setattr(loading, "_SYSTEM", ())

    def folders(setup: Setup) -> list[str]:
        (value,) = environment_for(setup).values()
        return value.split(os.pathsep)

    assert folders(setup) == [str(tmp_path), "b", "a"]
    assert folders(setup._replace(d3d12="")) == [str(tmp_path), "a"]
    monkeypatch.setenv("LD_LIBRARY_PATH", "c")
    monkeypatch.setattr(loading, "WSL", str(tmp_path / "nowhere"))
    assert folders(setup) == ["b", "c", "a"]
    monkeypatch.setattr(loading, "_SYSTEM", (str(tmp_path), str(tmp_path / "other")))
    (tmp_path / "libd3d12.so").touch()
    assert folders(setup) == ["b", "c", str(tmp_path), "a"]
    assert list(environment_for(setup)) == ["LD_LIBRARY_PATH"]
    monkeypatch.setattr(loading, "IS_WINDOWS", True)
    assert environment_for(setup) == {}


DXCORE = """
int DXCoreCreateAdapterFactory(void *iid, void **out) { *out = 0; return 0x80004005; }
"""
D3D12 = "int D3D12CreateDevice(void *adapter, int level, void *iid, void **out) { *out = 0; return 0x80004005; }"
# Makes its device only with a factory of DXCore that has an adapter, and with a device of one node.
DIRECTML = """
typedef int (*method)();
typedef struct { method *table; } object;
int DXCoreCreateAdapterFactory(void *iid, void **out);
static int one() { return 1; }
static int levels(object *o, int feature, int size, void *query, int room, int *answer) { *answer = 0x5000; return 0; }
static method table[16] = {one, one, one, one, one, one, one, (method)levels};
static object directml = {table};
int DMLCreateDevice(object *device, int flags, void *iid, void **out) {
  object *factory, *list;
  if (DXCoreCreateAdapterFactory(iid, (void **)&factory)) return 0x887A0002;
  if (factory->table[3](factory, 1, 0, iid, &list) || list->table[4](list) != 1) return 0x887A0004;
  if (device->table[7](device) != 1) return 0x80070057;
  *out = &directml;
  return 0;
}
"""
ASKING = """
import sys
from dmlcheck.implementations.directml.loading import CannotLoad, Setup, load
try:
    loaded = load(Setup(*sys.argv[1:]))
    print(loaded.name, loaded.device, hex(loaded.directml.feature_level([0x1000, 0x5000])))
except CannotLoad as error:
    print("cannot:", error)
"""

on_linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or os.path.isdir(loading.WSL),
    reason="libraries for Linux on x86-64, which is not in WSL",
)
with_a_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler `cc`")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with libraries as in the wheel: DirectMLLibrary's is linked with the two others."""
    compiled(tmp_path, "libdxcore.so", DXCORE)
    compiled(tmp_path, "libd3d12.so", D3D12)
    compiled(tmp_path, "libdirectml.so", DIRECTML, "-L.", "-ldxcore")
    return tmp_path


def compiled(folder: Path, name: str, source: str, *words: str) -> None:
    (folder / "source.c").write_text(source, encoding="ascii")
    command = ["cc", "-shared", "-fPIC", "-w", "-std=gnu89", "-o", name, "source.c", *words]
    subprocess.run(command, cwd=folder, check=True)


def asked(folder: Path, *setup: str) -> str:
    """Return what a process says that loads the libraries of a folder."""
    place = Setup(*setup)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment_for(place)}
    command = [sys.executable, "-c", ASKING, *place]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


@pytest.mark.slow
@on_linux
@with_a_compiler
def test_a_library_is_led_to_a_dxcore_and_a_device_that_answer(folder: Path) -> None:
    assert asked(folder, str(folder / "libdirectml.so"), "", "") == "none None 0x5000"


@pytest.mark.slow
@on_linux
@with_a_compiler
def test_a_device_that_is_asked_for_and_cannot_be_had_is_said(folder: Path) -> None:
    said = "cannot: no device can be had: D3D12CreateDevice failed with 0x80004005 (E_FAIL)"
    assert asked(folder, str(folder / "libdirectml.so"), "", "0") == said
    assert asked(folder, str(folder / "libdirectml.so"), str(folder / "libd3d12.so"), "") == said


@pytest.mark.slow
@on_linux
@with_a_compiler
def test_a_library_without_what_it_is_linked_with_is_only_asked(folder: Path) -> None:
    (folder / "libdxcore.so").unlink()
    (folder / "libd3d12.so").unlink()
    for device in ("", "none"):
        assert asked(folder, str(folder / "libdirectml.so"), "", device) == "none None 0x5000"
    said = "cannot: libd3d12.so cannot be loaded: libd3d12.so: "
    assert asked(folder, str(folder / "libdirectml.so"), "", "0").startswith(said)


@pytest.mark.slow
@on_linux
@with_a_compiler
def test_a_library_that_is_broken_is_said(folder: Path) -> None:
    (folder / "libdxcore.so").write_bytes(b"none")
    said = "cannot: libdxcore.so cannot be loaded: "
    assert asked(folder, str(folder / "libdirectml.so"), "", "").startswith(said)


@pytest.mark.slow
@on_linux
@with_a_compiler
def test_libraries_that_are_others_are_said_by_the_function_that_they_have_not(folder: Path) -> None:
    dxcore, direct3d = str(folder / "libdxcore.so"), str(folder / "libd3d12.so")
    assert asked(folder, direct3d, "", "") == "cannot: libd3d12.so has no function DMLCreateDevice"
    directml = str(folder / "libdirectml.so")
    assert asked(folder, directml, dxcore, "") == "cannot: libdxcore.so has no function D3D12CreateDevice"
    compiled(folder, "libdxcore.so", "int other() { return 0; }")
    assert asked(folder, direct3d, "", "") == "cannot: libdxcore.so has no function DXCoreCreateAdapterFactory"


@on_linux
def test_code_that_may_not_be_changed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> int:
        ctypes.set_errno(13)
        return -1

    exported = SimpleNamespace(DXCoreCreateAdapterFactory=ctypes.CFUNCTYPE(ctypes.c_int32)(4096))
    monkeypatch.setattr(loading.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(mprotect=refused))
    with pytest.raises(CannotLoad, match=r"^libdxcore\.so cannot be changed in memory: Permission denied$"):
        loading._lead(exported, 0)


@pytest.mark.parametrize("device", ["", "0"])
def test_a_direct3d_that_succeeds_without_a_device_has_none(
    linux: Libraries, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    linux.takes = lambda device: device not in (0, linux.device.address)
    monkeypatch.setattr(d3d12.ID3D12Device, "made_by", classmethod(lambda cls, *_: cls(0)))
    if device:
        with pytest.raises(CannotLoad, match=r"^no device can be had: D3D12CreateDevice gives none$"):
            load(Setup(LIBRARY, "", device))
    else:
        assert load(Setup(LIBRARY, "", device)).name == "none"
