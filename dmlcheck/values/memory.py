"""The cores and the memory of this machine: what is free, so that a tensor that cannot fit is refused, and reused."""

from __future__ import annotations

import contextlib
import os
import sys


def available_bytes() -> int | None:
    """Return the memory in bytes that a process can still take without swapping, or None where nothing tells."""
    known = [amount for amount in (_system_bytes(), _cgroup_bytes()) if amount is not None]
    return min(known, default=None)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def reuse_freed_memory() -> None:
    """Let the allocator give the memory of large arrays that are gone to the next ones, whichever thread makes them.

    New memory costs an interrupt for each page, which takes a fifth of the time of judging a model. Only the allocator
    of glibc needs to be told.
    """
    import ctypes

    with contextlib.suppress(OSError, TypeError, AttributeError):  # Windows, macOS and musl have no such function
        set_option = ctypes.CDLL(None).mallopt
        if set_option(_MMAP_THRESHOLD, 256 * 2**20) or set_option(_MMAP_THRESHOLD, _LIMIT_OF_OLDER_RELEASES):
            set_option(_TRIM_THRESHOLD, 512 * 2**20)
            set_option(_ARENA_MAX, 1)


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # the names in glibc's malloc.h begin with M_
_LIMIT_OF_OLDER_RELEASES = 32 * 2**20  # of the threshold, by mallopt(3)


def _system_bytes() -> int | None:
    if sys.platform == "win32":
        return _windows_bytes()
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _cgroup_bytes() -> int | None:
    """Return the memory that a container's limit leaves (cgroup v2, then v1)."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            with open(limit, encoding="ascii") as file:
                most = int(file.read())
            with open(used, encoding="ascii") as file:
                return max(0, most - int(file.read()))
        except (OSError, ValueError):
            continue
    return None


def _windows_bytes() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong)
            for name in (
                "total",
                "available",
                "total_page",
                "available_page",
                "total_virtual",
                "available_virtual",
                "extended",
            )
        ]

    status = Status(length=ctypes.sizeof(Status))
    kernel32 = getattr(ctypes, "windll").kernel32  # noqa: B009 - exists on Windows only
    return int(status.available) if kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None
