"""Which reports a command writes, and where it may not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import GOOD, WRONG, dmlcheck, json_of, write

KINDS = ["json", "junitxml", "html", "sarif"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_goes_through_no_link(folder: Path, kind: str) -> None:
    write("a.yaml", GOOD)
    write("mine", "")
    (folder / "link").symlink_to("mine")
    result = dmlcheck("run", "a.yaml", f"--{kind}", "link")
    assert (result.exit_code, "link: is a link; name the file that it leads to" in result.stderr) == (2, True)
    assert ((folder / "link").is_symlink(), (folder / "mine").read_text("utf-8")) == (True, "")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_takes_the_place_of_an_earlier_one_and_of_no_other_file(folder: Path, kind: str) -> None:
    write("a.yaml", WRONG)
    for code in (1, 1):
        assert dmlcheck("run", "a.yaml", f"--{kind}", "report").exit_code == code
    for number, other in enumerate(other for other in KINDS if other != kind):
        dmlcheck("run", "a.yaml", f"--{other}", f"other{number}")
    write("other3", '{"mine": 1}')
    write("other4", "<p>mine</p>")
    write("other5", GOOD)
    write("other6", "\0")
    for number in range(7):
        before = (folder / f"other{number}").read_bytes()
        result = dmlcheck("run", "a.yaml", f"--{kind}", f"other{number}")
        assert (result.exit_code, "is no earlier report of this kind; remove it" in result.stderr) == (2, True)
        assert (folder / f"other{number}").read_bytes() == before


def test_an_empty_file_and_the_null_device_take_a_report() -> None:
    write("a.yaml", GOOD)
    write("r.json", "")
    result = dmlcheck("run", "a.yaml", "--json", "r.json", "--html", os.devnull, "--sarif", os.devnull)
    assert result.exit_code == 0
    assert json_of("r.json")["summary"]["passed"] == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are other things there")
def test_a_report_may_go_into_a_pipe(folder: Path) -> None:
    write("a.yaml", GOOD)
    os.mkfifo(folder / "pipe")
    with subprocess.Popen([sys.executable, "-m", "dmlcheck", "run", "a.yaml", "--json", "pipe"]) as process:
        report = json_of(folder / "pipe")
        assert process.wait(timeout=60) == 0
    assert report["summary"]["passed"] == 1
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("path", ["", ".", "missing/report.json"])
def test_a_report_that_cannot_be_written_is_refused_before_the_run(path: str) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "--json", path)
    assert result.exit_code == 2
    assert "passed" not in result.stdout
    assert "--json" in result.stderr


@pytest.mark.parametrize(
    "words", [["--json", "a.yaml"], ["--json", "x", "--junitxml", "x"], ["--sarif", "x", "--html", "./x"]]
)
def test_a_report_takes_the_place_of_nothing_that_is_needed(words: list[str]) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", *words)
    assert result.exit_code == 2
    assert Path("a.yaml").read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize("actions", ["", "true"])
@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("concise", ["wrong.yaml:", "1 failed in "]),
        ("github", ["::error file=wrong.yaml,line=", "1 failed in "]),
    ],
)
def test_a_run_prints_in_the_form_that_is_asked_for(
    form: str, begins: list[str], actions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", actions)
    write("wrong.yaml", WRONG)
    result = dmlcheck("run", "wrong.yaml", "--format", form)
    lines = [line for line in result.stdout.splitlines() if form == "github" or not line.startswith("::")]
    assert (result.exit_code, len(lines)) == (1, 2)
    assert [line.startswith(start) for line, start in zip(lines, begins, strict=True)] == [True, True]
    assert "output-mismatch" in lines[0]


def test_one_of_its_formats_is_asked_for() -> None:
    result = dmlcheck("run", "--format", "xml")
    assert (result.exit_code, "'full', 'concise', 'github'" in result.stderr) == (2, True)


@pytest.mark.slow
def test_long_words_about_a_case_are_cut_in_every_report(folder: Path) -> None:
    """A megabyte in each of 20 cases, which fail."""
    text = "s" * 1_000_000
    cases = "".join(f"- {{name: c{index}}}\n" for index in range(20))
    write("a.yaml", WRONG + f"source: {text}\ntolerance: {{absolute: 0.5, reason: {text}}}\ncases:\n{cases}")
    result = dmlcheck("run", "a.yaml", *(word for kind in KINDS for word in (f"--{kind}", f"r.{kind}")))
    assert result.exit_code == 1
    for written in (result.output, *((folder / f"r.{kind}").read_text("utf-8") for kind in KINDS)):
        assert "s" * 1000 not in written
        assert len(written) < 250_000
