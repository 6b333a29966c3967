"""The interfaces of DirectML, as DirectML.h declares them."""

from __future__ import annotations

import ctypes
from typing import Any

from dmlcheck.implementations.directml.com import POINTER, UINT, UINT64, Interface, Method

ALLOW_HALF_PRECISION_COMPUTATION = 1  # DML_EXECUTION_FLAGS
DISABLE_META_COMMANDS = 2

BINDING_NONE, BINDING_BUFFER, BINDING_BUFFER_ARRAY = range(3)  # DML_BINDING_TYPE
_FEATURE_LEVELS = 1  # DML_FEATURE


class BindingProperties(ctypes.Structure):
    """DML_BINDING_PROPERTIES."""

    _fields_ = (("descriptors", UINT), ("temporary", UINT64), ("persistent", UINT64))


class BufferBinding(ctypes.Structure):
    """DML_BUFFER_BINDING."""

    _fields_ = (("buffer", POINTER), ("offset", UINT64), ("size", UINT64))


class BufferArrayBinding(ctypes.Structure):
    """DML_BUFFER_ARRAY_BINDING."""

    _fields_ = (("count", UINT), ("bindings", POINTER))


class BindingDesc(ctypes.Structure):
    """DML_BINDING_DESC."""

    _fields_ = (("type", UINT), ("desc", POINTER))


class BindingTableDesc(ctypes.Structure):
    """DML_BINDING_TABLE_DESC."""

    _fields_ = (("dispatchable", POINTER), ("cpu_handle", UINT64), ("gpu_handle", UINT64), ("size", UINT))


class IDMLOperator(Interface):
    """An operator that was created and not compiled."""

    IID = "26caae7a-3081-4633-9581-226fbe57695d"


class IDMLCompiledOperator(Interface):
    """An operator that can be dispatched."""

    IID = "6b15e56a-bf5c-4902-92d8-da3a650afea4"
    get_binding_properties = Method(8, returns=BindingProperties)


class IDMLOperatorInitializer(Interface):
    """The dispatchable that initialises compiled operators, dispatched before them."""

    IID = "427c1113-435c-469c-8676-4d5dd072f813"
    get_binding_properties = Method(8, returns=BindingProperties)
    reset = Method(9, UINT, POINTER)


class IDMLBindingTable(Interface):
    """The descriptors of what a dispatch reads and writes."""

    IID = "29c687dc-de74-4e3b-ab00-1168f2fc3cfc"
    bind_inputs = Method(8, UINT, POINTER, returns=None)
    bind_outputs = Method(9, UINT, POINTER, returns=None)
    bind_temporary_resource = Method(10, POINTER, returns=None)
    bind_persistent_resource = Method(11, POINTER, returns=None)


class IDMLCommandRecorder(Interface):
    """The recorder of dispatches into a command list."""

    IID = "e6857a76-2e3e-4fdd-bff4-5d2ba10fb453"
    record_dispatch = Method(8, POINTER, POINTER, POINTER, returns=None)


class _FeatureLevelsQuery(ctypes.Structure):
    """DML_FEATURE_QUERY_FEATURE_LEVELS."""

    _fields_ = (("count", UINT), ("levels", POINTER))


class IDMLDevice(Interface):
    """A device of DirectML."""

    IID = "6dbd6437-96fd-423f-a98c-ae5e7c2a573f"
    check_feature_support = Method(7, UINT, UINT, POINTER, UINT, POINTER)
    create_operator = Method(8, POINTER, POINTER, POINTER)
    compile_operator = Method(9, POINTER, UINT, POINTER, POINTER)
    create_operator_initializer = Method(10, UINT, POINTER, POINTER, POINTER)
    create_command_recorder = Method(11, POINTER, POINTER)
    create_binding_table = Method(12, POINTER, POINTER, POINTER)
    get_device_removed_reason = Method(15)

    def feature_level(self, known: list[int]) -> int:
        """Return the highest DML_FEATURE_LEVEL, of those that are known, that the library has."""
        levels = (UINT * len(known))(*known)
        query = _FeatureLevelsQuery(len(known), ctypes.addressof(levels))
        answer = UINT()
        at: Any = ctypes.byref
        size = ctypes.sizeof
        self.check_feature_support(_FEATURE_LEVELS, size(query), at(query), size(answer), at(answer))
        return answer.value
