"""Cases on their way to another format: which can go, and what becomes of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commandline import json_of

from dmlcheck.cases.records import Case
from dmlcheck.folders.export_folder import Folder
from dmlcheck.folders.exporting import Exported, Imported, Ready, each, import_all, ready
from dmlcheck.values import memory

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
