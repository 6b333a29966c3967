""".npy files: read without unpickling, and only after their header agrees with their tensor; and written."""

from __future__ import annotations

import io
import math
import os
import warnings
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

# What NumPy's reader raises besides ValueError where a header is no literal, or not of what a header is made of.
_STUMBLES = (
    *(SyntaxError, TokenError, TypeError, LookupError, AttributeError),
    *(RecursionError, MemoryError, OverflowError),
)


class Header:
    """What a .npy file says of itself: its shape, its dtype, and whether it is in Fortran order."""

    def __init__(self, file: IO[bytes]) -> None:
        """Read the header of an open file; ValueError when it is not one that NumPy's save writes."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of headers that Python 2 wrote
                self._read(file)
        except _STUMBLES as error:
            raise ValueError(f"its header is damaged ({type(error).__name__})") from error

    def _read(self, file: IO[bytes]) -> None:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            read = np.lib.format.read_array_header_1_0
        elif version == (2, 0):
            read = np.lib.format.read_array_header_2_0
        else:
            raise ValueError(f"its format is {version[0]}.{version[1]}; 1.0 and 2.0 are read")
        shape, self.is_fortran, self.dtype = read(file)
        self.shape: tuple[int, ...] = tuple(map(int, shape))
        if not all(0 <= size < 2**63 for size in (*self.shape, math.prod(self.shape))):
            raise ValueError("it has a shape that no array can have")
        if not self.dtype.itemsize:
            raise ValueError("its elements have no bytes")
        if self.dtype.hasobject:
            raise ValueError("it holds Python objects")
        if os.fstat(file.fileno()).st_size - file.tell() < math.prod(self.shape) * self.dtype.itemsize:
            raise ValueError("it is cut short")


def read_elements(file: IO[bytes], header: Header) -> NDArray[Any]:
    """Return the array that follows a header, in the machine's byte order."""
    values = np.fromfile(file, dtype=header.dtype, count=math.prod(header.shape))
    native = values.astype(header.dtype.newbyteorder("="), copy=False)
    return native.reshape(header.shape, order="F" if header.is_fortran else "C")


def npy_bytes(elements: NDArray[Any]) -> bytes:
    """Return an array as a .npy file, little-endian and of the format's version 1.0, which every reader knows."""
    file = io.BytesIO()
    np.lib.format.write_array(file, elements.astype(elements.dtype.newbyteorder("<"), copy=False), version=(1, 0))
    return file.getvalue()


def find(folder: str, given: str) -> tuple[str, str | None]:
    """Return the real path of a file that must lie in a folder tree, and what is wrong with it or None."""
    root = os.path.realpath(folder or os.curdir)
    try:
        full = os.path.realpath(os.path.join(root, given))
        os.path.isfile(full)
    except ValueError:  # a character that no path can have
        return given, "no such file"
    if os.path.isabs(given) or not is_inside(full, root):
        return full, "lies outside the folder tree of the file that names it"
    if os.path.isdir(full):
        return full, "is a folder"
    return full, None if os.path.isfile(full) else "no such file"


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, all links followed, lies in a folder tree."""
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # different drives
        return False
