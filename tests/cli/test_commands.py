"""The list of commands, the help of each, and what is said of one that does not exist."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from commandline import DESC, GOOD, WRONG, dmlcheck, write

from dmlcheck.cli import COMMANDS, GROUPS, main
from dmlcheck.implementations import KINDS

MODEL = """\
{"resources": {"in": {"initialValuesDataType": "FLOAT32", "initialValues": [1, -2]},
  "out": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0]}},
 "dispatchables": {"relu": {"type": "ACTIVATION_RELU", "desc": {
   "InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}}}},
 "commands": [{"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": "in", "OutputTensor": "out"}},
              {"type": "print", "resource": "out"}]}
"""
# Examples that need what may not be installed, or a file that only another program writes.
NOT_RUN = ("onnx", "--implementation", "Partition_0.bin", "import webnn")
# Examples that take seconds, each of which another test runs.
LONG = ("dmlcheck coverage", "dmlcheck docs -o site", "dmlcheck selfcheck", "dmlcheck show --evidence")


def pages() -> Iterator[tuple[str, str]]:
    """Yield the help of every command and of the commands in it, each with the words that ask for it."""
    for name in COMMANDS:
        yield name, dmlcheck(name, "--help").stdout
        command = main.get_command(click.Context(main), name)
        for inner in command.commands if isinstance(command, click.Group) else ():
            yield f"{name} {inner}", dmlcheck(name, inner, "--help").stdout


PAGES = dict(pages())
EXAMPLES = [line.strip() for page in PAGES.values() for line in page.split("Examples:\n")[-1].splitlines()]


def test_the_commands_stand_in_groups_each_with_its_summary_on_one_line() -> None:
    page = dmlcheck("--help").stdout
    for title, commands in GROUPS.items():
        section = page.split(f"\n{title}:\n")[1].split("\n\n")[0].splitlines()
        assert [line.split(maxsplit=1) for line in section] == [[name, about] for name, about in commands.items()]
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


def test_no_line_of_a_help_page_is_wider_than_80_columns_or_cut() -> None:
    for page in (dmlcheck("--help").stdout.split("The guide:")[0], *PAGES.values()):
        assert max(map(len, page.splitlines())) <= 80
        assert not re.search(r"^  .*\w\.\.\.$", page, re.MULTILINE)


def test_the_help_lists_the_commands_without_importing_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.cli.import_module", None)
    assert dmlcheck("--help").exit_code == 0


@pytest.mark.parametrize("name", PAGES)
def test_the_help_of_a_command_ends_with_examples_of_it(name: str) -> None:
    *_, examples = PAGES[name].split("\n\n")
    title, *lines = examples.rstrip().splitlines()
    assert title == "  Examples:"
    assert any(line.startswith(f"    dmlcheck {name}") for line in lines)


@pytest.fixture(scope="module")
def files_of_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write("argmax.yaml", DESC)
        write("sum.yaml", GOOD)
        write("cases/sum.yaml", WRONG + "cases: [{name: columns}, {name: rows}, {name: all}]\n")
        write("model.json", MODEL)
        write("known.yaml", "")
        for report, shard in (("report", "1/1"), ("1", "1/2"), ("2", "2/2"), ("old", "1/1"), ("new", "1/1")):
            dmlcheck("run", "cases/", "--shard", shard, "--json", f"{report}.json")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("example", dict.fromkeys(EXAMPLES))
def test_an_example_works(example: str, files_of_examples: Path) -> None:
    shutil.copytree(files_of_examples, ".", dirs_exist_ok=True)
    words = shlex.split(example.split(" > ", maxsplit=1)[0])[1:]
    if example in LONG or any(word in example for word in NOT_RUN):
        context = main.make_context("dmlcheck", list(words))
        _, command, rest = main.resolve_command(context, words)
        assert command is not None
        command.make_context(words[0], rest, parent=context)
    else:
        result = dmlcheck(*words)
        assert result.exit_code in (0, 1), result.stderr
        assert result.stdout


def test_the_help_of_run_names_every_implementation() -> None:
    section = PAGES["run"].split("Implementations:\n")[1].split("\n\n")[0]
    for kind in KINDS.values():
        assert re.search(rf"^    {re.escape(kind.spelling)} +{re.escape(kind.about)}$", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("vaidate a.yaml", "there is no command 'vaidate'; did you mean validate?"),
        ("export a.yaml", "Error: Missing option '--to'. Choose from: dxdispatch, onnx"),
        ("import", "Choose from: dxdispatch, onnx, graph, webnn"),
        ("exlpain", "did you mean explain?"),
        ("xyz", "there is no command 'xyz'; `dmlcheck --help` lists the commands"),
        ("validate --fromat json a.yaml", "Did you mean '--format'?"),
        ("explain GEMM", "`dmlcheck show GEMM` shows the operator"),
        ("explain dml_operator_gemm", "`dmlcheck show dml_operator_gemm` shows the operator"),
        ("show output-mismatch", "`dmlcheck explain output-mismatch` explains the rule"),
        ("show GEMM/C3", "`dmlcheck explain GEMM/C3` explains the constraint"),
    ],
)
def test_what_may_be_meant_is_said(words: str, hint: str) -> None:
    result = dmlcheck(*words.split())
    assert result.exit_code == 2
    assert hint in result.stderr
