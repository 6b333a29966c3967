"""Libraries for Linux on x86-64 with functions that only refuse, made without a compiler.

DirectML's library is linked with Direct3D 12 and DXCore. The wheel of torch-directml has stand-ins for them, other
wheels have not. Where there is neither, these satisfy the loader.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

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
    return struct.pack("<HHHHIIIII", 1, flags, number, 1, _hashed(text), 20, following, places[text], 0)


def _hashed(text: str) -> int:
    """Return the hash of a name that ELF defines."""
    value = 0
    for byte in text.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value


def _dynamic(offsets: Mapping[str, int], name: int, size: int) -> bytes:
    """Return the entries for the loader: numbers with their values."""
    entries = [
        (14, name), (4, offsets["hashes"]), (5, offsets["names"]), (6, offsets["symbols"]), (10, size), (11, 24),
        (0x6FFFFFF0, offsets["version"]), (0x6FFFFFFC, offsets["versions"]), (0x6FFFFFFD, 2), (0, 0),
    ]  # fmt: skip
    return b"".join(struct.pack("<QQ", *entry) for entry in entries)
