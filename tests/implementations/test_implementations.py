"""Implementations by name, and what a run makes of what they return."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dmlcheck
from dmlcheck import implementations
from dmlcheck.implementations import (
    KINDS,
    Failure,
    Pair,
    TimedOut,
    Unavailable,
    Unsupported,
    is_invalid_argument,
    make,
    make_all,
)
from dmlcheck.implementations.protocol import Reference, adapted

CASE = """
operator: REDUCE
desc:
  Function: SUM
  InputTensor: {DataType: INT32, Sizes: [2, 2]}
  OutputTensor: {DataType: INT32, Sizes: [1, 2]}
  Axes: [0]
inputs: {InputTensor: [1, 2, 3, 4]}
"""


def run(tmp_path: Any, answer: Any) -> Any:
    path = tmp_path / "case.yaml"
    path.write_text(CASE, encoding="utf-8")

    def answered(*_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    mine = SimpleNamespace(name="mine", unsupported=lambda _: None, run=answered)
    (result,) = dmlcheck.run_cases(dmlcheck.load_cases(path), mine)
    return result


@pytest.mark.parametrize("name", ["", "referenc", "reference:x", "dxdispatch", "command:", "recorded", "python:x"])
def test_a_name_that_is_none_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(Unavailable, match="is not an implementation"):
        make(name)


def test_a_kind_is_known_by_the_word_before_what_follows_it() -> None:
    words = ["reference", "onnxruntime", "directml", "dxdispatch", "recorded", "command", "python"]
    assert list(KINDS) == words


def test_the_reference_says_its_version() -> None:
    reference = make("reference")
    assert reference.about == (dmlcheck.__version__, f"NumPy {np.__version__}", "")
    reference.close()


def test_an_implementation_need_not_say_what_it_is() -> None:
    assert adapted(SimpleNamespace(name="mine")).about == ("", "", "")
    adapted(SimpleNamespace(name="mine")).close()


@pytest.mark.parametrize("error", [RuntimeError("no\nanswer"), SystemExit("no\nanswer")])
def test_a_failure_to_end_is_told_and_costs_no_report(caplog: pytest.LogCaptureFixture, error: BaseException) -> None:
    def close() -> None:
        raise error

    adapted(SimpleNamespace(name="mine", close=close)).close()
    assert caplog.messages == [f"dmlcheck: mine raised {type(error).__name__} when it was closed: no answer"]


def test_a_property_that_raises_in_the_place_of_close_is_told(caplog: pytest.LogCaptureFixture) -> None:
    class Mine:
        name = "mine"

        @property
        def close(self) -> None:
            raise OSError("no device")

    adapted(Mine()).close()
    assert caplog.messages == ["dmlcheck: mine raised OSError when it was closed: no device"]


@pytest.mark.parametrize("values", [[4, 6], [4, 7]])
def test_a_case_without_outputs_is_compared_with_the_reference(tmp_path: Any, values: list[int]) -> None:
    result = run(tmp_path, {"OutputTensor": np.array([values], dtype=np.int32)})
    assert result.outcome == ("passed" if values == [4, 6] else "failed")
    assert result.outputs["OutputTensor"].elements == 2


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "mine returned NoneType instead of its outputs by name"),
        ({}, "mine returned no OutputTensor"),
        ({"OutputTensor": [4, 6]}, "mine returned list for OutputTensor instead of an array"),
        (Failure("answered E_FAIL"), "mine answered E_FAIL"),
        (OSError("gone"), "mine raised OSError: gone"),
    ],
)
def test_what_is_no_result_is_an_error(tmp_path: Any, answer: Any, problem: str) -> None:
    result = run(tmp_path, answer)
    assert result.outcome == "error"
    assert [(found.rule, found.message) for found in result.diagnostics] == [("implementation-error", problem)]


def test_what_cannot_be_run_is_skipped_and_what_takes_too_long_is_a_timeout(tmp_path: Any) -> None:
    skipped = run(tmp_path, Unsupported("no INT32 sums"))
    assert (skipped.outcome, skipped.reason) == ("skipped", "unsupported-by-implementation: no INT32 sums")
    late = run(tmp_path, TimedOut("2"))
    assert (late.outcome, [found.rule for found in late.diagnostics]) == ("error", ["timeout"])


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("E_INVALIDARG", True),
        ("HRESULT 0x80070057: the parameter is incorrect", True),
        ("80070057", True),
        ("failed with -2147024809.", True),
        ("0x800700570", False),
        ("0x180070057", False),
        ("-21470248090", False),
        ("E_FAIL", False),
        ("", False),
    ],
)
def test_directml_refuses_descs_with_one_error(text: str, *, is_so: bool) -> None:
    assert is_invalid_argument(text) is is_so


def test_an_implementation_refuses_descs_where_it_says_so() -> None:
    assert [adapted(SimpleNamespace(**said)).validates for said in ({}, {"validates": False}, {"validates": True})] == [
        False,
        False,
        True,
    ]


MODULE = """
class {name}:
    name = "mine"

    def __init__(self):
        {init}

    def unsupported(self, desc):
        import {helper}
        return {helper}.REASON

    def run(self, desc, inputs):
        return {{}}
"""


def write_module(folder: Path, stem: str, *, init: str = "pass") -> None:
    text = MODULE.format(name="Mine", init=init, helper=f"{stem}_helper")
    (folder / f"{stem}.py").write_text(text, encoding="utf-8")
    (folder / f"{stem}_helper.py").write_text('REASON = "asked"\n', encoding="utf-8")


def test_a_module_is_found_in_the_current_folder_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = list(sys.path)
    monkeypatch.setattr(sys, "path", [*path])
    monkeypatch.chdir(tmp_path)
    write_module(tmp_path, "mine_in_this_folder")
    mine: Any = make("python:mine_in_this_folder:Mine")
    assert mine.unsupported(None) == "asked"  # a module that it imports only now
    assert sys.path == [*path, str(tmp_path)]  # and hides nothing that others import
    make("python:mine_in_this_folder:Mine")
    assert sys.path == [*path, str(tmp_path)]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "run(self, operator, desc, inputs)",
            r"is called with run\(desc, inputs\), and its method is run\(operator, desc, inputs\): ",
        ),
        ("unsupported(self)", r"is called with unsupported\(desc\), and its method is unsupported\(\): "),
        (
            "run_model(self, model)",
            r"with run_model\(model, inputs, names\), and its method is run_model\(model\): ",
        ),
    ],
)
def test_a_method_takes_what_it_is_called_with(
    method: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    module = f"mine_with_another_{method.partition('(')[0]}"
    (tmp_path / f"{module}.py").write_text(f"class Mine:\n    def {method}: ...\n", encoding="utf-8")
    with pytest.raises(Unavailable, match=message):
        make(f"python:{module}:Mine")


def test_an_object_that_computes_nothing_is_no_implementation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_without_run.py").write_text("class Mine:\n    name = 'mine'\n", encoding="utf-8")
    with pytest.raises(Unavailable, match=r"^python:mine_without_run:Mine has no method run, .* and no run_model"):
        make("python:mine_without_run:Mine")


def test_an_implementation_without_a_name_has_that_of_its_class() -> None:
    assert adapted(type("Mine", (), {})()).name == "Mine"
    assert adapted(type("Mine", (), {"name": "engine"})()).name == "engine"


def test_what_cannot_be_made_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    write_module(tmp_path, "mine_without_device", init='raise OSError("no device")')
    with pytest.raises(Unavailable) as caught:
        make("python:mine_without_device:Mine")
    place = tmp_path / "mine_without_device.py"
    assert str(caught.value).endswith(f":Mine cannot be made: OSError: no device ({place}:6)")
    with pytest.raises(Unavailable, match=r"ModuleNotFoundError: No module named 'no_such_module_here'$"):
        make("python:no_such_module_here:Mine")


def test_a_script_that_ends_the_process_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script_that_ends.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    with pytest.raises(Unavailable, match=r"^python:script_that_ends:Mine cannot be made: SystemExit: 0 \(.*:2\)$"):
        make("python:script_that_ends:Mine")


def test_an_object_that_cannot_say_what_it_is_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    text = "class Mine:\n    @property\n    def version(self):\n        raise OSError('no device')\n"
    (tmp_path / "mine_without_version.py").write_text(text, encoding="utf-8")
    with pytest.raises(Unavailable, match=r":Mine cannot be made: OSError: no device \(.*:4\)$"):
        make("python:mine_without_version:Mine")


def test_an_exception_without_words_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    wordless = "class Wordless(Exception):\n    def __str__(self):\n        raise TypeError\n"
    (tmp_path / "mine_without_words.py").write_text(f"{wordless}raise Wordless\n", encoding="utf-8")
    with pytest.raises(Unavailable, match=r"cannot be made: Wordless: <exception str\(\) failed> "):
        make("python:mine_without_words:Mine")


@pytest.mark.parametrize("member", ["name", "is_directml", "validates", "unsupported", "run", "run_model", "errors"])
def test_an_object_that_raises_where_it_is_asked_about_itself_cannot_be_made(
    member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    rest = "" if member == "run" else "    def run(self, desc, inputs):\n        return {}\n"
    text = f"class Mine:\n    @property\n    def {member}(self):\n        raise OSError('no device')\n{rest}"
    (tmp_path / f"mine_raising_{member}.py").write_text(text, encoding="utf-8")
    with pytest.raises(Unavailable, match=r":Mine cannot be made: OSError: no device \(.*:4\)$"):
        make(f"python:mine_raising_{member}:Mine")


# ---- the implementations of a run with two of them


def test_one_name_makes_no_pair() -> None:
    assert isinstance(make_all("reference", None, None), Reference)


def test_a_pair_is_its_first_one_where_it_is_asked() -> None:
    both = Pair(SimpleNamespace(name="a", is_directml=True), SimpleNamespace(name="b"))
    assert (both.name, both.is_directml) == ("a", True)
    assert both.version == ""  # the first one has none


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)])
def test_either_may_crash_and_both_must_keep_the_time(first: bool, second: bool) -> None:
    both = Pair(*(SimpleNamespace(may_crash=each, keeps_time=each) for each in (first, second)))
    assert both.may_crash
    assert not both.keeps_time
    assert Pair(SimpleNamespace(keeps_time=True), SimpleNamespace(keeps_time=True)).keeps_time


def test_both_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    def made(name: str, timeout: float | None) -> SimpleNamespace:
        if name == "none":
            raise Unavailable(name)
        return SimpleNamespace(close=lambda: closed.append(f"{name} {timeout}"))

    monkeypatch.setattr(implementations, "make", made)
    make_all("a", "b", 3.0).close()
    assert closed == ["a 3.0", "b 3.0"]
    with pytest.raises(Unavailable):
        make_all("a", "none", None)
    assert closed[2:] == ["a None"]
