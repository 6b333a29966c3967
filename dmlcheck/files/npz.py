""".npz files: arrays by name, each read without unpickling, and only as large as this machine has memory for."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from typing import Any

from dmlcheck.files import npy
from dmlcheck.files.plain import open_plain

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
        return npy.read_elements(copy, npy.Header(copy))
