"""One command records what a build of DirectML answers: a column of letters beside those of the other builds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import record_answers
import recorded_answers as record
from asked_library import E_INVALIDARG, AskedLibrary
from recorded_answers import Descs, Recorded, Shipped

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure

ADD = '{"ATensor":TENSOR,"BTensor":TENSOR,"OutputTensor":TENSOR}'


def row(size: int, letters: str) -> Recorded:
    tensor = f'{{"DataType":"FLOAT32","Sizes":[{size}]}}'
    return Recorded("valid", "ELEMENT_WISE_ADD", letters, ADD.replace("TENSOR", tensor))


def case(size: int) -> Case:
    tensor = {"DataType": "FLOAT32", "Sizes": [size]}
    return Case(f"a.yaml::{size}", "a", "a.yaml", "ELEMENT_WISE_ADD", None, dict.fromkeys(NAMES, tensor))


NAMES = ("ATensor", "BTensor", "OutputTensor")
KNOWN = Descs(("1.4.0", "1.15.4"), [row(1, ".X"), row(2, "X."), row(3, "..")])


def of_size(answers: dict[int, Any]) -> Callable[[OperatorDesc], int]:
    def answer(desc: OperatorDesc) -> int:
        found = answers[desc["ATensor"].sizes[0]]
        if isinstance(found, Exception):
            raise found
        return int(found)

    return answer


def test_a_new_build_has_a_letter_at_its_place() -> None:
    library = AskedLibrary(of_size({1: 0, 2: E_INVALIDARG, 3: 0x8000FFFF}), "1.8.2")
    found, out = record_answers.with_descs(KNOWN, library)
    assert found.builds == ("1.4.0", "1.8.2", "1.15.4")
    assert [each.letters for each in found.rows] == ["..X", "XX.", ".F."]
    assert ([each.text for each in found.rows], out) == ([each.text for each in KNOWN.rows], [])


def test_a_build_that_is_there_gets_other_letters() -> None:
    found, _ = record_answers.with_descs(KNOWN, AskedLibrary(E_INVALIDARG, "1.15.4"))
    assert (found.builds, [each.letters for each in found.rows]) == (KNOWN.builds, [".X", "XX", ".X"])


@pytest.mark.parametrize("answer", [Failure("ended with SIGSEGV"), 0x8007000E])
def test_a_desc_without_an_answer_is_taken_out(answer: Any) -> None:
    found, out = record_answers.with_descs(KNOWN, AskedLibrary(of_size({1: 0, 2: answer, 3: 0}), "1.16.0"))
    assert ([each.letters for each in found.rows], out) == ([".X.", "..."], [KNOWN.rows[1]])


def test_shipped_descs_are_those_that_are_there_now() -> None:
    known = Shipped(("1.4.0", "1.15.4"), {record.key_of(case(1)): ".X", "0123456789": "XX"})
    found = record_answers.with_shipped(known, [case(1), case(2), case(1)], AskedLibrary(0, "1.9.1"))
    assert found.builds == ("1.4.0", "1.9.1", "1.15.4")
    assert found.letters == {record.key_of(case(1)): "..X", record.key_of(case(2)): "?.?"}


def test_a_shipped_desc_without_an_answer_is_named() -> None:
    library = AskedLibrary(Failure("ended with SIGSEGV"), "1.9.1")
    with pytest.raises(record_answers.Unrecorded, match=r"a\.yaml::1: the library ended with SIGSEGV"):
        record_answers.with_shipped(Shipped((), {}), [case(1)], library)


def test_builds_are_in_the_order_of_their_versions() -> None:
    assert record_answers.in_order(["1.15.4", "1.3.0-dev2", "1.9.0", "1.0.200610", "1.9.0"]) == (
        "1.0.200610", "1.3.0-dev2", "1.9.0", "1.15.4",
    )  # fmt: skip


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    record.write_descs(KNOWN, tmp_path / "descs.txt.gz")
    assert record.read_descs(tmp_path / "descs.txt.gz") == KNOWN
    shipped = Shipped(("1.4.0", "1.15.4"), {"b": ".X", "a": "X."})
    record.write_shipped(shipped, tmp_path / "answers.txt.gz")
    assert record.read_shipped(tmp_path / "answers.txt.gz") == shipped


def test_the_command_writes_both_records(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    written: list[Any] = []
    library = AskedLibrary(of_size({1: 0, 2: Failure("ended"), 3: 0}), "1.16.0")
    monkeypatch.setattr(record_answers.DirectMLLibrary, "to_ask", lambda place: library if place == "x.dll" else None)
    monkeypatch.setattr(record_answers, "load_cases", lambda _: [case(1)])
    monkeypatch.setattr(record, "read_shipped", lambda: Shipped(("1.4.0",), {}))
    monkeypatch.setattr(record, "read_descs", lambda: KNOWN)
    monkeypatch.setattr(record, "write_shipped", written.append)
    monkeypatch.setattr(record, "write_descs", written.append)
    assert record_answers.main(["x.dll"]) == 0
    assert [found.builds for found in written] == [("1.4.0", "1.16.0"), ("1.4.0", "1.15.4", "1.16.0")]
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("taken out: ELEMENT_WISE_ADD {")
    assert said[1] == "DirectML 1.16.0: 1 shipped descs, 2 others"
    assert "RELEASES" in said[2]
    monkeypatch.setattr(record_answers, "load_cases", lambda _: [case(2)])
    written.clear()
    assert (record_answers.main(["x.dll"]), written) == (1, [])
    assert capsys.readouterr().out == "nothing is written: a.yaml::2: the library ended\n"
