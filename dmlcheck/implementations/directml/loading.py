"""Loads DirectML's library into this process, and makes a device of it.

On Linux the library is linked with Direct3D 12 and DXCore. Where there is no GPU for them, as anywhere but in WSL, the
wheel's own stand for both, ours where it has none, and DXCore's one function is led to an object of ours.
"""

from __future__ import annotations

import ctypes
import os
import struct
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcheck.implementations.directml import answering, d3d12, dml
from dmlcheck.implementations.directml.answering import refusing
from dmlcheck.implementations.directml.com import (
    IS_WINDOWS,
    POINTER,
    UINT,
    UINT64,
    ComError,
    Interface,
    Method,
    function_of,
    put,
)

WSL = "/usr/lib/wsl/lib"
NONE, WARP = "none", "warp"
_FEATURE_LEVEL_11_0 = 0xB000
_DIRECT3D, _DXCORE = "libd3d12.so", "libdxcore.so"
_OF_DIRECT3D = ("D3D12CreateDevice", "D3D12SerializeVersionedRootSignature")
_OF_DXCORE = ("DXCoreCreateAdapterFactory",)


class CannotLoad(Exception):
    """A library or a device that cannot be had; the message says why."""


class Setup(NamedTuple):
    """DirectML's library, the Direct3D 12 library ("" for the loader's), and the device to execute on."""

    library: str
    d3d12: str
    device: str


class LoadedLibrary(NamedTuple):
    """DirectML's device; the Direct3D 12 device, None if nothing can be executed, and its name. `alive` must stay."""

    directml: dml.IDMLDevice
    device: d3d12.ID3D12Device | None
    name: str
    alive: Any


def load(setup: Setup) -> LoadedLibrary:
    """Load the library, and make its device on the one that executes; without one, on one that answers.

    CannotLoad if a library cannot be loaded, or a device that was asked for by name cannot be had.
    """
    return _windows(setup) if IS_WINDOWS else _linux(setup)


# ---- Windows


def _windows(setup: Setup) -> LoadedLibrary:
    os.add_dll_directory(os.path.dirname(setup.library))  # type: ignore[attr-defined]
    library = _library(setup.library)
    device, name = _windows_device(setup)
    directml = _directml(library, device.address)
    executes = setup.device != NONE
    return LoadedLibrary(directml, device if executes else None, name if executes else NONE, library)


class IDXGIAdapter(Interface):
    """An adapter of DXGI."""

    IID = "29038f61-3839-4626-91fd-086879011a05"
    get_desc = Method(10, POINTER)


class IDXGIFactory(Interface):
    """The factory of DXGI, from its version 1.4 on."""

    IID = "1bc6ea02-ef36-464f-bf0c-21ca39e5168a"
    enum_adapters = Method(12, UINT, POINTER)
    enum_warp_adapter = Method(27, POINTER, POINTER)

    def adapter(self, number: int) -> IDXGIAdapter:
        """Return an adapter by its number; ComError if there is none."""
        place = POINTER()
        self.enum_adapters(number, ctypes.byref(place))
        return IDXGIAdapter(place.value or 0)

    def warp(self) -> IDXGIAdapter:
        """Return the software adapter."""
        made: IDXGIAdapter = IDXGIAdapter.made_by(self.enum_warp_adapter)
        return made


def _windows_device(setup: Setup) -> tuple[d3d12.ID3D12Device, str]:
    """Return the device that was asked for, and its name: without a request the first adapter's, or WARP's."""
    create = _function(_library(setup.d3d12 or "d3d12.dll"), "D3D12CreateDevice")
    factory = IDXGIFactory.made_by(_function(_library("dxgi.dll"), "CreateDXGIFactory1"))
    if setup.device in (NONE, WARP):
        return _device(create, factory.warp())
    if setup.device:
        try:
            return _device(create, factory.adapter(int(setup.device)))
        except ComError as error:
            raise CannotLoad(f"there is no device {setup.device}: {error}") from None
    try:
        return _device(create, factory.adapter(0))
    except ComError:
        return _device(create, factory.warp())


def _device(create: Any, adapter: IDXGIAdapter) -> tuple[d3d12.ID3D12Device, str]:
    desc = ctypes.create_string_buffer(512)
    adapter.get_desc(desc)
    name = desc.raw[:256].decode("utf-16-le", "replace").partition("\0")[0]
    made = d3d12.ID3D12Device.made_by(create, adapter.address, _FEATURE_LEVEL_11_0)
    return made, name.strip() or "an adapter without a name"


# ---- Linux


def _linux(setup: Setup) -> LoadedLibrary:
    must_execute = setup.d3d12 or setup.device not in ("", NONE)
    direct3d = _library(setup.d3d12 or _DIRECT3D) if must_execute else _linked(_DIRECT3D, _OF_DIRECT3D)
    dxcore = _linked(_DXCORE, _OF_DXCORE)
    device = None if setup.device == NONE else _linux_device(direct3d, setup)
    alive: list[Any] = [direct3d]
    if device is None or not os.path.isdir(WSL):
        factory = answering.adapter_factory()
        alive += [factory, _lead(dxcore, factory.address)]
    library = _library(setup.library)
    if device is not None:
        return LoadedLibrary(_directml(library, device.address), device, _linux_name(setup), (library, alive))
    answers = answering.device()
    return LoadedLibrary(_directml(library, answers.address), None, NONE, (library, alive, answers))


def _linked(name: str, functions: Sequence[str]) -> Any:
    """Load a library that DirectML's is linked with, or where there is none, one whose functions refuse."""
    try:
        return _library(name)
    except CannotLoad as error:
        if f"{name}: cannot open" not in str(error):
            raise
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(refusing(name, functions))
        return _library(path)


def environment_for(setup: Setup) -> dict[str, str]:
    """Return the variables for the process that loads the library.

    On Linux, the loader searches the library's own folder last.
    """
    if IS_WINDOWS:
        return {}
    folders = [WSL] if os.path.isdir(WSL) else []
    folders += [os.path.dirname(setup.d3d12)] if setup.d3d12 else []
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    folders += [folder for folder in _SYSTEM if os.path.isfile(os.path.join(folder, "libd3d12.so"))]
    return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, [*folders, os.path.dirname(setup.library)]))}


_SYSTEM = ("/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")


def _linux_device(library: Any, setup: Setup) -> d3d12.ID3D12Device | None:
    """Return the first device, or None where there is none and nobody asked for it."""
    if setup.device and setup.device != "0":
        raise CannotLoad(f"device={setup.device} is for Windows; elsewhere there is the first device, and none")
    try:
        create = _function(library, "D3D12CreateDevice")
        made: d3d12.ID3D12Device = d3d12.ID3D12Device.made_by(create, None, _FEATURE_LEVEL_11_0)
        problem = "" if made.address else "no device can be had: D3D12CreateDevice gives none"  # as a wheel's stub
    except (CannotLoad, ComError) as error:
        problem = f"no device can be had: {error}" if isinstance(error, ComError) else str(error)
    if problem and (setup.d3d12 or setup.device):
        raise CannotLoad(problem)
    return None if problem else made


def _linux_name(setup: Setup) -> str:
    return f"the first device of {os.path.basename(setup.d3d12 or 'libd3d12.so')}"


def _lead(library: Any, factory: int) -> Any:
    """Let DXCoreCreateAdapterFactory of a library return a factory of ours: its code becomes a jump (x86-64)."""
    callback = function_of(lambda _iid, out, *_: put(out, UINT64(factory)))
    address = ctypes.cast(_exported(library, "DXCoreCreateAdapterFactory"), POINTER).value or 0
    target = ctypes.cast(callback, POINTER).value or 0
    jump = b"\x48\xb8" + struct.pack("<Q", target) + b"\xff\xe0"  # mov rax, target; jmp rax
    page = os.sysconf("SC_PAGE_SIZE")
    start = address // page * page
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (POINTER, ctypes.c_size_t, ctypes.c_int)
    if protect(start, address + len(jump) - start, 7):  # read, write, execute
        raise CannotLoad(f"libdxcore.so cannot be changed in memory: {os.strerror(ctypes.get_errno())}")
    ctypes.memmove(address, jump, len(jump))
    return callback


# ---- both


def _library(path: str) -> Any:
    try:
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise CannotLoad(f"{os.path.basename(path)} cannot be loaded: {' '.join(str(error).split())}") from None


def _exported(library: Any, name: str) -> Any:
    try:
        return getattr(library, name)
    except AttributeError:
        raise CannotLoad(f"{os.path.basename(library._name)} has no function {name}") from None  # noqa: SLF001


def _function(library: Any, name: str) -> Any:
    """Return a function of a library that takes words and returns an HRESULT; it raises ComError for a failure."""
    function = _exported(library, name)
    function.restype = ctypes.c_int32

    def call(*arguments: Any) -> int:
        words = [ctypes.c_void_p(each) if isinstance(each, int) else each for each in arguments]
        result: int = function(*words)
        if result < 0:
            raise ComError(name, result & 0xFFFFFFFF)
        return result

    return call


def _directml(library: Any, device: int) -> dml.IDMLDevice:
    """Return DirectML's device on a Direct3D 12 device."""
    create = _function(library, "DMLCreateDevice")
    try:
        made: dml.IDMLDevice = dml.IDMLDevice.made_by(create, device, 0)
    except ComError as error:
        raise CannotLoad(str(error)) from None
    return made
