"""action.yml: its steps run with a shell as GitHub runs them, with inputs as the environment; pip alone is replaced."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from commandline import GOOD, WRONG, json_of
from guide_pages import PAGES, ROOT, blocks, first_column, section

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
# 6.001 is within its tolerance, and a thousandth from the exact sum: more than --strict lets a case expect.
INACCURATE = GOOD.replace("[6]", "[6.001]") + "tolerance: {absolute: 0.1}\n"
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="there is no bash that takes our paths")


def value(text: str, inputs: dict[str, str]) -> str:
    """Return a text of the action with its expressions replaced, which are inputs only."""
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)


class Workflow:
    """A folder in which the steps of the action run, and what they wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work space"
        self.shims = folder / "bin"
        for path in (self.folder, self.shims):
            path.mkdir()
        python = shlex.quote(sys.executable)
        log = shlex.quote(str(folder / "pip.txt"))
        self.shim("python", f'if [ "$1 $2" = "-m pip" ]; then printf "%s\\n" "$@" > {log}; else exec {python} "$@"; fi')
        self.shim("dmlcheck", f'exec {python} -m dmlcheck "$@"')
        self.log = folder / "pip.txt"

    def shim(self, name: str, text: str) -> None:
        path = self.shims / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a step as GitHub's runner does, with some inputs and the others at their defaults."""
        inputs = {key: row["default"] for key, row in ACTION["inputs"].items()} | given
        step = STEPS[name]
        script = self.folder.parent / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        ours = {key: value(text, inputs) for key, text in step.get("env", {}).items()}
        path = f"{self.shims}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "GITHUB_ACTION_PATH": str(ROOT), **ours}
        assert step["shell"] == "bash"
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def report(self, name: str = "dmlcheck-report.json") -> dict[str, Any]:
        return dict(json_of(self.folder / name))


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    return Workflow(tmp_path)


def test_the_inputs_stand_in_the_environment_and_never_in_a_command() -> None:
    assert list(STEPS) == ["Install dmlcheck", "Run dmlcheck"]
    assert not any("${{" in step["run"] for step in STEPS.values())
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])
    assert all(isinstance(row["default"], str) for row in ACTION["inputs"].values())


@pytest.mark.parametrize(
    ("extras", "wanted"),
    [("", str(ROOT)), ("onnxruntime", f"{ROOT}[onnxruntime]"), ("onnx,onnxruntime", f"{ROOT}[onnx,onnxruntime]")],
)
def test_the_checkout_is_installed_with_its_extras(extras: str, wanted: str, workflow: Workflow) -> None:
    assert workflow.run("Install dmlcheck", extras=extras).returncode == 0
    assert workflow.log.read_text(encoding="utf-8").splitlines() == ["-m", "pip", "install", wanted]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (WRONG, 1), ("operator: [", 2), ("cases: []", 5)])
def test_it_ends_as_the_run_does_and_leaves_a_report(text: str, code: int, workflow: Workflow) -> None:
    workflow.write("a.yaml", text)
    ran = workflow.run("Run dmlcheck")
    assert (ran.returncode, workflow.report()["implementation"]) == (code, "reference"), ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("strict", "code"), [("false", 0), ("", 0), ("true", 1)])
def test_strict_fails_what_strict_fails(strict: str, code: int, workflow: Workflow) -> None:
    workflow.write("a.yaml", INACCURATE)
    assert workflow.run("Run dmlcheck", strict=strict).returncode == code
    assert workflow.report()["strict"] is (strict == "true")


def test_strict_is_true_or_false(workflow: Workflow) -> None:
    workflow.write("a.yaml", GOOD)
    ran = workflow.run("Run dmlcheck", strict="yes")
    assert (ran.returncode, ran.stdout) == (2, "::error::strict is neither true nor false\n")


@pytest.mark.slow
def test_the_words_of_an_implementation_stay_together(workflow: Workflow) -> None:
    shutil.copy(ROOT / "tests" / "commands" / "sums.py", workflow.folder / "my sums.py")
    workflow.write("a.yaml", GOOD.replace("FLOAT32", "INT32"))
    ran = workflow.run("Run dmlcheck", implementation="command:python 'my sums.py'")
    assert ran.returncode == 0, ran.stderr
    report = workflow.report()
    assert report["implementation"] != "reference"
    assert report["summary"]["computed"] == 1


@pytest.mark.slow
def test_paths_are_split_at_spaces_and_args_by_their_quotes(workflow: Workflow) -> None:
    for name in ("cases/a.yaml", "cases/b.yaml", "more/c.yaml"):
        workflow.write(name, GOOD)
    ran = workflow.run(
        "Run dmlcheck", paths="cases more", args="-k \"a.yaml or 'c.yaml'\" --shard 1/1 ", report="r 1.json"
    )
    assert ran.returncode == 0, ran.stderr
    assert [case["id"] for case in workflow.report("r 1.json")["cases"]] == ["cases/a.yaml::a", "more/c.yaml::c"]


@pytest.mark.slow
def test_backslashes_of_args_stay(workflow: Workflow) -> None:
    workflow.write("a.yaml", GOOD)
    ran = workflow.run("Run dmlcheck", args=r"--expectations folder\known.yaml")
    assert (ran.returncode, r"folder\known.yaml" in ran.stderr) == (2, True)


def test_a_quote_that_is_not_closed_is_said(workflow: Workflow) -> None:
    workflow.write("a.yaml", GOOD)
    ran = workflow.run("Run dmlcheck", args='-k "a or b')
    assert (ran.returncode, ran.stderr) == (2, "::error::args has a quote that is not closed\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paths", "implementation", "args", "report", "strict"])
def test_no_input_is_run_as_a_command(name: str, workflow: Workflow) -> None:
    workflow.write("a.yaml", GOOD)
    workflow.run("Run dmlcheck", **{name: '$(touch hurt) `touch hurt`; touch hurt; "; touch hurt; #'})
    assert not (workflow.folder / "hurt").exists()
    workflow.run("Install dmlcheck", extras="$(touch hurt) `touch hurt`; touch hurt")
    assert not (workflow.folder / "hurt").exists()


def test_the_example_of_the_guide_has_inputs_of_the_action_and_the_table_all() -> None:
    ci = PAGES["ci.md"]
    (shown,) = [block for block in blocks(ci, "yaml") if "uses: ./tools/dmlcheck" in block.text]
    (given,) = [step["with"] for step in yaml.safe_load(shown.text)["jobs"]["conformance"]["steps"][1:]]
    assert set(given) <= set(ACTION["inputs"])
    assert {"implementation", "extras", "strict"} <= set(given)
    assert set(ACTION["inputs"]) <= set(first_column(ci, "The GitHub Action"))
    assert section(ci, "The GitHub Action")
