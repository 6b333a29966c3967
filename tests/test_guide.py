"""The README and the guide: their files, commands, outputs and links. `--update-snapshots` writes outputs anew."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import numpy as np
import pytest
import yaml
from commandline import json_of
from guide_pages import (
    GUIDE,
    INDEX,
    PAGES,
    PATHS,
    ROOT,
    TUTORIAL,
    as_run,
    blocks,
    commands,
    file_name,
    files,
    first_column,
    inline_commands,
    lay_out,
    packages,
    prose,
    run,
    section,
    works,
)
from onnx_nodes import found, zeros

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.cases.matrix import MAX_CASES
from dmlcheck.cli import main
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.diagnostics.record import MAX_PROBLEMS
from dmlcheck.files.plain import MAX_REPORT
from dmlcheck.files.scalars import MAX_NODES
from dmlcheck.files.yaml import MAX_BYTES
from dmlcheck.implementations import spellings
from dmlcheck.inspection.executed import executed_runs
from dmlcheck.running.expectations import KEYS
from dmlcheck.specs.load import load_spec

CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
KINDS = {"yaml", "console", "sh", "python", "text", "js", "cpp", "json"}
LINES = 150  # of the README
OF_OTHERS = {"-a", "-n", "--lf", "--python-version", "--update-snapshots"}  # of DxDispatch, pytest, pip, our tests


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    kinds = {(name, block.kind) for name, page in PAGES.items() for block in blocks(page)}
    assert {kind for name, kind in kinds if name != "README.md"} <= KINDS
    assert {kind for name, kind in kinds if name == "README.md"} <= {*KINDS, ""}
    assert len(PAGES) >= 7


def test_a_file_is_the_same_on_every_page_that_shows_it() -> None:
    shown = [file for name, page in PAGES.items() if name != TUTORIAL for file in files(page)]
    assert len(set(shown)) == len({name for name, _ in shown})


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_its_commands_print(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    if name != TUTORIAL:
        lay_out(tmp_path)
    path = PATHS[name]
    page, failed = as_run(PAGES[name])
    if request.config.getoption("--update-snapshots"):
        path.write_text(page, encoding="utf-8", newline="\n")
    assert page == path.read_text(encoding="utf-8")
    assert failed == []


def test_a_block_has_something_in_it() -> None:
    assert [name for name, page in PAGES.items() for block in blocks(page) if not block.text.strip()] == []


def test_an_example_in_python_is_a_file_or_has_its_output_below_it() -> None:
    for page in PAGES.values():
        shown = blocks(page)
        for place, block in enumerate(shown, start=1):
            if block.kind == "python" and not file_name(block):
                assert [following.kind for following in shown[place : place + 1]] == ["text"], block.text


RECORDER = """\
import json, shutil, sys
for line, answer in zip(sys.stdin, open("answers.txt", encoding="utf-8")):
    open("requests.txt", "a", encoding="utf-8").write(line)
    asked = json.loads(line)
    for name, path in asked.get("outputs", {}).items():
        shutil.copy(asked["inputs"]["InputTensor"], path)
    print(answer, end="", flush=True)
"""


def test_a_program_is_asked_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    lines = [line for block in blocks(PAGES["implementations.md"], "json") for line in block.text.splitlines()]
    Path("answers.txt").write_text("\n".join(lines[1::2]) + "\n", encoding="utf-8")
    Path("recorder.py").write_text(RECORDER, encoding="utf-8")
    python = Path(sys.executable).as_posix()
    run(f"dmlcheck run relu.yaml --implementation 'command:\"{python}\" recorder.py'")
    requests = Path("requests.txt").read_text(encoding="utf-8")
    assert set(map(in_no_folder, requests.splitlines())) == set(map(in_no_folder, lines[::2]))


def in_no_folder(request: str) -> str:
    """Return a request with the names of its files without their folder."""
    return re.sub(r'"[^"]*[/\\]([^"]*\.npy)"', r'"\1"', request)


def test_the_readme_is_short_and_has_the_two_commands() -> None:
    readme = PAGES["README.md"]
    assert len(readme.splitlines()) <= LINES
    plain = [line for block in blocks(readme) if block.kind == "" for line in commands(block.text)]
    assert plain == [
        "python -m pip install . && dmlcheck run cases/",
        'python -m pip install -e ".[dev]" && python -m pytest -n auto',
    ]


def test_the_example_for_contributors_is_what_the_files_have() -> None:
    shown = blocks(CONTRIBUTING.read_text(encoding="utf-8"), "yaml", "python")
    assert len(shown) == 11
    for block in shown:
        assert block.text.partition("\n")[2] in (ROOT / file_name(block)).read_text(encoding="utf-8"), block.text


def test_the_commands_for_contributors_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    named = inline_commands(CONTRIBUTING.read_text(encoding="utf-8"))
    assert len(named) >= 3
    assert [command for command in dict.fromkeys(named) if not works(command)] == []


def test_the_readme_has_the_share_that_agrees_with_directml() -> None:
    share = re.search(r"(\d+) % of the results agree", PAGES["README.md"])
    assert share
    counts = [run.counts() for run in executed_runs()]
    assert int(share[1]) == min(100 * each.agreed // each.asked for each in counts)


# ---- names and links


def anchors(page: str) -> set[str]:
    """Return what GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [*PATHS.values(), CONTRIBUTING], ids=lambda path: "/".join(path.parts[-2:]))
def test_a_link_leads_somewhere(path: Path) -> None:
    links = [
        link for link in re.findall(r"\]\(([^)]+)\)", prose(path.read_text(encoding="utf-8"))) if "://" not in link
    ]
    for link in links:
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link
        # An installed guide is its own folder, and nothing else of the checkout.
        assert path.parent != GUIDE or target.parent == GUIDE, link


def test_the_readme_links_to_the_index_and_the_index_to_every_page() -> None:
    assert "](dmlcheck/guide/README.md)" in PAGES["README.md"]
    links = re.findall(r"\]\(([^)#]+)\)", PAGES[INDEX])
    assert set(links) == set(PAGES) - {"README.md", INDEX}


@pytest.mark.parametrize("path", [*PATHS.values(), CONTRIBUTING], ids=lambda path: "/".join(path.parts[-2:]))
def test_a_path_that_the_text_names_is_in_the_checkout(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    folders = ("dmlcheck/", "specs/", "cases/", "tests/", ".github/", ".ci/")
    named = [text for text in re.findall(r"`([^`\s]*)`", prose(page)) if text.startswith(folders) and "<" not in text]
    assert [text for text in named if not (ROOT / text).exists()] == []


def options(command: click.Command) -> set[str]:
    """Return the options of a command and of those below it."""
    below = command.commands.values() if isinstance(command, click.Group) and command is not main else ()
    own = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return own.union(*map(options, below))


def test_an_option_that_the_text_names_exists() -> None:
    context = click.Context(main)
    ours = [main.get_command(context, name) for name in main.list_commands(context)]
    known = OF_OTHERS.union(*(options(command) for command in ours if command))
    plugin = (ROOT / "dmlcheck" / "pytest_plugin.py").read_text(encoding="utf-8")
    known |= set(re.findall(r'"(--dmlcheck[\w-]*)"', plugin))
    named = {text for page in PAGES.values() for text in re.findall(r"`(--[a-z][\w-]*|-[a-z])\b", prose(page))}
    assert len(named) > 20
    assert named <= known


def test_what_is_installed_has_that_name() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    there = set(re.findall(r"^(\w+) = \[", project.partition("[project.optional-dependencies]")[2], re.MULTILINE))
    text = "\n".join(PAGES.values())
    assert not re.search(r"(?<!/)dmlcheck\[", text)  # the package is not published: an extra is one of a checkout
    extras = set(re.findall(r"(?:\.|/dmlcheck)\[(\w+)\]", text))
    assert {"dev", "onnx", "onnxruntime"} <= extras <= there


# ---- what the text says of the code


def test_the_tables_have_every_key_exit_code_hook_and_implementation() -> None:
    cases, ci, implementations = (PAGES[name] for name in ("cases.md", "ci.md", "implementations.md"))
    assert {key for cell in first_column(cases, "The keys of a file") for key in cell.split(", ")} == set(CASE_KEYS)
    assert set(first_column(PAGES["commands.md"], "Exit codes")) == {str(int(code)) for code in Exit}
    assert tuple(first_column(PAGES["expectations.md"], "The keys of an entry")) == KEYS
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert re.findall(r"- id: (.*)", section(ci, "pre-commit")) == [hook["id"] for hook in hooks]
    assert all(hook["args"][-1] == "--" for hook in hooks)  # a file may be named `-kx.dml.yaml`
    named = ", ".join(first_column(implementations, "Names"))
    spelt = spellings().replace("onnxruntime[:PROVIDER]", "onnxruntime, onnxruntime:PROVIDER")
    spelt = spelt.replace("directml[:LIBRARY]", "directml, directml:LIBRARY")
    assert named == spelt.replace("recorded:DIR|FILE.npz", "recorded:DIR, recorded:FILE.npz")


@pytest.mark.parametrize(
    "value", [part for cell in first_column(PAGES["cases.md"], "Values") for part in cell.split(" or ")]
)
def test_a_case_may_have_every_value_of_the_table(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    np.save("data/x.npy", np.zeros((2, 2), np.float16))
    tensor = "{DataType: FLOAT16, Sizes: [2, 2]}"
    desc = f"{{InputTensor: {tensor}, OutputTensor: {tensor}}}"
    text = f"operator: ELEMENT_WISE_IDENTITY\ndesc: {desc}\ninputs: {{InputTensor: {value}}}\n"
    Path("case.yaml").write_text(text, encoding="utf-8")
    ran = run("dmlcheck eval case.yaml")
    assert ran.code == 0, ran.text


def test_every_command_is_in_the_table_of_commands() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGES["commands.md"].partition("## ")[0], re.MULTILINE)
    assert sorted(rows) == sorted(main.list_commands(click.Context(main)))


def test_every_option_of_run_is_on_the_page_of_commands() -> None:
    named = set(re.findall(r"`(--?[\w-]+)", PAGES["commands.md"]))
    command = main.get_command(click.Context(main), "run")
    assert command
    given = [parameter.opts for parameter in command.params if isinstance(parameter, click.Option)]
    assert len(given) > 20
    assert [opts for opts in given if not named.intersection(opts)] == []


def test_every_option_of_pytest_is_in_its_table() -> None:
    plugin = (ROOT / "dmlcheck" / "pytest_plugin.py").read_text(encoding="utf-8")
    named = {cell.split()[0] for cell in first_column(PAGES["commands.md"], "Options of pytest")}
    assert named == set(re.findall(r'"(--dmlcheck-[\w-]+)"', plugin))


def test_a_report_has_the_keys_that_the_page_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    run("dmlcheck run sum.yaml --json report.json")
    report = json_of("report.json")
    (case,) = report["cases"]
    part = section(PAGES["reports.md"], "The JSON report")
    cells = dict(re.findall(r"^\| (`.*?) \| (.*) \|$", part, re.MULTILINE))
    assert set(words(" ".join(cells))) <= report.keys()
    assert set(words(cells["`summary`"])) <= report["summary"].keys()
    assert set(words(cells["`cases`"])) <= case.keys()
    diagnostic, output = re.findall(r"Each (?:diagnostic|output) has (.*?)\.(?= |$)", part.replace("\n", " "))
    assert set(words(diagnostic)) <= case["diagnostics"][0].keys()
    assert set(words(output)) <= case["outputs"]["OutputTensor"].keys()
    assert min(len(words(text)) for text in (diagnostic, output, *cells)) >= 1


NODES = {
    "Conv": ([zeros(1, 3, 5, 5), zeros(8, 3, 3, 3), zeros(8)], [zeros(1, 8, 3, 3)], {}),
    "ConvTranspose": ([zeros(1, 3, 5, 5), zeros(3, 4, 3, 3)], [zeros(1, 4, 7, 7)], {}),
    "Gemm": ([zeros(2, 3), zeros(3, 4), zeros(4)], [zeros(2, 4)], {}),
    "MatMul": ([zeros(2, 2, 3), zeros(3, 4)], [zeros(2, 2, 4)], {}),
    "BatchNormalization": ([zeros(2, 3, 4, 4), *[zeros(3)] * 4], [zeros(2, 3, 4, 4)], {}),
    "InstanceNormalization": ([zeros(2, 3, 4, 4), zeros(3), zeros(3)], [zeros(2, 3, 4, 4)], {}),
    "LayerNormalization": ([zeros(2, 3, 4), zeros(4), zeros(4)], [zeros(2, 3, 4)], {}),
    "Softmax": ([zeros(2, 3, 4)], [zeros(2, 3, 4)], {"axis": -2}),
    "ReduceMean": ([zeros(2, 3)], [zeros(2)], {"axes": [-1], "keepdims": 0}),
    "ArgMax": ([zeros(2, 3)], [zeros(2, dtype="int64")], {"axis": -1, "keepdims": 0}),
    "TopK": ([zeros(2, 3), np.array([2])], [zeros(2, 2), zeros(2, 2, dtype="int64")], {}),
    "Concat": ([zeros(2, 3), zeros(2, 1)], [zeros(2, 4)], {"axis": -1}),
    "Where": ([zeros(3, dtype="bool"), zeros(3), zeros(3)], [zeros(3)], {}),
    "Slice": ([zeros(6), np.array([-1]), np.array([-7]), np.array([0]), np.array([-2])], [zeros(3)], {}),
    "Gather": ([zeros(5, 4), np.array([0, 2])], [zeros(2, 4)], {}),
    "Clip": ([zeros(3), np.float32(-1), np.float32(1)], [zeros(3)], {}),
    "Mod": ([zeros(3, dtype="int64"), zeros(3, dtype="int64") + 1], [zeros(3, dtype="int64")], {}),
    "Resize": ([zeros(1, 1, 4, 4), None, np.float32([1, 1, 2, 2])], [zeros(1, 1, 8, 8)], {"mode": "linear"}),
    "Transpose": ([zeros(2, 3)], [zeros(3, 2)], {}),
    "LSTM": ([zeros(3, 1, 2), zeros(1, 8, 2), zeros(1, 8, 2)], [zeros(3, 1, 1, 2)], {"hidden_size": 2}),
}


def test_a_node_of_onnx_becomes_the_operator_of_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (?:from level (\w+))?", PAGES["port.md"], re.MULTILINE)
    assert rows == [
        (name, operator, "" if (level := load_spec(operator).introduced) <= "4_0" else level)
        for name, (inputs, outputs, attributes) in NODES.items()
        for operator in [found(name, inputs, *outputs, **attributes).operator]
    ]
    assert found("Mod", *NODES["Mod"][0:1], *NODES["Mod"][1], fmod=1).operator == "ELEMENT_WISE_MODULUS_TRUNCATE"


def test_the_limits_are_those_of_the_code() -> None:
    text = section(PAGES["cases.md"], "Limits").replace("\n", " ")
    assert f"{MAX_BYTES // 2**20} MiB, {MAX_NODES:,} values and {MAX_CASES:,} cases" in text
    assert f"up to {MAX_REPORT // 2**20} MiB" in text
    assert f"the first {MAX_PROBLEMS:,} are reported" in text
    gate = section(PAGES["ci.md"], "Files from anyone").replace("\n", " ")
    assert f"up to {MAX_BYTES // 2**20} MiB, reports and manifests up to {MAX_REPORT // 2**20} MiB" in gate
    assert f"up to {MAX_CASES:,} cases" in gate
    assert f"up to {MAX_PROBLEMS:,} problems" in gate


def words(text: str) -> list[str]:
    """Return what stands in backticks."""
    return re.findall(r"`(\w+)`", text)


def test_the_map_of_the_code_has_every_package() -> None:
    named = packages(PAGES["code.md"])
    package = ROOT / "dmlcheck"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    assert len(named) == len(set(named))
    assert set(named) == modules | {path.parent.name for path in package.glob("*/__init__.py")}
