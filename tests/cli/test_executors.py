"""`run --executor`: the same report from a cluster, and what is wrong with one as wrong usage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, WRONG, dmlcheck, json_of, many, spawned, write

from dmlcheck.cli.executors import ExecutorParam


@pytest.mark.parametrize(
    ("text", "address"),
    [("local", None), ("dask", ""), ("dask:tcp://h:8786", "tcp://h:8786"), ("dask:127.0.0.1:8786", "127.0.0.1:8786")],
)
def test_an_executor_is_local_or_an_address(text: str, address: str | None) -> None:
    assert ExecutorParam().convert(text, None, None) == address


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
