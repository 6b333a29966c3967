"""The interfaces of Direct3D 12 that executing takes, as d3d12.h declares them."""

from __future__ import annotations

import ctypes

from dmlcheck.implementations.directml.com import POINTER, UINT, UINT64, Interface, Method

COMPUTE_QUEUE = 2  # D3D12_COMMAND_LIST_TYPE
DEFAULT_HEAP, UPLOAD_HEAP, READBACK_HEAP = 1, 2, 3  # D3D12_HEAP_TYPE
VIEW_DESCRIPTORS = 0  # D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
SHADER_VISIBLE = 1  # D3D12_DESCRIPTOR_HEAP_FLAGS
COMMON, UNORDERED_ACCESS, COPY_DEST, COPY_SOURCE, GENERIC_READ = 0, 0x8, 0x400, 0x800, 0xAC3  # D3D12_RESOURCE_STATES
_BUFFER, _ROW_MAJOR, _ALLOW_UNORDERED_ACCESS = 1, 1, 4
_TRANSITION, _UAV, _ALL_SUBRESOURCES = 0, 2, 0xFFFFFFFF


class Handle(ctypes.Structure):
    """D3D12_CPU_DESCRIPTOR_HANDLE and D3D12_GPU_DESCRIPTOR_HANDLE."""

    _fields_ = (("ptr", UINT64),)


class QueueDesc(ctypes.Structure):
    """D3D12_COMMAND_QUEUE_DESC."""

    _fields_ = (("type", UINT), ("priority", UINT), ("flags", UINT), ("node_mask", UINT))


class DescriptorHeapDesc(ctypes.Structure):
    """D3D12_DESCRIPTOR_HEAP_DESC."""

    _fields_ = (("type", UINT), ("count", UINT), ("flags", UINT), ("node_mask", UINT))


class HeapProperties(ctypes.Structure):
    """D3D12_HEAP_PROPERTIES."""

    _fields_ = (("type", UINT), ("page", UINT), ("pool", UINT), ("creation_mask", UINT), ("visible_mask", UINT))


class ResourceDesc(ctypes.Structure):
    """D3D12_RESOURCE_DESC."""

    _fields_ = (
        ("dimension", UINT),
        ("alignment", UINT64),
        ("width", UINT64),
        ("height", UINT),
        ("depth", ctypes.c_uint16),
        ("mips", ctypes.c_uint16),
        ("format", UINT),
        ("samples", UINT),
        ("quality", UINT),
        ("layout", UINT),
        ("flags", UINT),
    )


class Barrier(ctypes.Structure):
    """D3D12_RESOURCE_BARRIER, of a transition or of unordered access."""

    _fields_ = (
        ("type", UINT),
        ("flags", UINT),
        ("resource", POINTER),
        ("subresource", UINT),
        ("before", UINT),
        ("after", UINT),
    )

    @classmethod
    def transition(cls, resource: int, before: int, after: int) -> Barrier:
        """Return the barrier between two states of a resource."""
        return cls(_TRANSITION, 0, resource, _ALL_SUBRESOURCES, before, after)

    @classmethod
    def unordered_access(cls) -> Barrier:
        """Return the barrier between two dispatches that write."""
        return cls(_UAV)


class ID3D12CommandQueue(Interface):
    """A queue of command lists."""

    IID = "0ec870a6-5d7e-4c22-8cfc-5baae07616ed"
    execute_command_lists = Method(10, UINT, POINTER, returns=None)
    signal = Method(14, POINTER, UINT64)


class ID3D12CommandAllocator(Interface):
    """The memory of command lists."""

    IID = "6102dee4-af59-4b09-b999-b44d73f09b24"
    reset = Method(8)


class ID3D12GraphicsCommandList(Interface):
    """A list of commands."""

    IID = "5b160d0f-ac1b-4185-8ba8-b3ae42a5a455"
    close = Method(9)
    reset = Method(10, POINTER, POINTER)
    copy_buffer_region = Method(15, POINTER, UINT64, POINTER, UINT64, UINT64, returns=None)
    resource_barrier = Method(26, UINT, POINTER, returns=None)
    set_descriptor_heaps = Method(28, UINT, POINTER, returns=None)


class ID3D12Fence(Interface):
    """A counter that the queue sets; waiting for a value without an event blocks."""

    IID = "0a753dcf-c4d8-4b91-adf6-be5a60d95a76"
    set_event_on_completion = Method(9, UINT64, POINTER)


class ID3D12Resource(Interface):
    """A buffer."""

    IID = "696442be-a72e-4059-bc79-5b5c98040fad"
    map = Method(8, UINT, POINTER, POINTER)


class ID3D12DescriptorHeap(Interface):
    """Descriptors."""

    IID = "8efb471d-616c-4f49-90f7-127bb763fa51"
    get_cpu_descriptor_handle_for_heap_start = Method(9, returns=Handle)
    get_gpu_descriptor_handle_for_heap_start = Method(10, returns=Handle)


class ID3D12Device(Interface):
    """A device."""

    IID = "189819f1-1db6-4b57-be54-1821339b85f7"
    create_command_queue = Method(8, POINTER, POINTER, POINTER)
    create_command_allocator = Method(9, UINT, POINTER, POINTER)
    create_command_list = Method(12, UINT, UINT, POINTER, POINTER, POINTER, POINTER)
    create_descriptor_heap = Method(14, POINTER, POINTER, POINTER)
    create_committed_resource = Method(27, POINTER, UINT, POINTER, UINT, POINTER, POINTER, POINTER)
    create_fence = Method(36, UINT64, UINT, POINTER, POINTER)
    get_device_removed_reason = Method(37)


def buffer(device: ID3D12Device, size: int, heap: int) -> ID3D12Resource:
    """Return a new buffer of some bytes in a heap of a type, in the state that such a buffer begins in."""
    state = {DEFAULT_HEAP: COMMON, UPLOAD_HEAP: GENERIC_READ, READBACK_HEAP: COPY_DEST}[heap]
    flags = _ALLOW_UNORDERED_ACCESS if heap == DEFAULT_HEAP else 0
    properties = HeapProperties(heap, 0, 0, 1, 1)
    desc = ResourceDesc(_BUFFER, 0, size, 1, 1, 1, 0, 1, 0, _ROW_MAJOR, flags)
    made: ID3D12Resource = ID3D12Resource.made_by(
        device.create_committed_resource, ctypes.byref(properties), 0, ctypes.byref(desc), state, None
    )
    return made
