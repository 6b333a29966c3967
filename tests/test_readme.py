"""README.md: its files, its commands and what they print."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from dmlcheck.cli import main
from dmlcheck.specs.load import load_spec, operator_names

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
FILES = {text.split("\n", 1)[0].lstrip("# ").partition(":")[0]: text for kind, text in BLOCKS if kind == "yaml"}
SESSIONS = [text for kind, text in BLOCKS if kind == "console"]


def timeless(text: str) -> str:
    """Return a report with its seconds put to 0."""
    return re.sub(r"\d+\.\d\d( s)?$", r"0.00\1", text, flags=re.MULTILINE)


def test_there_are_files_and_sessions_to_check() -> None:
    assert {"sum.yaml", "argmax.yaml", "good.yaml", "columns.yaml"} <= FILES.keys()
    assert len(SESSIONS) >= 4


@pytest.mark.parametrize("session", SESSIONS, ids=lambda text: text.split("\n", 1)[0].removeprefix("$ "))
def test_a_session_prints_what_the_readme_shows(session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command, expected = session.split("\n", 1)
    words = command.removeprefix("$ dmlcheck ").split()
    assert timeless(expected) == timeless(CliRunner().invoke(main, words).stdout)


def make_imports(form: str) -> None:
    """Export the cases, for the folder DIR and the file MODEL.json that an import of the text names."""
    if form == "onnx":
        pytest.importorskip("onnx", reason="only with the extra onnx")
    assert CliRunner().invoke(main, ["export", "--to", form, "cases", "-o", "DIR"]).exit_code == 0
    for model in Path("DIR").glob("**/model.json"):
        shutil.copytree(model.parent, ".", dirs_exist_ok=True)
        Path("model.json").replace("MODEL.json")


@pytest.mark.parametrize("words", [text.split() for text in re.findall(r"`dmlcheck ([^`]*)`", README)], ids=" ".join)
def test_a_command_that_the_text_names_works(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "columns.yaml").write_text(FILES["columns.yaml"], encoding="utf-8")
    CliRunner().invoke(main, ["run", "cases", "--json", "report.json"])
    if words[0] == "import":
        make_imports(words[1])
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stdout != "") == (0, True), result.output


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = (text for kind, text in BLOCKS if kind == "python")
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - the README is ours
    assert capsys.readouterr().out.splitlines() == ["3_0", "[[2050.0]]"]


def test_the_readme_names_the_operators_that_have_kernels() -> None:
    count, text = re.findall(r"reference engine computes (\d+) of them: (.*?)\n\n", README, re.DOTALL)[0]
    words = tuple(f"DML_OPERATOR_{word}" for word in re.findall(r"[A-Z][A-Z_]{4,}", text))
    named = {name for name in operator_names() if name in words or name.startswith(words[-2:])}
    assert named == {name for name in operator_names() if load_spec(name).kernel}
    assert len(named) == int(count)


def test_the_map_of_the_code_has_every_package() -> None:
    rows = README.partition("| package |")[2].partition("\n\n")[0].split("\n")[1:]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    package = ROOT / "dmlcheck"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    assert named == modules | {path.parent.name for path in package.glob("*/__init__.py")}
