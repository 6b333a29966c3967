""".npz files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from dmlcheck.files.npz import names_in, read_array

pytestmark = pytest.mark.usefixtures("folder")


def test_arrays_are_read_by_their_names() -> None:
    np.savez_compressed("a.npz", **{"/model/x": np.arange(6.0).reshape(2, 3), "y": np.array(True)})
    assert names_in("a.npz") == ["/model/x", "y"]
    assert read_array("a.npz", "/model/x").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read_array("a.npz", "y").tolist() is True


def test_an_array_that_is_larger_than_allowed_is_not_unpacked() -> None:
    np.savez_compressed("a.npz", x=np.zeros(1000))
    with pytest.raises(ValueError, match="takes 8,128 bytes, and 100 are free"):
        read_array("a.npz", "x", 100)
    assert read_array("a.npz", "x", 10_000).shape == (1000,)


def test_objects_are_not_unpickled() -> None:
    np.savez("a.npz", x=np.array([print], object))
    with pytest.raises(ValueError, match="Python objects"):
        read_array("a.npz", "x")


def test_what_is_no_archive_is_refused() -> None:
    Path("a.npz").write_bytes(b"nothing")
    with pytest.raises(zipfile.BadZipFile):
        names_in("a.npz")
    with pytest.raises(FileNotFoundError):
        names_in("none.npz")
