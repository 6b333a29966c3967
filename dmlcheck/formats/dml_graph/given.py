"""The values of a graph's inputs: arrays in a `.npz` file, or `.npy` files in a folder, by the names of the inputs."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import braces, counted
from dmlcheck.files import npy
from dmlcheck.files.plain import open_plain, reason
from dmlcheck.graphs.buffers import Array, to_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES

_HEADER = 2**14  # bytes of the header of a .npy file
_WIDEST = 16  # bytes of an element, of any type


class Missing(Exception):
    """There is no array with this name."""


def load_given(place: str | None, name: str, tensor: TensorDesc) -> Checking[Array | None]:
    """Return the bytes of an input of a graph: the elements of its array in memory order."""
    if place is None:
        yield _missing(name, "--inputs FILE.npz or --inputs DIR gives the values of the graph's inputs")
        return None
    try:
        values = _array(place, name, tensor)
    except Missing:
        yield _missing(name, f"add an array {name!r} to {place}, or the file {name}.npy to the folder")
        return None
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        problem = reason(error) if isinstance(error, OSError) else str(error) or type(error).__name__
        yield Finding("file-not-found", (), {"path": place, "problem": f"the values of {name!r}: {problem}"})
        return None
    wanted = NUMPY_TYPES[tensor.data_type]
    if values.dtype != wanted:
        found = f"an array of {values.dtype}"
        help = f"give {wanted} for {tensor.data_type}"
        yield Finding("value-not-representable", (), {"element": name, "found": found, "type": tensor.data_type}, help)
        return None
    if values.size != tensor.extent:
        found = f"{counted(values.size, 'element')} {braces(values.shape)}"
        expected = f"the graph reads {tensor.extent:,} of {braces(tensor.sizes)}"
        yield Finding("element-count", (), {"tensor": name, "found": found, "expected": expected})
        return None
    return to_bytes(tensor._replace(sizes=(tensor.extent,), strides=None), values)


def _missing(name: str, help: str) -> Finding:
    return Finding("missing-tensor", (), {"tensor": f"the input {name!r} of the graph", "section": "--inputs"}, help)


def _array(place: str, name: str, tensor: TensorDesc) -> Array:
    """Return an array of a file or a folder; Missing if it has none of this name."""
    most = tensor.extent * _WIDEST + _HEADER
    if os.path.isdir(place):
        full, problem = npy.find(place, f"{name}.npy")
        if problem == "no such file":
            raise Missing
        if problem is not None:
            raise ValueError(problem)
        with open_plain(full) as file:
            _check_size(os.fstat(file.fileno()).st_size, most)
            return npy.read_elements(file, npy.Header(file))
    with open_plain(place) as file, zipfile.ZipFile(file) as archive, tempfile.TemporaryFile() as copy:
        if f"{name}.npy" not in archive.namelist():
            raise Missing
        _check_size(archive.getinfo(f"{name}.npy").file_size, most)
        with archive.open(f"{name}.npy") as packed:
            shutil.copyfileobj(packed, copy)  # elements are only read from files
        copy.seek(0)
        return npy.read_elements(copy, npy.Header(copy))


def _check_size(size: int, most: int) -> None:
    """Raise ValueError for a file that is too large to be an array of the graph."""
    if size > most:
        raise ValueError(f"the file has {size:,} bytes, far more than the graph reads")
