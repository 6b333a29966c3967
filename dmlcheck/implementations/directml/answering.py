"""A Direct3D 12 device that computes nothing: it answers what DirectML asks before it looks at a desc.

DirectML checks a desc without any work on the device, so the answer comes from the library and does not depend on the
device. DXCore, which describes the adapter of a device, is answered for too.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence

from dmlcheck.implementations.directml.com import E_INVALIDARG, S_OK, UINT, UINT64, PythonObject, put

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


def device() -> PythonObject:
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
