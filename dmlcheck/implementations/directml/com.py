"""COM in ctypes: calls of the methods of objects, and objects whose methods are Python functions.

Windows and Linux pass arguments alike but for one thing: a method that returns a struct gets the address of the struct
after `this` on Windows, and returns it by value elsewhere, as the headers for Linux declare it.
"""

from __future__ import annotations

import ctypes
import sys
import uuid
from collections.abc import Callable, Mapping
from typing import Any

IS_WINDOWS = sys.platform == "win32"
POINTER = ctypes.c_void_p
UINT = ctypes.c_uint32
UINT64 = ctypes.c_uint64
SIZE_T = ctypes.c_size_t
HRESULT = ctypes.c_int32

S_OK = 0
E_NOTIMPL = 0x80004001
E_INVALIDARG = 0x80070057


class ComError(Exception):
    """A method that failed: its name and its HRESULT, as a number without a sign."""

    def __init__(self, method: str, hresult: int) -> None:
        super().__init__(f"{method} failed with {hresult_text(hresult)}")
        self.method = method
        self.hresult = hresult


_NAMES = {
    E_INVALIDARG: "E_INVALIDARG",
    E_NOTIMPL: "E_NOTIMPL",
    0x80004002: "E_NOINTERFACE",
    0x80004005: "E_FAIL",
    0x8000FFFF: "E_UNEXPECTED",
    0x8007000E: "E_OUTOFMEMORY",
    0x8007023E: "ERROR_UNHANDLED_EXCEPTION",
    0x887A0001: "DXGI_ERROR_INVALID_CALL",
    0x887A0002: "DXGI_ERROR_NOT_FOUND",
    0x887A0004: "DXGI_ERROR_UNSUPPORTED",
    0x887A0005: "DXGI_ERROR_DEVICE_REMOVED",
    0x887A0006: "DXGI_ERROR_DEVICE_HUNG",
    0x887A0007: "DXGI_ERROR_DEVICE_RESET",
    0x887A0020: "DXGI_ERROR_DRIVER_INTERNAL_ERROR",
}


def hresult_text(hresult: int) -> str:
    """Return an HRESULT as reports show it: `E_INVALIDARG`, or `0x8007023E (ERROR_UNHANDLED_EXCEPTION)`."""
    if hresult == E_INVALIDARG:
        return "E_INVALIDARG"
    name = _NAMES.get(hresult)
    return f"0x{hresult:08X}" + (f" ({name})" if name else "")


def guid(text: str) -> Any:
    """Return the 16 bytes of a GUID as C has them."""
    return (ctypes.c_char * 16).from_buffer_copy(uuid.UUID(text).bytes_le)


class Method:
    """A method of an interface: its place in the table of methods, and the types of its arguments and its result.

    One that returns HRESULT raises ComError for a failure.
    """

    def __init__(self, slot: int, *arguments: Any, returns: Any = HRESULT) -> None:
        self.slot = slot
        self.returns = returns
        self.is_struct = isinstance(returns, type) and issubclass(returns, ctypes.Structure)
        self.has_place = self.is_struct and IS_WINDOWS  # for its result, after `this`
        result = POINTER if self.has_place else returns
        place = (POINTER,) if self.has_place else ()
        self.prototype = ctypes.CFUNCTYPE(result, POINTER, *place, *arguments)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.full_name = f"{owner.__name__}::{''.join(map(str.capitalize, name.split('_')))}"

    def __get__(self, instance: Interface, _: type) -> Callable[..., Any]:
        call = instance.__dict__[self.name] = self._bound(instance.address)
        return call

    def _bound(self, address: int) -> Callable[..., Any]:
        table = _pointer_at(address)
        function = self.prototype(_pointer_at(table + 8 * self.slot))
        if self.has_place:
            return lambda *arguments: self._with_place(function, address, arguments)
        if self.returns is HRESULT:
            return lambda *arguments: self._checked(function(address, *arguments))
        return lambda *arguments: function(address, *arguments)

    def _with_place(self, function: Any, address: int, arguments: tuple[Any, ...]) -> Any:
        result = self.returns()
        function(address, ctypes.addressof(result), *arguments)
        return result

    def _checked(self, hresult: int) -> int:
        if hresult < 0:
            raise ComError(self.full_name, hresult & 0xFFFFFFFF)
        return hresult


def _pointer_at(address: int) -> int:
    return POINTER.from_address(address).value or 0


class Interface:
    """A COM object by its address; `release` gives up this reference."""

    IID = ""
    release = Method(2, returns=UINT)

    def __init__(self, address: int) -> None:
        self.address = address

    @classmethod
    def made_by(cls, method: Callable[..., Any], *arguments: Any) -> Any:
        """Return the object that a method makes, which is called with the arguments, the IID and a place for it."""
        place = POINTER()
        method(*arguments, guid(cls.IID), ctypes.byref(place))
        return cls(place.value or 0)


# ---- objects of our own

_FUNCTION = ctypes.CFUNCTYPE(UINT64, *[UINT64] * 7)


class PythonObject:
    """A COM object whose methods are Python functions of up to seven words, by their places in the table.

    It counts no references and is alive as long as this object. A method without a function returns E_NOTIMPL.
    """

    def __init__(self, methods: Mapping[int, Callable[..., int]], count: int) -> None:
        """Make the table with some number of methods; the first three are IUnknown's unless given."""
        functions: dict[int, Callable[..., int]] = {0: self._query, 1: _one, 2: _one, **methods}
        self._functions = [_FUNCTION(functions.get(slot, _not_implemented)) for slot in range(count)]
        addresses = [ctypes.cast(function, POINTER).value for function in self._functions]
        self._table = (POINTER * count)(*addresses)
        self._object = (POINTER * 1)(ctypes.addressof(self._table))

    @property
    def address(self) -> int:
        """Where the object is."""
        return ctypes.addressof(self._object)

    def _query(self, _this: int, _iid: int, out: int, *_: int) -> int:
        put(out, UINT64(self.address))
        return S_OK


def _one(*_: int) -> int:
    return 1


def _not_implemented(*_: int) -> int:
    return E_NOTIMPL


def function_of(body: Callable[..., int]) -> Any:
    """Return a C function of a Python function of up to seven words."""
    return _FUNCTION(body)


def put(address: int, value: Any) -> int:
    """Write a ctypes value to a place in memory, and return S_OK, as the methods that do so."""
    ctypes.memmove(address, ctypes.byref(value), ctypes.sizeof(value))
    return S_OK
