"""The device that computes nothing, asked through the methods of Direct3D 12 and DXCore as DirectML asks it."""

from __future__ import annotations

import ctypes
import gc
import struct

import pytest

from dmlcheck.implementations.directml import answering
from dmlcheck.implementations.directml.com import POINTER, SIZE_T, UINT, UINT64, ComError, Interface, Method, guid

BOOL = ctypes.c_uint8  # of DXCore
ANY = "00000000-0000-0000-c000-000000000046"


class Device(Interface):
    """The methods of ID3D12Device5 that are asked, by their places in d3d12.h."""

    query_interface = Method(0, POINTER, POINTER)
    get_node_count = Method(7, returns=UINT)
    check_feature_support = Method(13, UINT, POINTER, UINT)
    create_fence = Method(36, UINT64, UINT, POINTER, POINTER)
    get_device_removed_reason = Method(37)
    get_adapter_luid = Method(43, returns=UINT64)
    enumerate_meta_commands = Method(59, POINTER, POINTER)


class Factory(Interface):
    """IDXCoreAdapterFactory, by dxcore_interface.h."""

    create_adapter_list = Method(3, UINT, POINTER, POINTER, POINTER)
    get_adapter_by_luid = Method(4, POINTER, POINTER, POINTER)
    is_notification_type_supported = Method(5, UINT, returns=BOOL)
    register_event_notification = Method(6, POINTER, UINT, POINTER, POINTER, POINTER)


class Adapters(Interface):
    """IDXCoreAdapterList."""

    get_adapter = Method(3, UINT, POINTER, POINTER)
    get_adapter_count = Method(4, returns=UINT)
    is_stale = Method(5, returns=BOOL)
    sort = Method(7, UINT, POINTER)
    is_adapter_preference_supported = Method(8, UINT, returns=BOOL)


class Adapter(Interface):
    """IDXCoreAdapter."""

    is_valid = Method(3, returns=BOOL)
    is_attribute_supported = Method(4, POINTER, returns=BOOL)
    is_property_supported = Method(5, UINT, returns=BOOL)
    get_property = Method(6, UINT, SIZE_T, POINTER)
    get_property_size = Method(7, UINT, POINTER)
    is_query_state_supported = Method(8, UINT, returns=BOOL)
    query_state = Method(9, UINT, SIZE_T, POINTER, SIZE_T, POINTER)


@pytest.fixture(scope="module")
def made() -> answering.PythonObject:
    return answering.device()


@pytest.fixture
def device(made: answering.PythonObject) -> Device:
    return Device(made.address)


def feature(device: Device, number: int, asked: bytes) -> bytes:
    """Return the struct of a feature as the device fills it in; nothing behind it may change."""
    data = ctypes.create_string_buffer(asked + b"\xa5" * 64, len(asked) + 64)
    assert device.check_feature_support(number, data, len(asked)) == 0
    assert data.raw[len(asked) :] == b"\xa5" * 64
    return data.raw[: len(asked)]


# ---- Direct3D 12


@pytest.mark.parametrize(
    ("number", "asked", "answer"),
    [
        (0, bytes(28), struct.pack("<7I", 1, 1, 3, 3, 3, 1, 1)),  # OPTIONS
        (1, b"\1\0\0\0" + bytes(12), struct.pack("<4I", 1, 0, 1, 1)),  # ARCHITECTURE of node 1
        (2, b"\4" + bytes(7) + b"\7" * 8 + bytes(4), b"\4" + bytes(7) + b"\7" * 8 + struct.pack("<I", 0xC100)),
        (7, b"\x60\0\0\0", b"\x60\0\0\0"),  # SHADER_MODEL: one that it knows
        (7, b"\x69\0\0\0", b"\x66\0\0\0"),  # one above
        (8, bytes(24), struct.pack("<6I", 1, 32, 32, 4096, 1, 1)),  # OPTIONS1
        (12, b"\2\0\0\0", b"\2\0\0\0"),  # ROOT_SIGNATURE
        (23, bytes(12), struct.pack("<3I", 0, 2, 1)),  # OPTIONS4
    ],
)
def test_features_are_answered_within_their_structs(device: Device, number: int, asked: bytes, answer: bytes) -> None:
    assert feature(device, number, asked) == answer


@pytest.mark.parametrize("number", [3, 41, 2**31])
def test_a_feature_that_is_not_known_is_refused(device: Device, number: int) -> None:
    with pytest.raises(ComError, match=r"^Device::CheckFeatureSupport failed with E_INVALIDARG$"):
        feature(device, number, bytes(8))


def test_a_device_has_one_node_is_not_removed_and_knows_no_metacommands(device: Device) -> None:
    count = UINT(9)
    assert device.enumerate_meta_commands(ctypes.byref(count), None) == 0
    assert (device.get_node_count(), device.get_device_removed_reason(), count.value) == (1, 0, 0)


def test_a_device_is_every_version_of_itself(device: Device) -> None:
    place = POINTER()
    assert device.query_interface(guid(ANY), ctypes.byref(place)) == 0
    assert place.value == device.address


def test_whatever_works_on_a_device_is_not_implemented(device: Device) -> None:
    with pytest.raises(ComError, match=r"^Device::CreateFence failed with 0x80004001 \(E_NOTIMPL\)$"):
        device.create_fence(0, 0, guid(ANY), None)


# ---- DXCore


@pytest.fixture(scope="module")
def made_factory() -> answering.PythonObject:
    made = answering.adapter_factory()
    gc.collect()  # the factory keeps what it gives
    return made


@pytest.fixture
def factory(made_factory: answering.PythonObject) -> Factory:
    return Factory(made_factory.address)


@pytest.fixture
def adapter(factory: Factory) -> Adapter:
    place = POINTER()
    assert factory.get_adapter_by_luid(ctypes.byref(UINT64(1)), guid(ANY), ctypes.byref(place)) == 0
    return Adapter(place.value or 0)


@pytest.mark.slow
def test_there_is_one_adapter_and_it_has_every_attribute(factory: Factory, adapter: Adapter) -> None:
    place = POINTER()
    assert factory.create_adapter_list(1, guid(ANY), guid(ANY), ctypes.byref(place)) == 0
    adapters = Adapters(place.value or 0)
    assert adapters.get_adapter(0, guid(ANY), ctypes.byref(place)) == 0
    assert (place.value, adapters.get_adapter_count(), adapters.is_stale()) == (adapter.address, 1, 0)
    assert adapters.is_adapter_preference_supported(2) == 1
    assert adapter.is_valid() == adapter.is_attribute_supported(guid(ANY)) == 1
    assert adapter.is_property_supported(11) == adapter.is_query_state_supported(0) == 1
    assert factory.is_notification_type_supported(0) == 1


@pytest.mark.slow
def test_what_nobody_asks_of_dxcore_is_not_implemented(factory: Factory, adapter: Adapter) -> None:
    with pytest.raises(ComError, match="E_NOTIMPL"):
        adapter.query_state(0, 0, None, 0, None)
    with pytest.raises(ComError, match="E_NOTIMPL"):
        factory.register_event_notification(None, 0, None, None, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "value"),
    [
        (0, struct.pack("<Q", 0x1234)),  # InstanceLuid
        (1, struct.pack("<Q", 10 << 48 | 1)),  # DriverVersion
        (2, b"none\0"),  # DriverDescription
        (3, struct.pack("<4I", 0x1414, 0x8C, 0, 0)),  # HardwareID
        (7, bytes(8)),  # DedicatedAdapterMemory
        (10, b"\1"),  # AcgCompatible
        (11, b"\1"),  # IsHardware
        (14, struct.pack("<5I", 0x1414, 0x8C, 0, 0, 0)),  # HardwareIDParts
    ],
)
def test_a_property_has_its_size_and_fills_what_it_is_given(adapter: Adapter, number: int, value: bytes) -> None:
    size = SIZE_T()
    assert adapter.get_property_size(number, ctypes.byref(size)) == 0
    assert size.value == len(value)
    for room in (len(value), len(value) + 4, 1):
        data = ctypes.create_string_buffer(b"\xa5" * 64, 64)
        assert adapter.get_property(number, room, data) == 0
        assert data.raw == value[:room].ljust(room, b"\0") + b"\xa5" * (64 - room)


def test_the_adapter_of_the_device_is_that_of_dxcore(device: Device, adapter: Adapter) -> None:
    luid = UINT64()
    assert adapter.get_property(0, 8, ctypes.byref(luid)) == 0
    assert luid.value == device.get_adapter_luid()
