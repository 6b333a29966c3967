"""The command line as a whole: its commands, what their exit codes say, and wrong ones."""

from __future__ import annotations

import json
import os
import platform
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from commandline import DESC, GOOD, ILLEGAL, WRONG, dmlcheck, spawned, write

from dmlcheck import __version__
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import NEWEST_LEVEL

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("text", "run", "validate"),
    [
        (GOOD, 0, 0),
        (WRONG, 1, 0),
        (ILLEGAL, 1, 1),
        (DESC, 0, 0),
        ("operator: [", 2, 2),
        ("operator: REDUCE\n", 2, 2),
        ("cases: []\n", 5, 5),
        ("", 2, 2),
        (GOOD + "tolerence: exact\n", 2, 2),
        (GOOD.replace("REDUCE", "REDUZE"), 1, 1),
        (GOOD.replace("[1, 2, 3]", "[1, 2]"), 1, 0),
    ],
)
def test_the_exit_code_says_what_is_wrong(text: str, run: int, validate: int) -> None:
    write("a.yaml", text)
    assert dmlcheck("run", "a.yaml").exit_code == run
    assert dmlcheck("validate", "a.yaml").exit_code == validate


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--no-such-option"],
        ["no-such-command"],
        ["validate", "missing.yaml"],
        ["validate"],
        ["eval"],
        ["run", "--feature-level", "9_9"],
        ["run", "-k", "(argmax"],
        ["show", "DML_OPERATOR_REDUZE"],
        ["explain", "no-such-rule"],
        ["run", "--max-failures", "0"],
        ["run", "--accumulate", "float8"],
    ],
)
def test_a_wrong_command_line_exits_with_2_and_says_why(words: list[str]) -> None:
    result = dmlcheck(*words)
    assert result.exit_code == 2
    assert result.output.strip()
    assert "Traceback" not in result.output


def test_a_misspelt_name_on_the_command_line_finds_the_closest() -> None:
    assert "did you mean DML_OPERATOR_REDUCE?" in dmlcheck("show", "DML_OPERATOR_REDUZE").stderr
    assert "did you mean size-mismatch?" in dmlcheck("explain", "size-mismach").stderr


def test_standard_input_is_a_file() -> None:
    assert dmlcheck("validate", "-", stdin=DESC).stdout == (
        "-: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)\n"
    )
    result = dmlcheck("validate", "-", stdin=json.dumps({"operator": "REDUCE", "desc": {}}))
    assert result.exit_code == 1
    assert "-:1:24: error[missing-field]" in result.stdout
    assert dmlcheck("eval", "-", stdin=GOOD).stdout == '"-":\n  OutputTensor: [6]\n'


def test_the_version_is_that_of_the_package() -> None:
    own, computing, tables = dmlcheck("--version").stdout.splitlines()
    assert own == f"dmlcheck, version {__version__}"
    assert computing == f"NumPy {np.__version__}, Python {platform.python_version()}"
    count, newest = len(operator_names()), NEWEST_LEVEL
    assert tables == f"tables of DirectML 1.15: {count} operators, feature levels up to {newest}"
    assert spawned("--version").stdout.decode().splitlines() == [own, computing, tables]


def workflow() -> str:
    return (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_the_index_says_which_versions_of_python_are_run() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    said = set(re.findall(r'Python :: (3\.\d+)"', project))
    assert said == set(re.findall(r'"(3\.\d+)"', workflow()))


def test_each_package_has_a_job_for_its_tests() -> None:
    """PyTorch's tests, and its acceptance, have the job of the implementations, which installs it."""
    jobs = yaml.safe_load(workflow())["jobs"]
    named = set(jobs["package"]["strategy"]["matrix"]["package"])
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    assert named == folders - {"pytorch", "acceptance"}


def test_the_help_ends_with_the_folder_of_the_guide() -> None:
    folder = dmlcheck("--help").stdout.splitlines()[-1].partition("The guide: ")[2]
    assert {"README.md", "tutorial.md", "harness.cpp"} <= set(os.listdir(folder))


@pytest.mark.parametrize("command", ["run", "validate", "eval", "show", "explain", "schema", "selfcheck"])
def test_every_command_has_help(command: str) -> None:
    result = dmlcheck(command, "--help")
    assert (result.exit_code, result.stdout.startswith("Usage:")) == (0, True)
    assert f"  {command} " in dmlcheck("--help").stdout
