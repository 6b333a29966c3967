"""Implementations on the command line."""

from __future__ import annotations

import html
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner
from commandline import GOOD, WRONG, dmlcheck, json_of, many, spawned, write

from dmlcheck.cli import implementations
from dmlcheck.cli.implementations import as_executor, implementation_option, made
from dmlcheck.implementations import Unavailable
from dmlcheck.reports.reading import case_result


def test_an_implementation_is_there_while_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    implementation = Mock()
    monkeypatch.setattr(implementations, "make", Mock(return_value=implementation))
    with made("mine") as given:
        assert given is implementation
        implementation.close.assert_not_called()
    implementation.close.assert_called_once_with()


def test_an_implementation_is_let_go_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    implementation = Mock()
    monkeypatch.setattr(implementations, "make", Mock(return_value=implementation))
    with pytest.raises(KeyError), made("mine"):
        raise KeyError
    implementation.close.assert_called_once_with()


@pytest.mark.parametrize("name", ["nothing", "reference:3", "python:no_such_module_at_all:X"])
def test_what_cannot_be_had_is_a_mistake_of_the_command_line(name: str) -> None:
    with pytest.raises(click.UsageError, match=r"^--implementation: "), made(name):
        pass


def test_what_turns_out_to_be_unavailable_is_one_too() -> None:
    with pytest.raises(click.UsageError, match=r"^--implementation: not here$"), made("reference"):
        raise Unavailable("not here")


def test_the_option_has_the_reference_as_its_default() -> None:
    found: list[Any] = []
    command = click.command()(
        implementation_option("What runs.")(lambda *, implementation: found.append(implementation))
    )
    runner = CliRunner()
    runner.invoke(command, [])
    runner.invoke(command, ["--implementation", "onnxruntime"])
    assert found == ["reference", "onnxruntime"]
    assert "What runs." in runner.invoke(command, ["--help"]).output


RAISING = """
class Raising:
    name = "raising"

    def unsupported(self, desc):
        return None

    def run(self, desc, inputs):
        return {"OutputTensor": inputs["NoTensor"]}  # <b>
"""
LINE = 'return {"OutputTensor": inputs["NoTensor"]}  # <b>'


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_raised_is_in_every_report_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("raising_here.py").write_text(RAISING, encoding="utf-8")
    desc = "InputTensor: {DataType: INT32, Sizes: [1]}, OutputTensor: {DataType: INT32, Sizes: [1]}"
    text = (
        f"operator: ELEMENT_WISE_ABS\ndesc: {{{desc}}}\ninputs: {{InputTensor: [1]}}\noutputs: {{OutputTensor: [1]}}\n"
    )
    Path("abs.yaml").write_text(text, encoding="utf-8")
    files = [f"--{kind}={kind}.out" for kind in ("json", "junitxml", "html", "sarif")]
    words = ["run", "abs.yaml", "--implementation", "python:raising_here:Raising", "-j", jobs, *files]
    brief, whole = (dmlcheck(*words, *more) for more in ([], ["-v"]))
    assert (brief.exit_code, whole.exit_code) == (1, 1)
    assert f"  |     {LINE}\n" in whole.stdout
    assert "  | KeyError: 'NoTensor'\n" in whole.stdout
    assert LINE not in brief.stdout
    assert "  | the traceback: -v prints it\n" in brief.stdout
    (case,) = json_of("json.out")["cases"]
    assert LINE in case["traceback"]
    (result,) = json_of("sarif.out")["runs"][0]["results"]
    assert result["properties"]["traceback"] == case["traceback"]
    escaped = html.escape(LINE)
    assert escaped in Path("html.out").read_text("utf-8")
    assert LINE in html.unescape(Path("junitxml.out").read_text("utf-8"))
    assert case_result(case).traceback == case["traceback"]


# ---- `run --executor`: the same report from a cluster, and what is wrong with one as wrong usage


@pytest.mark.parametrize(
    ("text", "address"),
    [("local", None), ("dask", ""), ("dask:tcp://h:8786", "tcp://h:8786"), ("dask:127.0.0.1:8786", "127.0.0.1:8786")],
)
def test_an_executor_is_local_or_an_address(text: str, address: str | None) -> None:
    assert as_executor(text) == address


@pytest.mark.parametrize("text", ["", "ray", "local:x", "dask:", "Dask"])
def test_another_executor_is_wrong_usage(text: str) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "--executor", text)
    assert result.exit_code == 2
    help = "write local, dask, or dask:ADDRESS such as dask:tcp://host:8786"
    assert f"{text!r} is no executor; {help}" in " ".join(result.stderr.split())


def test_what_does_not_go_with_a_cluster_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "--executor", "dask:tcp://h:1", "-j", "2")
    assert result.exit_code == 2
    said = "-j 2 is for processes of this machine; the cluster at tcp://h:1 has workers of its own"
    assert said in " ".join(result.stderr.split())
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = dmlcheck("run", "a.yaml", "--executor", "dask")
    assert result.exit_code == 2
    assert "--executor dask: it needs the package distributed" in " ".join(result.stderr.split())


def test_a_list_needs_no_cluster() -> None:
    write("a.yaml", GOOD)
    assert dmlcheck("run", "a.yaml", "--list", "--executor", "dask:tcp://h:1").stdout == "a.yaml::a\n"


@pytest.mark.slow
def test_the_report_of_a_cluster_is_that_of_one_process() -> None:
    pytest.importorskip("distributed", reason="there is no dask")
    write("f/a.yaml", many(30))
    write("f/b.yaml", WRONG)
    write("f/c.yaml", "operator: [")
    for name, words in (("here", []), ("there", ["--executor", "dask", "-j", "2"])):
        done = spawned("run", "f", "--json", f"{name}.json", *words)
        assert (done.returncode, done.stderr) == (2, b""), done.stderr
    here, there = (timeless(Path(f"{name}.json")) for name in ("here", "there"))
    assert there == here
    assert here["summary"]["passed"] == 30


def timeless(path: Path) -> Any:
    """Return a report without its times."""
    report = json_of(path)
    for part in (report["summary"], *report["cases"]):
        part.pop("seconds")
    return report
