"""Loads DirectML's library into this process, and makes a device of it.

On Linux the library is linked with Direct3D 12 and DXCore. Where there is no GPU for them, as anywhere but in WSL, the
wheel's own stand for both, ours where it has none, and DXCore's one function is led to an object of ours.
"""

from __future__ import annotations

import ctypes
import os
import struct
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck.implementations.directml import d3d12, dml
from dmlcheck.implementations.directml.com import (
    E_INVALIDARG,
    IS_WINDOWS,
    POINTER,
    S_OK,
    UINT,
    UINT64,
    ComError,
    Interface,
    Method,
    PythonObject,
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
        factory = adapter_factory()
        alive += [factory, _lead(dxcore, factory.address)]
    library = _library(setup.library)
    if device is not None:
        return LoadedLibrary(_directml(library, device.address), device, _linux_name(setup), (library, alive))
    answers = answering_device()
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


# ---- a device that computes nothing: it answers what DirectML asks before it looks at a desc
#
# DirectML checks a desc without any work on the device, so the answer comes from the library and does not depend on the
# device. DXCore, which describes the adapter of a device, is answered for too.

_LUID = 0x1234
_FEATURE_LEVEL_12_1 = 0xC100
_SHADER_MODEL_6_6 = 0x66

# D3D12_FEATURE by number: where its struct begins to be filled in, and with what.
_FEATURES = {
    0: (0, struct.pack("<7I", 1, 1, 3, 3, 3, 1, 1)),  # OPTIONS: doubles, and tiers that any recent GPU has
    1: (4, struct.pack("<3I", 0, 1, 1)),  # ARCHITECTURE: no tiles; one memory, coherent
    2: (16, struct.pack("<I", _FEATURE_LEVEL_12_1)),  # FEATURE_LEVELS
    8: (0, struct.pack("<6I", 1, 32, 32, 4096, 1, 1)),  # OPTIONS1: waves of 32 lanes, 64-bit integers
    12: (0, b""),  # ROOT_SIGNATURE: the version that is asked for
    23: (0, struct.pack("<3I", 0, 2, 1)),  # OPTIONS4: 16-bit operations
}
_SHADER_MODEL = 7


def _check_feature_support(_this: int, feature: int, data: int, *_: int) -> int:
    feature &= 0xFFFFFFFF
    if feature == _SHADER_MODEL:
        return put(data, UINT(min(_SHADER_MODEL_6_6, UINT.from_address(data).value)))
    if feature not in _FEATURES:
        return E_INVALIDARG
    offset, answer = _FEATURES[feature]
    ctypes.memmove(data + offset, answer, len(answer))
    return S_OK


def _adapter_luid(*_: int) -> int:
    return _LUID


def _no_metacommands(_this: int, count: int, *_: int) -> int:
    return put(count, UINT(0))


def answering_device() -> PythonObject:
    """Return an ID3D12Device that answers; the LUID comes back by value, as it does outside of Windows."""
    methods: dict[int, Callable[..., int]] = {
        7: _one,  # GetNodeCount
        13: _check_feature_support,
        37: _zero,  # GetDeviceRemovedReason
        43: _adapter_luid,
        59: _no_metacommands,  # EnumerateMetaCommands of ID3D12Device5
    }
    return PythonObject(methods, 80)


def _one(*_: int) -> int:
    return 1


def _zero(*_: int) -> int:
    return 0


# DXCoreAdapterProperty by number; those from 10 on are booleans that are true, the others are 0.
_NAME = b"none\0"
_PROPERTIES = {
    0: struct.pack("<Q", _LUID),
    1: struct.pack("<Q", 0x000A000000000001),  # the driver's version
    2: _NAME,
    3: struct.pack("<4I", 0x1414, 0x8C, 0, 0),  # the vendor and device of Microsoft's software adapter
    14: struct.pack("<5I", 0x1414, 0x8C, 0, 0, 0),
}
_FIRST_BOOLEAN = 10


def _property(number: int) -> bytes:
    number &= 0xFFFFFFFF
    return _PROPERTIES.get(number, b"\1" if number >= _FIRST_BOOLEAN else bytes(8))


def adapter_factory() -> PythonObject:
    """Return an IDXCoreAdapterFactory with one adapter, which has every attribute and property."""
    adapter = PythonObject(_ADAPTER, 13)
    adapters = PythonObject(
        {
            3: lambda _this, _index, _iid, place, *_: _give(adapter, place),
            4: _one,  # GetAdapterCount
            5: _zero,  # IsStale
            8: _one,  # IsAdapterPreferenceSupported
        },
        9,
    )
    return PythonObject(
        {
            3: lambda _this, _count, _attributes, _iid, place, *_: _give(adapters, place),
            4: lambda _this, _luid, _iid, place, *_: _give(adapter, place),
            5: _one,  # IsNotificationTypeSupported
        },
        8,
    )


def _give(made: PythonObject, place: int) -> int:
    return put(place, UINT64(made.address))


def _get_property(_this: int, number: int, size: int, place: int, *_: int) -> int:
    ctypes.memset(place, 0, size)
    value = _property(number)[:size]
    ctypes.memmove(place, value, len(value))
    return S_OK


def _get_property_size(_this: int, number: int, place: int, *_: int) -> int:
    return put(place, UINT64(len(_property(number))))


_ADAPTER: dict[int, Callable[..., int]] = {
    3: _one,  # IsValid
    4: _one,  # IsAttributeSupported
    5: _one,  # IsPropertySupported
    6: _get_property,
    7: _get_property_size,
    8: _one,  # IsQueryStateSupported
}


# ---- libraries for Linux on x86-64 with functions that only refuse, made without a compiler

# DirectML's library is linked with Direct3D 12 and DXCore. The wheel of torch-directml has stand-ins for them, other
# wheels have not. Where there is neither, these satisfy the loader.


_VERSION = "VER_1"  # of the functions, as DirectML's library asks for it
_REFUSES = b"\xb8\x01\x40\x00\x80\xc3".ljust(16, b"\xcc")  # mov eax, E_NOTIMPL; ret; with room for a jump
_PAGE = 0x1000
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551  # kinds of segments
_READ, _WRITE, _RUN = 4, 2, 1
_GLOBAL_FUNCTION = 0x12


def refusing(name: str, functions: Sequence[str]) -> bytes:
    """Return the file of a shared library with a name and functions: each returns E_NOTIMPL."""
    texts = (name, _VERSION, *functions)
    names = b"\0" + b"".join(text.encode() + b"\0" for text in texts)
    places = {text: names.index(b"\0" + text.encode() + b"\0") + 1 for text in texts}
    count = len(functions) + 1
    parts = {
        "code": _REFUSES * len(functions),
        "hashes": struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0),  # one bucket, a chain of all
        "versions": _definition(1, 1, name, places, 28) + _definition(0, 2, _VERSION, places, 0),
        "version": struct.pack(f"<{count}H", 0, *[2] * len(functions)),
        "names": names,
        "symbols": bytes(24 * count),
    }
    offsets, end = {}, 64 + 4 * 56
    for part, content in parts.items():
        offsets[part] = -(-end // 16) * 16
        end = offsets[part] + len(content)
    parts["symbols"] = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", places[text], _GLOBAL_FUNCTION, 0, 1, offsets["code"] + 16 * number, 16)
        for number, text in enumerate(functions)
    )
    return _image(end, parts, offsets, _dynamic(offsets, places[name], len(names)))


def _image(end: int, parts: Mapping[str, bytes], offsets: Mapping[str, int], dynamic: bytes) -> bytes:
    """Return a file of the header, parts up to `end`, and entries for the loader on a page that can be written."""
    start = -(-end // _PAGE) * _PAGE
    segments = [
        _segment(_LOAD, _READ | _RUN, 0, end),
        _segment(_LOAD, _READ | _WRITE, start, len(dynamic)),
        _segment(_DYNAMIC, _READ | _WRITE, start, len(dynamic)),
        _segment(_STACK, _READ | _WRITE, 0, 0),
    ]
    image = bytearray(b"".join([_header(), *segments]).ljust(start, b"\0") + dynamic)
    for part, content in parts.items():
        image[offsets[part] : offsets[part] + len(content)] = content
    return bytes(image)


def _header() -> bytes:
    """Return the header of a shared library for x86-64 with four segments and no sections."""
    start = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    return start + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 4, 64, 0, 0)


def _segment(kind: int, rights: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQQQ", kind, rights, offset, offset, offset, size, size, _PAGE)


def _definition(flags: int, number: int, text: str, places: Mapping[str, int], following: int) -> bytes:
    """Return the definition of a version, or with flag 1 that of the file's name; the next is `following` bytes on."""
    # The hash of a name that ELF defines.
    value = 0
    for byte in text.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return struct.pack("<HHHHIIIII", 1, flags, number, 1, value, 20, following, places[text], 0)


def _dynamic(offsets: Mapping[str, int], name: int, size: int) -> bytes:
    """Return the entries for the loader: numbers with their values."""
    entries = [
        (14, name), (4, offsets["hashes"]), (5, offsets["names"]), (6, offsets["symbols"]), (10, size), (11, 24),
        (0x6FFFFFF0, offsets["version"]), (0x6FFFFFFC, offsets["versions"]), (0x6FFFFFFD, 2), (0, 0),
    ]  # fmt: skip
    return b"".join(struct.pack("<QQ", *entry) for entry in entries)
