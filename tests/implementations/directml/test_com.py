"""Calls of methods by their places in a table, of objects whose methods are Python functions."""

from __future__ import annotations

import ctypes
import gc
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from dmlcheck.implementations.directml import com
from dmlcheck.implementations.directml.com import (
    E_INVALIDARG,
    E_NOTIMPL,
    POINTER,
    S_OK,
    UINT,
    UINT64,
    ComError,
    Interface,
    Method,
    PythonObject,
    function_of,
    guid,
    hresult_text,
    put,
)

E_NOINTERFACE = 0x80004002


class Pair(ctypes.Structure):
    """A struct that is returned in a register."""

    _fields_ = (("low", UINT), ("high", UINT))


class Wide(ctypes.Structure):
    """A struct that is returned in memory."""

    _fields_ = (("first", UINT64), ("second", UINT64), ("third", UINT))


class IThing(Interface):
    """What the objects of these tests are."""

    IID = "26caae7a-3081-4633-9581-226fbe57695d"
    query_interface = Method(0, POINTER, POINTER)
    make_other = Method(3, UINT, POINTER, POINTER)
    get_count = Method(4, returns=UINT64)
    add_all = Method(5, UINT, UINT, UINT, UINT64, UINT64, UINT64, returns=UINT64)
    do_nothing = Method(6, POINTER, returns=None)


def thing(**functions: Callable[..., int]) -> tuple[IThing, PythonObject]:
    """Return an object with some methods by their names; the second is to be kept."""
    slots = {name: method.slot for name, method in vars(IThing).items() if isinstance(method, Method)}
    slots["release"] = 2
    made = PythonObject({slots[name]: function for name, function in functions.items()}, 7)
    return IThing(made.address), made


# ---- calls


def test_a_method_gets_this_and_its_arguments() -> None:
    seen: list[tuple[int, ...]] = []

    def add_all(*words: int) -> int:
        seen.append(words)
        return sum(words[1:])

    found, made = thing(add_all=add_all)
    assert found.add_all(1, 2, 3, 2**40, 5, 6) == 2**40 + 17
    assert seen[0][0] == made.address
    assert found.address == made.address


def test_a_method_is_called_as_often_as_it_is_used() -> None:
    calls: list[int] = []
    found, _made = thing(get_count=lambda this, *_: len(calls.append(this) or calls))
    assert [found.get_count(), found.get_count(), found.get_count()] == [1, 2, 3]
    assert found.get_count is found.get_count  # it is looked up once
    other, _other = thing(get_count=lambda *_: 7)
    assert (other.get_count(), found.get_count()) == (7, 4)


def test_a_failure_is_an_error_with_the_methods_name_and_other_results_are_returned() -> None:
    results = iter([S_OK, 1, E_INVALIDARG, 0x887A0005])
    found, _made = thing(make_other=lambda *_: next(results))
    assert [found.make_other(0, None, None) for _ in range(2)] == [0, 1]
    for code, text in ((E_INVALIDARG, "E_INVALIDARG"), (0x887A0005, "0x887A0005 (DXGI_ERROR_DEVICE_REMOVED)")):
        with pytest.raises(ComError) as raised:
            found.make_other(0, None, None)
        assert (raised.value.method, raised.value.hresult) == ("IThing::MakeOther", code)
        assert str(raised.value) == f"IThing::MakeOther failed with {text}"


def test_what_returns_no_hresult_does_not_fail() -> None:
    found, _made = thing(get_count=lambda *_: 2**64 - 1, do_nothing=lambda *_: E_INVALIDARG)
    assert found.get_count() == 2**64 - 1
    assert found.do_nothing(None) is None


def test_a_made_object_is_asked_for_by_its_iid() -> None:
    target, _target = thing(get_count=lambda *_: 5)
    seen: list[Any] = []

    def make_other(_this: int, number: int, iid: int, place: int, *_: int) -> int:
        seen.append((number & 0xFFFFFFFF, uuid.UUID(bytes_le=ctypes.string_at(iid, 16))))
        return put(place, UINT64(target.address))

    found, _made = thing(make_other=make_other)
    other = IThing.made_by(found.make_other, 17)
    assert isinstance(other, IThing)
    assert (other.address, other.get_count(), seen) == (target.address, 5, [(17, uuid.UUID(IThing.IID))])


def test_releasing_gives_up_a_reference() -> None:
    released: list[int] = []
    found, _made = thing(release=lambda this, *_: len(released.append(this) or []))
    assert found.release() == 0
    assert released == [found.address]


# ---- structs


def test_a_struct_comes_back_by_value_where_the_system_returns_it_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(com, "IS_WINDOWS", False)

    class IOfValues(Interface):
        get_pair = Method(3, returns=Pair)
        get_wide = Method(4, UINT, returns=Wide)

    def get_wide(place: int, this: int, number: int, *_: int) -> int:  # the caller gives the place of its result first
        put(place, Wide(this, 2**63, number & 0xFFFFFFFF))
        return place

    made = PythonObject({3: lambda *_: 7 << 32 | 5, 4: get_wide}, 5)
    found = IOfValues(made.address)
    pair, wide = found.get_pair(), found.get_wide(9)
    assert (pair.low, pair.high) == (5, 7)
    assert (wide.first, wide.second, wide.third) == (made.address, 2**63, 9)


def test_on_windows_a_method_gets_the_place_of_its_struct_after_this(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(com, "IS_WINDOWS", True)

    class IOfPlaces(Interface):
        get_pair = Method(3, returns=Pair)
        get_wide = Method(4, UINT, returns=Wide)
        get_number = Method(5, UINT, returns=UINT)

    def get_pair(_this: int, place: int, *_: int) -> int:
        put(place, Pair(5, 7))
        return place

    def get_wide(this: int, place: int, number: int, *_: int) -> int:
        put(place, Wide(this, 2**63, number & 0xFFFFFFFF))
        return place

    made = PythonObject({3: get_pair, 4: get_wide, 5: lambda _this, number, *_: number + 1}, 6)
    found = IOfPlaces(made.address)
    pair, wide = found.get_pair(), found.get_wide(9)
    assert (pair.low, pair.high, found.get_number(1)) == (5, 7, 2)
    assert (wide.first, wide.second, wide.third) == (made.address, 2**63, 9)


# ---- objects of our own


def test_an_object_says_that_it_is_whatever_it_is_asked_for() -> None:
    found, made = thing()
    place = POINTER()
    assert found.query_interface(guid(IThing.IID), ctypes.byref(place)) == S_OK
    assert place.value == made.address
    assert found.release() == 1  # nothing counts


def test_a_method_without_a_function_is_not_implemented() -> None:
    found, _made = thing()
    with pytest.raises(ComError, match=r"^IThing::MakeOther failed with 0x80004001 \(E_NOTIMPL\)$") as raised:
        found.make_other(0, None, None)
    assert raised.value.hresult == E_NOTIMPL


def test_a_given_function_is_called_in_place_of_that_of_iunknown() -> None:
    found, _made = thing(query_interface=lambda *_: E_NOINTERFACE)
    with pytest.raises(ComError, match=r"^IThing::QueryInterface failed with 0x80004002 \(E_NOINTERFACE\)$"):
        found.query_interface(guid(IThing.IID), None)


@pytest.mark.slow
def test_an_object_keeps_its_functions() -> None:
    found, made = thing(get_count=lambda *_: 3)
    gc.collect()
    assert found.get_count() == 3
    assert made.address == found.address


def test_a_function_for_c_takes_and_returns_words() -> None:
    function = function_of(lambda first, second, *_: first - second)
    assert function(2**63 + 2, 2**63, 0, 0, 0, 0, 0) == 2


# ---- values


def test_a_guid_has_the_bytes_that_windows_gives_it() -> None:
    assert guid("00112233-4455-6677-8899-aabbccddeeff").raw == bytes.fromhex("33221100554477668899aabbccddeeff")


def test_a_value_is_put_in_its_place_and_nowhere_else() -> None:
    memory = (ctypes.c_uint8 * 8)(*[0xAA] * 8)
    assert put(ctypes.addressof(memory) + 2, UINT(0x04030201)) == S_OK
    assert bytes(memory) == b"\xaa\xaa\x01\x02\x03\x04\xaa\xaa"


@pytest.mark.parametrize(
    ("hresult", "text"),
    [
        (0x80070057, "E_INVALIDARG"),
        (0x8007023E, "0x8007023E (ERROR_UNHANDLED_EXCEPTION)"),
        (0x887A0020, "0x887A0020 (DXGI_ERROR_DRIVER_INTERNAL_ERROR)"),
        (0x80004005, "0x80004005 (E_FAIL)"),
        (0x80000001, "0x80000001"),
        (1, "0x00000001"),
    ],
)
def test_an_hresult_is_told_by_its_number_and_its_name(hresult: int, text: str) -> None:
    assert hresult_text(hresult) == text
