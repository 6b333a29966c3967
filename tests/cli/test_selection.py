"""Which files and cases paths stand for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import dmlcheck, json_of

from dmlcheck.cli.selection import targets
from dmlcheck.formats.find import each_once
from dmlcheck.specs.load import data_folder

CASE = "operator: ARGMAX\ndesc: {}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of case files the current one."""
    for name in ("a.yaml", "b.json", "sub/c.yml", "sub/.hidden.yaml", ".git/d.yaml", "e.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}" if name.endswith("json") else CASE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(*paths: str) -> list[tuple[str, str | None]]:
    """Return the files and cases that paths stand for."""
    return [(target.name, target.case) for target in targets(paths)]


@pytest.mark.usefixtures("folder")
def test_a_file_is_read_once_however_often_it_is_given() -> None:
    assert files("a.yaml", "./a.yaml", os.path.abspath("a.yaml"), "sub/../a.yaml") == [("a.yaml", None)]
    assert files("a.yaml::x", "a.yaml::y", "a.yaml::x") == [("a.yaml", "x"), ("a.yaml", "y")]
    assert files("a.yaml::x", "a.yaml") == [("a.yaml", None)]
    assert files("missing.yaml", "missing.yaml") == [("missing.yaml", None)]
    assert list(each_once(["a.yaml", "sub/c.yml", "./a.yaml"])) == ["a.yaml", "sub/c.yml"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a.yaml::one", ("a.yaml", "one")),
        ("a.yaml::one::two", ("a.yaml", "one::two")),
        ("a.yaml::", ("a.yaml", "")),
        ("a.yaml::one[A=b::c.yaml]", ("a.yaml", "one[A=b::c.yaml]")),
        ("x::a.yaml", ("x::a.yaml", None)),
        ("x::a.yaml::one", ("x::a.yaml", "one")),
        ("x::a.yaml::one::two", ("x::a.yaml", "one::two")),
        ("x::missing.yaml::one", ("x", "missing.yaml::one")),
        ("missing.yaml::one::two", ("missing.yaml", "one::two")),
        ("missing.yaml", ("missing.yaml", None)),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="a path of Windows has no colons")
def test_a_path_with_colons_is_the_longest_that_exists(
    given: str, expected: tuple[str, str | None], folder: Path
) -> None:
    (folder / "x::a.yaml").write_text(CASE, encoding="utf-8")
    assert files(given) == [expected]


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ('{"schema": "dmlcheck-report/1", "cases": []}', True),
        ('\n{\n  "schema" : "dmlcheck-validation/1"}', True),
        ('{"cases": [], "schema": "dmlcheck-report/1"}', True),
        ('{"schema": "dmlcheck-report/1", "cases": [', True),
        ('{"$schema": "dmlcheck-report/1"}', False),
        ('{"note": "dmlcheck-report/1", "operator": "ARGMAX", "desc": {}}', False),
        ('{"inputs": {"schema": "dmlcheck-report/1"}}', False),
        ('["dmlcheck-report/1"]', False),
        ('{"schema": 3, "note": "dmlcheck-"}', False),
        ("[", False),
        ("", False),
    ],
)
def test_a_report_in_a_folder_is_no_case_file(text: str, is_report: bool, folder: Path) -> None:
    (folder / "report.json").write_text(text, encoding="utf-8")
    (folder / "text.yaml").write_text(json.dumps({"schema": "dmlcheck-report/1"}), encoding="utf-8")
    found = [name for name, _ in files(".")]
    assert ("./report.json" in found) is not is_report
    assert "./text.yaml" in found
    # Whoever names it is told what it is.
    assert files("report.json") == [("report.json", None)]


BUNDLED = "cases/argmax/example.yaml::example"


@pytest.fixture
def bundled(folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the files of one operator be all that is bundled, and return the current folder."""
    installed = tmp_path_factory.mktemp("installed")
    shutil.copytree(Path(data_folder("cases")) / "argmax", installed / "cases" / "argmax")
    monkeypatch.setattr("dmlcheck.formats.find.data_folder", lambda name: str(installed / name))
    return folder


@pytest.mark.usefixtures("bundled")
def test_the_id_of_a_bundled_case_is_accepted_where_its_file_is_not() -> None:
    assert dmlcheck("run", "--list", "-k", "argmax/example").stdout == f"{BUNDLED}\n"
    assert dmlcheck("run", "--list", BUNDLED).stdout == f"{BUNDLED}\n"
    report = dmlcheck("run", BUNDLED, "--json", "r.json", "--junitxml", "j.xml")
    assert report.exit_code == 0
    (case,) = json_of("r.json")["cases"]
    assert (case["id"], case["command"]) == (BUNDLED, f"dmlcheck run {BUNDLED}")
    assert '<testcase classname="cases.argmax.example" name="example"' in Path("j.xml").read_text(encoding="utf-8")
    assert '<testsuite name="cases/argmax/example.yaml"' in Path("j.xml").read_text(encoding="utf-8")
    assert dmlcheck("eval", BUNDLED).stdout.startswith("example:\n")
    assert "is valid" in dmlcheck("validate", BUNDLED.partition("::")[0]).stdout


@pytest.mark.usefixtures("bundled")
def test_an_expectation_names_a_bundled_case_by_its_id() -> None:
    entry = f'- {{cases: "{BUNDLED}", expect: failed, reason: known}}\n'
    Path("known.yaml").write_text(entry, encoding="utf-8")
    for words in (["-k", "argmax/example"], [BUNDLED]):
        # It passes, so that the entry is one that was looked at.
        assert "1 xpassed" in dmlcheck("run", *words, "--expectations", "known.yaml").stdout


@pytest.mark.usefixtures("bundled")
def test_a_file_of_ones_own_comes_before_a_bundled_one() -> None:
    own = Path("cases/argmax/example.yaml")
    own.parent.mkdir(parents=True)
    own.write_text(CASE, encoding="utf-8")
    assert dmlcheck("run", "--list", "cases/argmax/example.yaml").stdout == "cases/argmax/example.yaml::example\n"
    dmlcheck("run", "-k", "argmax/example", "--json", "r.json")
    (case,) = json_of("r.json")["cases"]
    assert case["id"] == BUNDLED
    assert case["command"] == f"dmlcheck run {case['file']}::example" != f"dmlcheck run {BUNDLED}"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("cases/", "dmlcheck run"),
        ("cases", "dmlcheck run"),
        ("cases/gemm", "dmlcheck run -k cases/gemm/"),
        ("./cases/gemm/", "dmlcheck run -k cases/gemm/"),
    ],
)
def test_a_folder_of_bundled_cases_is_not_run_by_its_path_but_said(path: str, command: str) -> None:
    found = dmlcheck("run", path)
    assert found.exit_code == 2
    assert f"dmlcheck: {path} is not here; `{command}` without a path runs the bundled cases\n" in found.stderr
    assert "bundled" not in dmlcheck("run", "other/").stderr
    assert "bundled" not in dmlcheck("run", "cases/../cases/no").stderr


MATRIX = """\
operator: ACTIVATION_RELU
source: by hand
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, "${N}"]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, "${N}"]}
inputs: {InputTensor: {fill: -1}}
outputs: {OutputTensor: {fill: 0}}
cases:
- {name: k, matrix: {N: [1, 2]}}
- {name: kk, matrix: {N: [3]}}
"""


@pytest.mark.slow
def test_listing_needs_no_numpy(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(MATRIX, encoding="utf-8")
    script = (
        "import sys\nfrom dmlcheck.cli import main\ntry:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    print('numpy' in sys.modules)\n"
    )
    words = [sys.executable, "-c", script, "run", "m.yaml::k", "--list"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["m.yaml::k[N=1]", "m.yaml::k[N=2]", "False"]
