"""Values in .npy files: read only where they fit the tensor, from inside the folder, and never unpickled."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.files import npy as npy_module
from dmlcheck.files.npy import names_in, read_array
from dmlcheck.values.literals import Source
from dmlcheck.values.read import read_values

TYPES = {
    "FLOAT16": "f2", "FLOAT32": "f4", "FLOAT64": "f8", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8",
    "UINT8": "u1", "UINT16": "u2", "UINT32": "u4", "UINT64": "u8", "INT4": "i1", "UINT4": "u1",
}  # fmt: skip
ONE = b"\0\0\x80?"  # 1.0 as a little-endian FLOAT32


def read(folder: Path, given_path: Any, data_type: str, *sizes: int, **layout: Any) -> tuple[Any, list[Finding]]:
    """Return what a file's values become and what is found wrong with them."""
    tensor = TensorDesc(data_type, sizes, **layout)
    raw = {"file": given_path}
    return collected(read_values("T", tensor, raw, ("inputs", "T"), Source(os.fspath(folder / "cases.yaml"))))


def refused(folder: Path, given_path: Any, data_type: str, *sizes: int) -> Finding:
    """Return the one thing that is wrong with a file."""
    values, findings = read(folder, given_path, data_type, *sizes)
    assert values is None
    (finding,) = findings
    assert pointer(finding.path) == "inputs.T.file"
    return finding


def npy(header: str | bytes, body: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """Return the bytes of a .npy file with a header of one's own."""
    text = header.encode("latin1") if isinstance(header, str) else header
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + body


def saved(array: Any, version: tuple[int, int]) -> bytes:
    """Return the bytes of a .npy file as NumPy writes it in one version of the format."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def header(descr: str = "'<f4'", shape: str = "(1,)", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


# ---- what is read


@pytest.mark.parametrize("data_type", TYPES)
def test_an_array_of_the_tensors_type_and_shape_is_read(tmp_path: Path, data_type: str) -> None:
    array = np.array([[1, 2, 3], [4, 5, 6]], dtype=TYPES[data_type])
    np.save(tmp_path / "x.npy", array)
    values, findings = read(tmp_path, "x.npy", data_type, 2, 3)
    assert findings == []
    assert values.dtype == array.dtype
    assert values.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64", "INT16", "INT64", "UINT32"])
def test_a_big_endian_array_is_read_in_the_machines_byte_order(tmp_path: Path, data_type: str) -> None:
    np.save(tmp_path / "x.npy", np.array([1, 2, 300], dtype=">" + TYPES[data_type]))
    values, findings = read(tmp_path, "x.npy", data_type, 3)
    assert findings == []
    assert values.dtype == np.dtype(TYPES[data_type])
    assert values.dtype.isnative
    assert values.tolist() == [1, 2, 300]


def test_an_array_in_fortran_order_is_read_in_its_logical_order(tmp_path: Path) -> None:
    array = np.array([[1, 2, 3], [4, 5, 6]], dtype="f4")
    (tmp_path / "x.npy").write_bytes(
        npy(header(shape="(2, 3)", order="True"), np.array([1, 4, 2, 5, 3, 6], dtype="<f4").tobytes())
    )
    np.save(tmp_path / "y.npy", np.asfortranarray(array))
    for name in ("x.npy", "y.npy"):
        values, findings = read(tmp_path, name, "FLOAT32", 2, 3)
        assert findings == []
        assert values.tolist() == array.tolist()


@pytest.mark.parametrize("version", [(1, 0), (2, 0)], ids=str)
def test_both_versions_of_the_header_that_numpy_writes_for_numbers_are_read(
    tmp_path: Path, version: tuple[int, int]
) -> None:
    (tmp_path / "x.npy").write_bytes(saved(np.array([1.5, -2], dtype="f4"), version))
    values, findings = read(tmp_path, "x.npy", "FLOAT32", 2)
    assert findings == []
    assert values.tolist() == [1.5, -2]


def test_bytes_after_the_last_element_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(npy(header(), ONE + b"more"))
    values, findings = read(tmp_path, "x.npy", "FLOAT32", 1)
    assert findings == []
    assert values.tolist() == [1]


def test_a_file_is_read_through_the_tensors_strides_like_a_list(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[1, 2], [1, 2]], dtype="f4"))
    values, findings = read(tmp_path, "x.npy", "FLOAT32", 2, 2, strides=(0, 1))
    assert findings == []
    assert values.tolist() == [[1, 2], [1, 2]]
    np.save(tmp_path / "x.npy", np.array([[1, 2], [3, 2]], dtype="f4"))
    _, findings = read(tmp_path, "x.npy", "FLOAT32", 2, 2, strides=(0, 1))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


# ---- what does not fit the tensor


@pytest.mark.parametrize(
    ("dtype", "data_type", "save_as"),
    [
        ("f8", "FLOAT32", "float32"), ("f4", "FLOAT64", "float64"), ("f4", "FLOAT16", "float16"),
        ("i4", "FLOAT32", "float32"), ("i4", "UINT32", "uint32"), ("u4", "INT32", "int32"), ("i8", "INT32", "int32"),
        ("?", "UINT8", "uint8"), ("c8", "FLOAT64", "float64"), ("S4", "UINT32", "uint32"), ("U1", "UINT32", "uint32"),
        ("M8[s]", "INT64", "int64"), ("V4", "FLOAT32", "float32"),
        ("i1", "UINT4", "uint8"), ("u1", "INT4", "int8"),
    ],
)  # fmt: skip
def test_an_array_of_another_type_is_refused_and_told_the_right_one(
    tmp_path: Path, dtype: str, data_type: str, save_as: str
) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3, dtype=dtype))
    finding = refused(tmp_path, "x.npy", data_type, 3)
    assert finding.rule == "value-not-representable"
    assert finding.help == f"save it as {save_as}"
    assert finding.params["element"] == "x.npy"


@pytest.mark.parametrize(("data_type", "number"), [("UINT4", 16), ("UINT4", 255), ("INT4", 8), ("INT4", -9)])
def test_a_byte_that_four_bits_cannot_hold_is_refused(tmp_path: Path, data_type: str, number: int) -> None:
    np.save(tmp_path / "x.npy", np.array([0, number], dtype=TYPES[data_type]))
    assert refused(tmp_path, "x.npy", data_type, 2).rule == "value-not-representable"


# ---- what is not an array that NumPy wrote


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUM",
        b"\x93NUMPY",
        b"\x93NUMPY\x01",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x01\x00\x10",
        b"\x93NUMPY\x01\x00\x10\x00",
        b"\x93NUMPY\x01\x00\xff\xff{}",
        b"PK\x03\x04 an .npz is a zip file",
        b"[1, 2, 3]\n",
        b"\0" * 200,
        b"\x80\x04\x95 a pickle",
        npy("", ONE),
        npy("\n", ONE),
        npy("None", ONE),
        npy("{}", ONE),
        npy("[1, 2]", ONE),
        npy("{'descr': '<f4', 'shape': (1,)}", ONE),
        npy(header() + "x", ONE),
        npy(header(descr="'<q9'"), ONE),
        npy(header(descr="7"), ONE),
        npy(header(shape="1"), ONE),
        npy(header(shape="('a',)"), ONE),
        npy(header(shape="(1.0,)"), ONE),
        npy(header(order="0"), ONE),
        npy(header(order="'no'"), ONE),
        npy("__import__('os').getcwd()", ONE),
        npy(header() + " " * 20000, ONE),
        npy(b"\xff\xfe\xfd", ONE),
    ],
    ids=lambda data: repr(data[:50]),
)
def test_a_file_that_is_no_npy_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(data)
    finding = refused(tmp_path, "x.npy", "FLOAT32", 1)
    assert finding.rule == "wrong-type"
    assert finding.params["found"].startswith("unreadable: ")


@pytest.mark.parametrize(
    "data",
    [
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,", ONE),
        npy("(" * 50, ONE),
        npy("'" * 3 + "abc", ONE),
        npy("-" * 50 + "1", ONE),
        npy(header(descr="','"), ONE),
        npy(header(shape="(True,)"), ONE),
        npy(header(shape="(1L,)"), ONE),
        npy(header(descr="('<f4',)"), ONE),
        npy(header(descr="f('<f4')"), ONE),
        npy(header(shape="(2**70, 0)"), ONE),
        npy(header(shape="(18446744073709551616, 0)"), ONE),
        npy(header(descr="'<V0'", shape="(3, 2)"), ONE),
        npy(header(descr="'<V0'"), ONE),
    ],
    ids=[
        "unclosed",
        "parentheses",
        "unclosed-text",
        "signs",
        "comma-dtype",
        "bool-shape",
        "python-2",
        "half-a-pair",
        "call",
        "power",
        "beyond",
        "some-of-nothing",
        "nothing",
    ],
)
def test_a_header_that_stumbles_numpys_own_reader_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(data)
    values, findings = read(tmp_path, "x.npy", "FLOAT32", 1)
    # A bool is an int, and Python 2 wrote 1L for 1: reading such a shape is as good as refusing it, but without a word.
    assert (values is not None and values.tolist() == [1]) or [finding.rule for finding in findings] == ["wrong-type"]


@pytest.mark.parametrize(
    ("version", "spelt"), [((3, 0), "3.0"), ((9, 0), "9.0"), ((1, 1), "1.1"), ((0, 0), "0.0")], ids=str
)
def test_other_versions_of_the_format_are_refused_by_name(tmp_path: Path, version: tuple[int, int], spelt: str) -> None:
    (tmp_path / "x.npy").write_bytes(npy(header(), ONE, version))
    finding = refused(tmp_path, "x.npy", "FLOAT32", 1)
    assert finding.rule == "wrong-type"
    assert f"its format is {spelt}" in finding.message


@pytest.mark.parametrize("missing", [1, 3, 4, 11, 12])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, missing: int) -> None:
    data = saved(np.array([1, 2, 3], dtype="f4"), (1, 0))
    (tmp_path / "x.npy").write_bytes(data[:-missing])
    finding = refused(tmp_path, "x.npy", "FLOAT32", 3)
    assert finding.rule == "wrong-type"
    assert "it is cut short" in finding.message


@pytest.mark.parametrize("shape", ["(2000000,)", "(1000, 2000)", "(1" + 100 * "0" + ",)"])
@pytest.mark.parametrize("sizes", [(1,), (1000, 2000), (2000000,)], ids=str)
def test_a_header_that_claims_what_the_file_does_not_hold_allocates_nothing(
    tmp_path: Path, shape: str, sizes: tuple[int, ...]
) -> None:
    (tmp_path / "x.npy").write_bytes(npy(header(shape=shape), ONE))
    tracemalloc.start()
    try:
        finding = refused(tmp_path, "x.npy", "FLOAT32", *sizes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert finding.rule == "wrong-type"
    assert peak < 2**20


@pytest.mark.parametrize("shape", ["(-1,)", "(-1, -1)", "(2, -1)"])
def test_a_negative_shape_is_refused(tmp_path: Path, shape: str) -> None:
    (tmp_path / "x.npy").write_bytes(npy(header(shape=shape), ONE))
    assert refused(tmp_path, "x.npy", "FLOAT32", 1).rule in {"wrong-type", "element-count"}


def test_python_objects_are_refused_and_not_unpickled(tmp_path: Path) -> None:
    # Unpickling this would create the file.
    trap = tmp_path / "trap"
    body = f"cbuiltins\nopen\n(V{trap.as_posix()}\nVw\ntR.".encode()
    (tmp_path / "x.npy").write_bytes(npy(header(descr="'|O'"), body))
    finding = refused(tmp_path, "x.npy", "FLOAT32", 1)
    assert finding.rule == "wrong-type"
    assert "it contains Python objects" in finding.message
    assert not trap.exists()


_OF_FORM = "its header is not of the form that NumPy writes for plain elements"


def test_elements_of_several_parts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(npy(header(descr="[('a', '|O')]"), b"cos\nsystem\n(Vfalse\ntR." + b" " * 8))
    assert _OF_FORM in refused(tmp_path, "x.npy", "FLOAT32", 1).message
    np.save(tmp_path / "x.npy", np.zeros(1, dtype="f4,f4"))
    assert _OF_FORM in refused(tmp_path, "x.npy", "FLOAT32", 1).message


def test_a_long_header_is_refused_before_it_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert npy_module._MOST_HEADER == 10_000  # as NumPy has it
    (tmp_path / "x.npy").write_bytes(npy(header().rstrip() + " " * 100 + "\n", ONE))
    assert read(tmp_path, "x.npy", "FLOAT32", 1)[1] == []
    monkeypatch.setattr(npy_module, "_MOST_HEADER", 100)
    length = len(header()) + 100
    found = refused(tmp_path, "x.npy", "FLOAT32", 1).params["found"]
    assert found == f"unreadable: its header has {length} bytes; up to 100 are read"


def test_an_object_array_that_numpy_saved_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([None, {}], dtype=object), allow_pickle=True)
    assert refused(tmp_path, "x.npy", "FLOAT32", 2).rule == "wrong-type"


WHOLE = saved(np.array([[1, 2, 3]], dtype="f4"), (1, 0))


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(0, len(WHOLE)),
)
@example([(WHOLE.index(b")"), ord(" "))], len(WHOLE))
@example([(WHOLE.index(b"}"), ord("\0"))], len(WHOLE))
def test_a_damaged_file_is_read_or_refused_and_never_raises(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int]], end: int
) -> None:
    data = bytearray(WHOLE)
    for index, byte in damage:
        data[index] = byte
    folder = tmp_path_factory.getbasetemp()
    (folder / "damaged.npy").write_bytes(data[:end])
    values, findings = read(folder, "damaged.npy", "FLOAT32", 1, 3)
    assert (values is None) == bool(findings)
    assert {finding.rule for finding in findings} <= {"wrong-type", "element-count", "value-not-representable"}


# ---- where a file may lie


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a case folder with files in it, beside others that are none of its business."""
    folder = tmp_path / "cases"
    for place in (folder / "data", tmp_path / "cases2", tmp_path / "elsewhere"):
        place.mkdir(parents=True)
        np.save(place / "x.npy", np.array([1], dtype="f4"))
    np.save(folder / "x.npy", np.array([1], dtype="f4"))
    np.save(folder / "räksmörgås 1.npy", np.array([1], dtype="f4"))
    np.save(tmp_path / "x.npy", np.array([1], dtype="f4"))
    return folder


@pytest.mark.parametrize(
    "name", ["x.npy", "./x.npy", "data/x.npy", "data/../x.npy", "../cases/x.npy", "räksmörgås 1.npy"]
)
def test_a_file_inside_the_case_files_folder_tree_is_read(tree: Path, name: str) -> None:
    values, findings = read(tree, name, "FLOAT32", 1)
    assert findings == []
    assert values.tolist() == [1]


@pytest.mark.parametrize(
    "name",
    [
        "../x.npy",
        "../cases2/x.npy",
        "../elsewhere/x.npy",
        "data/../../x.npy",
        "..",
        "../missing.npy",
        "../../../etc/x.npy",
    ],
)
def test_a_file_outside_the_case_files_folder_tree_is_refused(tree: Path, name: str) -> None:
    finding = refused(tree, name, "FLOAT32", 1)
    assert finding.rule == "file-not-found"
    assert finding.params == {"path": name, "problem": "lies outside the folder tree of the file that names it"}


def test_an_absolute_path_is_refused_even_into_the_folder(tree: Path) -> None:
    for path in (tree / "x.npy", tree.parent / "x.npy"):
        finding = refused(tree, str(path), "FLOAT32", 1)
        assert finding.rule == "file-not-found"
        assert finding.message.endswith(": is no path relative to the file that names it")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing.npy", "no such file"),
        ("data/missing.npy", "no such file"),
        ("data", "is a folder"),
        (".", "is a folder"),
    ],
)
def test_a_file_that_is_not_there_is_reported_as_such(tree: Path, name: str, problem: str) -> None:
    finding = refused(tree, name, "FLOAT32", 1)
    assert finding.rule == "file-not-found"
    assert finding.message == f"{name}: {problem}"


@pytest.mark.parametrize(
    "name", ["x\0.npy", "\0", "x" * 5000 + ".npy", "con\ud800.npy"], ids=["nul", "only-nul", "long", "surrogate"]
)
def test_a_name_that_no_file_can_have_is_refused(tree: Path, name: str) -> None:
    assert refused(tree, name, "FLOAT32", 1).rule == "file-not-found"


def linked(link: Path, target: Path) -> None:
    """Make a symbolic link, or skip where that is not allowed."""
    try:
        link.symlink_to(target, target_is_directory=target.is_dir())
    except OSError as error:  # Windows allows it to few
        pytest.skip(f"symbolic links cannot be made here: {error}")


def test_a_link_that_leads_out_of_the_folder_is_refused(tree: Path) -> None:
    linked(tree / "out.npy", tree.parent / "x.npy")
    assert "lies outside" in refused(tree, "out.npy", "FLOAT32", 1).message


def test_a_linked_folder_that_leads_out_is_refused(tree: Path) -> None:
    linked(tree / "out", tree.parent / "elsewhere")
    assert "lies outside" in refused(tree, "out/x.npy", "FLOAT32", 1).message


def test_a_link_that_stays_inside_is_followed(tree: Path) -> None:
    linked(tree / "in.npy", tree / "data" / "x.npy")
    values, findings = read(tree, "in.npy", "FLOAT32", 1)
    assert findings == []
    assert values.tolist() == [1]


def test_a_link_that_leads_nowhere_is_refused(tree: Path) -> None:
    linked(tree / "gone.npy", tree / "missing.npy")
    assert refused(tree, "gone.npy", "FLOAT32", 1).message == "gone.npy: no such file"


def test_a_link_to_itself_is_refused(tree: Path) -> None:
    linked(tree / "loop.npy", tree / "loop.npy")
    assert refused(tree, "loop.npy", "FLOAT32", 1).rule == "file-not-found"


def test_a_case_folder_that_is_itself_a_link_is_the_folder_it_leads_to(tree: Path) -> None:
    linked(tree.parent / "alias", tree)
    values, findings = read(tree.parent / "alias", "data/x.npy", "FLOAT32", 1)
    assert findings == []
    assert values.tolist() == [1]


def test_without_a_folder_files_are_looked_up_in_the_current_one(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    tensor = TensorDesc("FLOAT32", (1,))
    values, findings = collected(read_values("T", tensor, {"file": "data/x.npy"}, (), Source("")))
    assert findings == []
    assert values is not None


# ---- .npz files


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
