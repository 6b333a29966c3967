""".npy files: read without unpickling, and only after their header agrees with their tensor; and written."""

from __future__ import annotations

import io
import math
import os
import re
import shutil
import struct
import tempfile
import warnings
import zipfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.files.plain import is_inside, open_plain

_MAGIC = b"\x93NUMPY"
_LENGTHS = {(1, 0): struct.Struct("<H"), (2, 0): struct.Struct("<I")}  # of the header, by the version of the format
_MOST_HEADER = 10_000  # bytes, as NumPy has it
# One entry of the header, which has three of them and blanks anywhere; Python 2 wrote 3L for 3.
_ENTRY = re.compile(
    r"'(descr|fortran_order|shape)':(?:"
    r"'([<>=|]?[A-Za-z?][0-9]{0,9}(?:\[[0-9]{0,9}[A-Za-z]{1,2}\])?)'|"
    r"(True|False)|"
    r"\(((?:[0-9]{1,19}L?,)+(?:[0-9]{1,19}L?)?|)\))"
)
_HEADER = re.compile(rf"{{{_ENTRY.pattern},{_ENTRY.pattern},{_ENTRY.pattern},?}}")


class Header:
    """The header of a .npy file: its shape, its dtype, and whether it is in Fortran order."""

    def __init__(self, file: IO[bytes]) -> None:
        """Read the header of an open file; ValueError unless NumPy writes such a header for plain elements."""
        descr, order, shape = _fields(_header(file))
        self.is_fortran = order == "True"
        self.shape: tuple[int, ...] = tuple(int(size.rstrip("L")) for size in shape.split(",") if size)
        self.dtype = _dtype(descr)
        if not all(size < 2**63 for size in (*self.shape, math.prod(self.shape))):
            raise ValueError("it has a shape that no array can have")
        if not self.dtype.itemsize:
            raise ValueError("its elements have no bytes")
        if self.dtype.hasobject:
            raise ValueError("it contains Python objects")
        if os.fstat(file.fileno()).st_size - file.tell() < math.prod(self.shape) * self.dtype.itemsize:
            raise ValueError("it is cut short")


def _header(file: IO[bytes]) -> str:
    """Return the text of the header without blanks."""
    magic = file.read(len(_MAGIC) + 2)
    if len(magic) < len(_MAGIC) + 2 or not magic.startswith(_MAGIC):
        raise ValueError("it does not begin as a .npy file does")
    version = magic[-2], magic[-1]
    if version not in _LENGTHS:
        raise ValueError(f"its format is {version[0]}.{version[1]}; 1.0 and 2.0 are read")
    length = _LENGTHS[version]
    digits = file.read(length.size)
    (size,) = length.unpack(digits) if len(digits) == length.size else (0,)
    if size > _MOST_HEADER:
        raise ValueError(f"its header has {size:,} bytes; up to {_MOST_HEADER:,} are read")
    header = file.read(size)
    if not header or len(header) < size:
        raise ValueError("it is cut short")
    return header.decode("latin-1").rstrip("\n").replace(" ", "").replace('"', "'")


def _fields(header: str) -> tuple[str, str, str]:
    """Return the type of the elements, whether they are in Fortran order, and the shape, as a header writes them."""
    entries = _ENTRY.findall(header) if _HEADER.fullmatch(header) else []
    fields = {(key, bool(descr), bool(order)): descr or order or shape for key, descr, order, shape in entries}
    try:
        return fields["descr", True, False], fields["fortran_order", False, True], fields["shape", False, False]
    except KeyError:
        raise ValueError("its header is not of the form that NumPy writes for plain elements") from None


def _dtype(descr: str) -> np.dtype[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that NumPy no longer likes
            return np.dtype(descr)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"its elements are of a type that NumPy does not have, {descr}") from None


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
    """Return the real path of a file that must be in a folder tree, and why it cannot be used, or None."""
    root = os.path.realpath(folder or os.curdir)
    try:
        full = os.path.realpath(os.path.join(root, given))
        os.path.isfile(full)
    except ValueError:  # a character that no path can have
        return given, "no such file"
    if os.path.isabs(given):
        return full, "is no path relative to the file that names it"
    if not is_inside(full, root):
        return full, "lies outside the folder tree of the file that names it"
    if os.path.isdir(full):
        return full, "is a folder"
    if os.path.exists(full) and not os.path.isfile(full):
        return full, "is a pipe, a device or a socket, not a file"
    return full, None if os.path.isfile(full) else "no such file"


# ---- arrays by name in .npz files


_ENDING = ".npy"


def names_in(path: str) -> list[str]:
    """Return the names of the arrays in a file; OSError or zipfile.BadZipFile if it is none."""
    with open_plain(path) as file, zipfile.ZipFile(file) as archive:
        return [name.removesuffix(_ENDING) for name in archive.namelist() if name.endswith(_ENDING)]


def read_array(path: str, name: str, most: int | None = None) -> Any:
    """Return an array of a file, of at most a number of bytes; KeyError if it has none, ValueError if it is wrong."""
    with open_plain(path) as file, zipfile.ZipFile(file) as archive, tempfile.TemporaryFile() as copy:
        size = archive.getinfo(name + _ENDING).file_size
        if most is not None and size > most:
            raise ValueError(f"the array {name!r} takes {size:,} bytes, and {most:,} are free")
        with archive.open(name + _ENDING) as packed:
            shutil.copyfileobj(packed, copy)  # elements are only read from files
        copy.seek(0)
        return read_elements(copy, Header(copy))
