"""The folder of an export: what it holds, what it replaces, and names that every file system takes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import json_of

from dmlcheck.cases.records import Case
from dmlcheck.folders.export_folder import (
    MANIFEST,
    Exported,
    Folder,
    Imported,
    Occupied,
    Ready,
    check,
    each,
    free_name,
    import_all,
    read_manifest,
    ready,
    safe_name,
    tensor_file,
)
from dmlcheck.values import memory


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def exported(folder: Path, *names: str, form: str = "dxdispatch") -> Folder:
    with Folder(str(folder), form) as place:
        for name in names:
            place.write(name, b"x")
        place.entries["a"] = {"folder": "a"}
        place.finish([{"case": "b", "reason": "c"}])
    return place


def test_a_manifest_names_the_files_and_what_they_are_for(tmp_path: Path) -> None:
    exported(tmp_path / "new" / "out", "a/x.npy", "run.sh")
    assert files_of(tmp_path / "new" / "out") == {"a/x.npy", "run.sh", MANIFEST}
    manifest = read_manifest(str(tmp_path / "new" / "out"))
    assert manifest["files"] == ["a/x.npy", "run.sh", MANIFEST]
    assert (manifest["format"], manifest["entries"]) == ("dxdispatch", [{"folder": "a"}])
    assert manifest["left_out"] == [{"case": "b", "reason": "c"}]


def test_an_earlier_export_is_replaced_and_whatever_else_is_there_is_kept(tmp_path: Path) -> None:
    exported(tmp_path, "a/x.npy", "b/y.npy")
    (tmp_path / "b" / "mine.txt").write_text("keep", encoding="utf-8")
    assert exported(tmp_path, "c/z.npy").replaced
    assert files_of(tmp_path) == {"b/mine.txt", "c/z.npy", MANIFEST}
    assert not (tmp_path / "a").exists()


def test_an_export_that_is_cut_off_leaves_a_manifest_that_a_later_one_clears(tmp_path: Path) -> None:
    with Folder(str(tmp_path), "onnx") as place:
        place.write("a/x.npy", b"x")
        place.entries["a"] = {"folder": "a"}
        place.write("b/x.npy", b"x")  # and the work ends here, without a manifest of its own
    manifest = read_manifest(str(tmp_path))
    assert (manifest["files"], manifest["entries"]) == (["a/x.npy", "b/x.npy", MANIFEST], [{"folder": "a"}])
    exported(tmp_path, form="onnx")
    assert files_of(tmp_path) == {MANIFEST}


def test_a_manifest_clears_nothing_outside_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    exported(tmp_path / "out")
    manifest = json_of(tmp_path / "out" / MANIFEST)
    (tmp_path / "out" / MANIFEST).write_text(json.dumps({**manifest, "files": ["../mine.txt"]}), encoding="utf-8")
    exported(tmp_path / "out")
    assert (tmp_path / "mine.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.npy").write_text("keep", encoding="utf-8")
    exported(tmp_path / "out", "a/x.npy")
    shutil.rmtree(tmp_path / "out" / "a")
    (tmp_path / "out" / "a").symlink_to(outside)
    with pytest.raises(OSError, match="a link leads out of the folder"):
        exported(tmp_path / "out", "a/x.npy")
    with pytest.raises(OSError, match="a link leads out of the folder"):
        exported(tmp_path / "out", "a/b/c.npy")
    assert [(path.name, path.read_text("utf-8")) for path in outside.iterdir()] == [("x.npy", "keep")]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("target", ["../mine.txt", "mine.txt", "../new.txt"])
def test_a_link_in_the_place_of_a_file_is_neither_followed_nor_removed(tmp_path: Path, target: str) -> None:
    exported(tmp_path / "out", "x.npy")
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    (tmp_path / "out" / "mine.txt").write_text("keep", encoding="utf-8")
    (tmp_path / "out" / "x.npy").unlink()
    (tmp_path / "out" / "x.npy").symlink_to(target)
    with pytest.raises(FileExistsError):
        exported(tmp_path / "out", "x.npy")
    assert os.readlink(tmp_path / "out" / "x.npy") == target
    assert files_of(tmp_path) == {"mine.txt", "out/mine.txt", f"out/{MANIFEST}"} | (
        set() if "new" in target else {"out/x.npy"}
    )
    assert (tmp_path / "mine.txt").read_text("utf-8") == (tmp_path / "out" / "mine.txt").read_text("utf-8") == "keep"


def test_a_file_that_no_earlier_export_wrote_is_not_written_over(tmp_path: Path) -> None:
    exported(tmp_path)
    (tmp_path / "run.sh").write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError):
        exported(tmp_path, "run.sh")
    assert (tmp_path / "run.sh").read_text("utf-8") == "mine"


@pytest.mark.parametrize("files", [1, "x", {"x": 1}, [1], [["x"]], ["a\0b"], ["\ud800"]])
def test_a_manifest_of_another_shape_is_none(tmp_path: Path, files: object) -> None:
    exported(tmp_path)
    manifest = read_manifest(str(tmp_path))
    (tmp_path / MANIFEST).write_text(json.dumps({**manifest, "files": files}), encoding="utf-8")
    with pytest.raises(ValueError, match="has files that are not a list of paths"):
        read_manifest(str(tmp_path))
    with pytest.raises(Occupied):
        Folder(str(tmp_path), "dxdispatch")


def test_a_folder_may_be_new_or_empty(tmp_path: Path) -> None:
    assert not check(str(tmp_path / "new"), "onnx")
    assert not check(str(tmp_path), "onnx")


@pytest.mark.parametrize(
    ("name", "text"),
    [("mine.txt", "keep"), (MANIFEST, "{}"), (MANIFEST, "[" * 100_000), (MANIFEST, '{"schema": "another/1"}')],
)
def test_a_folder_with_something_else_is_not_touched(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(Occupied, match="is not empty, and is no folder of this kind that dmlcheck wrote"):
        Folder(str(tmp_path), "onnx")
    assert (tmp_path / name).read_text("utf-8") == text


def test_an_export_to_another_format_is_something_else(tmp_path: Path) -> None:
    exported(tmp_path, form="onnx")
    with pytest.raises(Occupied):
        check(str(tmp_path), "dxdispatch")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("", encoding="utf-8")
    with pytest.raises(Occupied, match="is not a folder"):
        check(str(tmp_path / "x"), "onnx")


# ---- names


@pytest.mark.parametrize("name", ["con", "COM1", "a/b", "..", "", "a" * 300, "ä?*"])
def test_a_name_is_one_that_every_file_system_takes(name: str) -> None:
    safe = safe_name(name)
    assert safe.isascii()
    assert 0 < len(safe) <= 81
    assert not set(safe) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert safe.lower() not in ("con", "com1")


def test_names_that_differ_in_case_only_are_not_free() -> None:
    taken: set[str] = set()
    assert [free_name(name, taken) for name in ("a", "A", "a")] == ["a", "A-2", "a-3"]


def test_a_tensors_file_has_a_name_without_brackets() -> None:
    assert [tensor_file(label) for label in ("ATensor", "OutputTensors[1]")] == ["ATensor.npy", "OutputTensors.1.npy"]


# ---- cases on their way to another format: which can go, and what becomes of each


TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
ADD = {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR}
INPUTS = {"ATensor": [1, 2], "BTensor": [3, 4]}
ONE = Case("f::one", "one", "f", "ELEMENT_WISE_ADD", None, ADD, INPUTS, {"OutputTensor": [4, 6]})


def test_a_case_goes_with_its_inputs_and_where_asked_for_with_its_outputs() -> None:
    plain, full = ready(ONE), ready(ONE, with_outputs=True)
    assert isinstance(plain, Ready)
    assert isinstance(full, Ready)
    assert ([values.tolist() for values in plain.inputs.values()], plain.expected) == ([[1, 2], [3, 4]], {})
    assert full.expected["OutputTensor"][1].tolist() == [4, 6]


def test_outputs_that_do_not_go_may_be_wrong() -> None:
    wrong = ONE._replace(outputs={"OutputTensor": "x"})
    assert isinstance(ready(wrong), Ready)
    refused = ready(wrong, with_outputs=True)
    assert isinstance(refused, Exported)
    assert [problem.rule for problem in refused.problems] == ["wrong-type"]


@pytest.mark.parametrize(
    ("fields", "reason", "rules"),
    [
        ({"invalid": ("size-mismatch",)}, "a negative case: nothing to run", []),
        ({"inputs": None, "outputs": None}, "a plain desc: nothing to run", []),
        ({"desc": {"ATensor": TENSOR, "OutputTensor": TENSOR}}, "it is not valid", ["missing-field"]),
        ({"inputs": {"ATensor": [1]}}, "it is not valid", ["element-count", "missing-tensor"]),
    ],
)
def test_what_cannot_be_run_stays_with_its_reason(fields: dict[str, Any], reason: str, rules: list[str]) -> None:
    refused = ready(ONE._replace(**fields))
    assert isinstance(refused, Exported)
    assert (refused.case, refused.reason, [problem.rule for problem in refused.problems]) == ("f::one", reason, rules)


def test_what_does_not_fit_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    large = {"DataType": "FLOAT32", "Sizes": [2**20]}
    refused = ready(ONE._replace(desc=dict.fromkeys(ADD, large)))
    assert isinstance(refused, Exported)
    assert [problem.rule for problem in refused.problems] == ["tensor-too-large"]


def test_a_case_for_which_memory_ends_ends_none_of_the_others() -> None:
    def export(case: Case) -> Exported:
        if case.name == "large":
            raise MemoryError
        return Exported(case.id, "folder")

    first, second = each([ONE._replace(id="f::large", name="large"), ONE], export)
    assert (first.reason, [problem.rule for problem in first.problems]) == (
        "it does not fit into memory",
        ["tensor-too-large"],
    )
    assert second.folder == "folder"


def test_an_import_ends_with_a_manifest_of_its_files_and_of_what_it_left_out(tmp_path: Path) -> None:
    def convert(source: str, place: Folder, taken: set[str]) -> Imported:
        name = f"{source}-{len(taken)}.yaml"
        taken.add(source)
        if source == "none":
            return Imported(source, remarks=("left out: it has no cases",))
        place.write(name, b"x")
        return Imported(source, name, 1)

    found = import_all(["a", "none", "b"], str(tmp_path / "made"), "cases", convert)
    assert [one.file for one in found] == ["a-0.yaml", None, "b-2.yaml"]
    manifest = json_of(tmp_path / "made" / "manifest.json")
    assert [entry["source"] for entry in manifest["entries"]] == ["a", "b"]
    assert manifest["left_out"] == [{"source": "none", "reason": "left out: it has no cases"}]
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["a-0.yaml", "b-2.yaml", "manifest.json"]
