"""Completion in shells: the scripts, run by the shells that there are, and what dmlcheck answers them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from commandline import dmlcheck, spawned

from dmlcheck.cli import main

SHELLS = ("bash", "zsh", "fish", "powershell")
PROGRAM = {"powershell": "pwsh"}
SCRIPTS = {
    "bash": """
        eval "$(dmlcheck completion bash)"
        COMP_WORDS=(dmlcheck ex) COMP_CWORD=1
        _dmlcheck_completion dmlcheck 2>/dev/null
        printf '%s\\n' "${COMPREPLY[@]}"
        """,
    "zsh": """
        compdef() { registered=$1 }
        compadd() { }
        _describe() { print -l ${${(P)3}%%:*} }
        eval "$(dmlcheck completion zsh)"
        words=(dmlcheck ex) CURRENT=2
        $registered
        """,
    "fish": "dmlcheck completion fish | source; complete --do-complete 'dmlcheck ex' | string replace -r '\\t.*' ''",
    "powershell": """
        dmlcheck completion powershell | Out-String | Invoke-Expression
        (TabExpansion2 'dmlcheck ex' 11).CompletionMatches.CompletionText
        """,
}


def answer(shell: str, *words: str) -> list[str]:
    """Return what dmlcheck answers the script of a shell about a line of words, the last of which is at the cursor."""
    line = ("dmlcheck", *words)
    if shell == "powershell":
        asked = {"COMP_WORDS": "\n".join(word for word in line if word), "COMP_CWORD": words[-1]}
    elif shell == "fish":
        asked = {"COMP_WORDS": "\n".join(line), "COMP_CWORD": words[-1]}
    else:
        asked = {"COMP_WORDS": "\n".join(line), "COMP_CWORD": str(len(words))}
    environment = {"_DMLCHECK_COMPLETE": f"{shell}_complete", **asked}
    result = CliRunner().invoke(main, [], prog_name="dmlcheck", env=environment, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_that_runs_the_script_completes_commands(shell: str, tmp_path: Path) -> None:
    program = shutil.which(PROGRAM.get(shell, shell))
    if program is None or (sys.platform == "win32" and shell != "powershell"):
        pytest.skip(f"no {shell} here")
    if sys.platform == "win32":
        (tmp_path / "dmlcheck.cmd").write_text(f'@"{sys.executable}" -m dmlcheck %*\n', encoding="utf-8")
    else:
        (tmp_path / "dmlcheck").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dmlcheck "$@"\n', encoding="utf-8")
        (tmp_path / "dmlcheck").chmod(0o755)
    paths = (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", ""))
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(tmp_path), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"], "powershell": ["-NoProfile"]}[shell]
    command = [program, *options, "-Command" if shell == "powershell" else "-c", SCRIPTS[shell]]
    result = subprocess.run(command, capture_output=True, env=environment, check=False, timeout=120)
    assert result.stdout.decode().split() == ["expectations", "explain", "export"], result.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_names_the_program_and_the_variable(shell: str) -> None:
    script = dmlcheck("completion", shell).stdout
    assert "_DMLCHECK_COMPLETE" in script
    assert f"{shell}_complete" in script
    assert "%(" not in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ex",), ["expectations", "explain", "export"]),
        (("show", "gem"), ["GEMM"]),
        (("explain", "size-"), ["size-mismatch"]),
        (("validate", "--feature-level", "6"), ["6_0", "6_1", "6_2", "6_3", "6_4"]),
        (("validate", "--all"), ["--all-levels"]),
        (("run", "--implementation", "o"), ["onnxruntime"]),
        (("coverage", "--operator", "ARGM"), ["ARGMAX", "ARGMIN"]),
        (("completion", ""), ["bash", "zsh", "fish", "powershell"]),
        (("export", "--to", ""), ["dxdispatch", "onnx"]),
    ],
)
def test_names_are_completed(words: tuple[str, ...], expected: list[str]) -> None:
    assert answer("bash", *words) == [f"plain,{name}" for name in expected]
    assert [line.split("\t")[:2] for line in answer("powershell", *words)] == [["plain", name] for name in expected]


@pytest.mark.parametrize(
    "words",
    [("validate", "ca"), ("run", ""), ("eval", ""), ("run", "--json", ""), ("export", "--to", "onnx", "-o", ""),
     ("merge", ""), ("expectations", "update", ""), ("import", "onnx", "")],
)  # fmt: skip
def test_files_are_left_to_the_shell(words: tuple[str, ...]) -> None:
    assert answer("bash", *words) == [f"file,{words[-1]}"]
    assert answer("powershell", *words) == [f"file\t{words[-1]}\t{words[-1]}"]


def test_powershell_is_told_what_a_command_does_and_may_quote_words() -> None:
    assert answer("powershell", "val") == ["plain\tvalidate\tIs a desc valid, and from which feature level on?"]
    assert answer("powershell", "'show'", "'GEM'") == ["plain\tGEMM\tGEMM"]


@pytest.mark.slow
def test_a_process_of_its_own_knows_powershell() -> None:
    result = spawned(_DMLCHECK_COMPLETE="powershell_complete", COMP_WORDS="dmlcheck\nval", COMP_CWORD="val")
    assert result.stdout.decode().startswith("plain\tvalidate\t")
