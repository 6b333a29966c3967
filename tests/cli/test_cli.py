"""The command line: exit codes, selection, standard input, streams, interruption."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from dmlcheck import __version__
from dmlcheck.cli import console, main
from dmlcheck.reference import engine

ROOT = Path(__file__).parent.parent.parent
FILES = Path(__file__).parent.parent / "snapshots" / "files"
GOOD = """\
operator: DML_OPERATOR_REDUCE
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
  Axes: [0]
inputs: {InputTensor: [1, 2, 3]}
outputs: {OutputTensor: [6]}
"""
WRONG = GOOD.replace("[6]", "[7]")
ILLEGAL = GOOD.replace("Axes: [0]", "Axes: [1]")
DESC = GOOD.partition("inputs")[0]


def dmlcheck(*words: str, stdin: str = "") -> Result:
    """Run a command in this process, letting bugs show as tracebacks."""
    return CliRunner().invoke(main, words, input=stdin, catch_exceptions=False)


def spawned(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "dmlcheck", *words]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=False, timeout=60)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    """Write a file, with the folders that its name has, and return the name."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


# ---- exit codes


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
        ("cases: 3\n", 2, 2),
        ("", 2, 2),
        ("- 1\n", 2, 2),
        (GOOD + "tolerence: exact\n", 2, 2),
        (GOOD.replace("REDUCE", "REDUZE"), 1, 1),
        (GOOD.replace("[1, 2, 3]", "[1, 2]"), 1, 0),
        (GOOD.replace("[1, 2, 3]", "[1, 2, x]"), 1, 0),
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
        ["run", "missing.yaml"],
        ["validate", "missing.yaml"],
        ["validate"],
        ["eval"],
        ["run", "--feature-level", "9_9"],
        ["validate", "--feature-level", "", "a.yaml"],
        ["run", "-k", "(argmax"],
        ["run", "-k", "argmax and"],
        ["show", "DML_OPERATOR_REDUZE"],
        ["explain", "no-such-rule"],
        ["explain", "REDUCE/C99"],
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


def test_an_empty_folder_collects_nothing(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert dmlcheck("run", "empty").exit_code == 5
    assert dmlcheck("validate", "empty").exit_code == 5


def test_selecting_no_case_collects_nothing() -> None:
    write("a.yaml", GOOD)
    assert dmlcheck("run", "a.yaml", "-k", "nowhere").exit_code == 5


def test_a_wrong_file_among_good_ones_does_not_stop_the_run() -> None:
    write("f/a.yaml", "operator: [")
    write("f/b.yaml", GOOD)
    write("f/c.yaml", WRONG)
    result = dmlcheck("run", "f")
    assert result.exit_code == 2
    assert result.stdout.splitlines()[-1].startswith("1 passed, 1 failed, 1 error in ")


# ---- selection


def test_a_folder_is_searched_for_yaml_and_json(folder: Path) -> None:
    for name in ("f/a.yaml", "f/b.yml", "f/g/c.YAML", "f/notes.txt", "f/.hidden.yaml", "f/.git/d.yaml"):
        write(name, GOOD)
    write("f/d.json", '{"operator": "REDUCE", "cases": []}')
    result = dmlcheck("run", "f", "-v")
    ids = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("PASSED")]
    assert ids == ["f/a.yaml::a", "f/b.yml::b", "f/g/c.YAML::c"]
    absolute = dmlcheck("run", str(folder / "f"), "-v", "-k", "a.yaml")
    assert f"PASSED {(folder / 'f').as_posix()}/a.yaml::a" in absolute.stdout


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a", ["a", "ab", "case"]),
        ("a and not b", ["a", "case"]),
        ("AB or case", ["ab", "case"]),
        ("not (ab or case)", ["a", "x"]),
    ],
)
def test_k_selects_by_substrings_of_the_id(expression: str, names: list[str]) -> None:
    cases = "".join(f"- {{name: {name}, outputs: {{OutputTensor: [6]}}}}\n" for name in ("a", "ab", "case", "x"))
    write("0.yml", GOOD.partition("outputs")[0] + "cases:\n" + cases)
    result = dmlcheck("run", "0.yml", "-v", "-k", expression)
    assert [line.partition("::")[2] for line in result.stdout.splitlines() if line.startswith("PASSED")] == names


def test_one_case_is_run_by_its_id() -> None:
    path = FILES / "case.yaml"
    result = dmlcheck("run", f"{path}::right", "-v")
    assert (result.exit_code, result.stdout.count("PASSED")) == (0, 1)
    assert dmlcheck("run", f"{path}::nobody").exit_code == 5


@pytest.mark.parametrize("words", [["-x"], ["--max-failures", "1"]])
def test_a_run_stops_after_so_many_failures(words: list[str]) -> None:
    for number in range(5):
        write(f"f/{number}.yaml", WRONG if number % 2 else GOOD)
    last = dmlcheck("run", "f", *words).stdout.splitlines()[-1]
    assert last.startswith("1 passed, 1 failed in ")
    assert dmlcheck("run", "f", "--max-failures", "2").stdout.splitlines()[-1].startswith("2 passed, 2 failed in ")


def test_the_command_at_the_end_of_a_failure_runs_that_case_again() -> None:
    write("a folder/it's.yaml", WRONG)
    first = dmlcheck("run", "a folder").stdout
    (again,) = (line.partition("again: ")[2] for line in first.splitlines() if "again: " in line)
    words = again.split("dmlcheck ", 1)[1]
    if os.name == "nt":
        repeated = subprocess.run(f"{sys.executable} -m dmlcheck {words}", capture_output=True, check=False)
    else:
        command = f"{sys.executable} -m dmlcheck {words}"
        repeated = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert repeated.returncode == 1
    failure, table, _ = first.partition("\noperator ")
    assert table
    assert repeated.stdout.decode().replace("\r\n", "\n").partition("\noperator ")[0] == failure


# ---- what is read and written


def test_standard_input_is_a_file() -> None:
    assert dmlcheck("validate", "-", stdin=DESC).stdout == (
        "-: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)\n"
    )
    result = dmlcheck("validate", "-", stdin=json.dumps({"operator": "REDUCE", "desc": {}}))
    assert result.exit_code == 1
    assert "-:1:24: error[missing-field]" in result.stdout
    assert dmlcheck("eval", "-", stdin=GOOD).stdout == '"-":\n  OutputTensor: [6]\n'


def test_the_bundled_cases_run_without_a_path() -> None:
    result = dmlcheck("run", "-k", "hardmax1/documented")
    assert (result.exit_code, "passed in" in result.stdout) == (0, True)
    verbose = dmlcheck("run", "-v", "-k", "hardmax1/documented").stdout
    assert verbose.startswith("PASSED cases/activation_hardmax1/documented.yaml::")


def test_the_version_is_that_of_the_package() -> None:
    assert dmlcheck("--version").stdout.strip() == f"dmlcheck, version {__version__}"
    assert spawned("--version").stdout.decode().strip() == f"dmlcheck, version {__version__}"


@pytest.mark.parametrize("command", ["run", "validate", "eval", "show", "explain", "schema", "selfcheck"])
def test_every_command_has_help(command: str) -> None:
    result = dmlcheck(command, "--help")
    assert (result.exit_code, result.stdout.startswith("Usage:")) == (0, True)
    assert f"  {command} " in dmlcheck("--help").stdout


def test_selfcheck_finds_nothing() -> None:
    result = dmlcheck("selfcheck")
    assert result.exit_code == 0
    assert result.stdout.endswith("rules: all agree\n")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_output_is_what_the_stream_can_carry(encoding: str) -> None:
    write("größe.yaml", GOOD.replace("Function: SUM", "Function: 総和"))
    result = spawned("validate", "größe.yaml", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (1, b"")
    text = result.stdout.decode(encoding)
    assert ("総和" in text) == (encoding == "utf-8")
    assert "unknown-enum-value" in text


def test_piped_output_has_no_escapes() -> None:
    result = spawned("run", str(FILES / "case.yaml"), TERM="xterm-256color")
    assert b"\x1b" not in result.stdout
    assert result.returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="closing a pipe early is an error of the shell there")
def test_a_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m dmlcheck run '{FILES / 'case.yaml'}' -v | head -n 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert result.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize("no_colour", [False, True])
def test_a_terminal_gets_colour_unless_it_is_unwanted(*, no_colour: bool) -> None:
    import pty

    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **({"NO_COLOR": "1"} if no_colour else {})}
    command = [sys.executable, "-m", "dmlcheck", "run", str(FILES / "case.yaml")]
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
    os.close(master)
    assert process.returncode == 2
    assert (b"\x1b[31m" in shown) is not no_colour
    assert b"again: dmlcheck run" in shown
    assert "REDUCE" in shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
def test_an_interrupted_run_keeps_its_report(folder: Path) -> None:
    for number in range(200):
        cases = "".join(f"- {{name: c{index}, outputs: {{OutputTensor: [6]}}}}\n" for index in range(50))
        write(f"f/{number:03}.yaml", GOOD.partition("outputs")[0] + "cases:\n" + cases)
    command = [sys.executable, "-m", "dmlcheck", "run", "f", "-v", "--json", "report.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the run is under way
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b""
    assert b"interrupted after" in out
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert 0 < report["summary"]["total"] == len(report["cases"]) < 10_000


def test_validation_starts_without_numpy_and_rich() -> None:
    write("a.yaml", DESC)
    code = (
        "import sys\nfrom dmlcheck.cli import main\n"
        "try:\n    main(['validate', 'a.yaml'])\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        "assert not {'numpy', 'rich'} & sys.modules.keys()\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


def test_what_is_legal_is_said_without_making_the_values() -> None:
    write("a.yaml", GOOD.replace("Sizes: [3]", "Sizes: [4294967295]").replace("[1, 2, 3]", "{fill: 1}"))
    tracemalloc.start()
    try:
        result = dmlcheck("validate", "a.yaml")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0
    assert most < 2**26


# ---- where output goes


@pytest.mark.skipif(sys.platform == "win32", reason="closing a pipe early is an error of the shell there")
def test_a_reader_that_has_seen_enough_does_not_cost_the_report(folder: Path) -> None:
    cases = "".join(f"- {{name: c{index}, outputs: {{OutputTensor: [6]}}}}\n" for index in range(3000))
    write("a.yaml", GOOD.partition("outputs")[0] + "cases:\n" + cases)
    command = f"{sys.executable} -m dmlcheck run a.yaml -v --json report.json | head -n 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert result.stderr == b""
    assert len(json.loads((folder / "report.json").read_text(encoding="utf-8"))["cases"]) == 3000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["run", "a.yaml"], ["validate", "a.yaml"], ["show"]])
def test_output_that_finds_no_room_is_an_error(words: list[str]) -> None:
    write("a.yaml", GOOD)
    command = [sys.executable, "-m", "dmlcheck", *words]
    with open("/dev/full", "w", encoding="ascii") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert result.returncode == 2
    assert result.stderr == b"dmlcheck: standard output cannot be written: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the shell there closes no streams")
def test_a_text_without_end_ends_with_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with click.Context(main):
            console.print_pieces(itertools.repeat("x" * 100_000))


def test_memory_that_ends_in_eval_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(engine, "run", run)
    result = dmlcheck("eval", "-", stdin=GOOD)
    assert result.exit_code == 1
    assert "error[tensor-too-large]" in result.output


def test_a_closed_standard_output_is_no_traceback() -> None:
    write("a.yaml", GOOD)
    command = ["sh", "-c", f"{sys.executable} -m dmlcheck run a.yaml >&-"]
    result = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    write("a.yaml", WRONG + 'name: "a\\e[2Jb\\u0007c"\n')
    result = dmlcheck("run", "a.yaml")
    assert result.exit_code == 1
    assert not {"\x1b", "\x07"} & set(result.stdout)


def test_a_report_replaces_what_a_link_leads_to(folder: Path) -> None:
    write("a.yaml", GOOD)
    write("real/report.json", "old")
    try:
        (folder / "link.json").symlink_to(folder / "real" / "report.json")
    except OSError:
        pytest.skip("links need a privilege here")
    assert dmlcheck("run", "a.yaml", "--json", "link.json").exit_code == 0
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "real" / "report.json").read_text(encoding="utf-8"))["summary"]["passed"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are other things there")
def test_a_report_may_go_into_a_pipe(folder: Path) -> None:
    write("a.yaml", GOOD)
    os.mkfifo(folder / "pipe")
    with subprocess.Popen([sys.executable, "-m", "dmlcheck", "run", "a.yaml", "--json", "pipe"]) as process:
        report = json.loads((folder / "pipe").read_text(encoding="utf-8"))
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


# ---- what a run says


@pytest.mark.parametrize(
    ("values", "pointer", "column"),
    [
        ("[[[6, 6]], [[6, 7]]]", "outputs.OutputTensor[1][0][1]", 41),
        ("[6, 6, 6, 7]", "outputs.OutputTensor[3]", 35),
        ("{fill: 7}", "outputs.OutputTensor", 25),
    ],
)
def test_a_mismatch_points_at_the_value_as_the_file_gives_it(values: str, pointer: str, column: int) -> None:
    desc = GOOD.replace("Sizes: [3]", "Sizes: [2, 3, 2]").replace("Sizes: [1]", "Sizes: [2, 1, 2]")
    write("a.yaml", desc.replace("Axes: [0]", "Axes: [1]").replace("[1, 2, 3]", "{fill: 2}").replace("[6]", values))
    dmlcheck("run", "a.yaml", "--json", "report.json")
    (case,) = json.loads(Path("report.json").read_text(encoding="utf-8"))["cases"]
    (diagnostic,) = case["diagnostics"]
    assert (diagnostic["pointer"], diagnostic["column"]) == (pointer, column)


def test_the_worst_of_the_passing_cases_is_shown_too() -> None:
    write("a.yaml", GOOD.replace("[6]", "[6.000001]") + "tolerance: {ulp: 4}\n")
    result = dmlcheck("run", "a.yaml")
    assert result.exit_code == 0
    # 6.000001 is 2 units of 2^-21 above 6, rounded.
    assert "worst of REDUCE FLOAT32: 2 ULP, 0.5 times the bound, a.yaml::a OutputTensor[0]\n" in result.stdout


def test_a_negative_case_may_be_about_a_missing_tensor() -> None:
    write("a.yaml", DESC + "invalid: [missing-tensor]\n")
    assert dmlcheck("run", "a.yaml").exit_code == 0
    write("a.yaml", GOOD.partition("outputs")[0] + "invalid: [missing-tensor]\n")
    assert dmlcheck("run", "a.yaml").exit_code == 1


def test_operators_go_by_their_full_names_in_reports() -> None:
    write("a.yaml", GOOD.replace("DML_OPERATOR_", ""))
    write("b.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "b.yaml", "--json", "report.json")
    cases = json.loads(Path("report.json").read_text(encoding="utf-8"))["cases"]
    assert [case["operator"] for case in cases] == ["DML_OPERATOR_REDUCE"] * 2
    assert len([line for line in result.stdout.splitlines() if line.startswith("REDUCE ")]) == 1


# ---- what may go wrong beside a case


@pytest.mark.parametrize("words", [["--json", "a.yaml"], ["--json", "x", "--junitxml", "x"]])
def test_a_report_takes_the_place_of_nothing_that_is_needed(words: list[str]) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", *words)
    assert result.exit_code == 2
    assert Path("a.yaml").read_text(encoding="utf-8") == GOOD


def test_a_case_that_is_not_there_is_named() -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml::nope")
    assert (result.exit_code, result.stderr) == (5, "dmlcheck: a.yaml has no case nope\n")


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are other things there")
def test_a_pipe_in_a_folder_is_not_waited_for(folder: Path) -> None:
    write("f/a.yaml", GOOD)
    os.mkfifo(folder / "f" / "b.yaml")
    assert dmlcheck("run", "f").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to set there")
def test_values_that_find_no_memory_cost_the_case_only(folder: Path) -> None:
    large = GOOD.replace("Sizes: [3]", "Sizes: [1, 3000000000]").replace("Sizes: [1]", "Sizes: [1, 1]")
    write("b.yaml", large.replace("Axes: [0]", "Axes: [1]").replace("[1, 2, 3]", "{sequence: {start: 1, step: 0}}"))
    write("a.yaml", GOOD)
    write("c.yaml", GOOD)
    command = f"ulimit -v 3000000; {sys.executable} -m dmlcheck run a.yaml b.yaml c.yaml --json r.json"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert (result.returncode, result.stderr) == (1, b"")
    cases = json.loads((folder / "r.json").read_text(encoding="utf-8"))["cases"]
    assert [case["outcome"] for case in cases] == ["passed", "error", "passed"]
    assert [diagnostic["rule"] for diagnostic in cases[1]["diagnostics"]] == ["tensor-too-large"]


def test_values_are_read_where_nothing_computes_them() -> None:
    desc = "{InputTensor: {DataType: UINT8, Sizes: [2]}, OutputTensor: {DataType: UINT8, Sizes: [2]}}"
    head = f"operator: ELEMENT_WISE_IDENTITY\ndesc: {desc}\n"
    for inputs, code in (("[1, 2]", 0), ("[1, 256]", 1), ("[1]", 1)):
        write("a.yaml", head + f"inputs: {{InputTensor: {inputs}}}\noutputs: {{OutputTensor: [1, 2]}}\n")
        assert dmlcheck("run", "a.yaml").exit_code == code


def test_a_negative_case_about_values_is_left_to_a_run() -> None:
    write("a.yaml", DESC + "invalid: [missing-tensor]\n")
    assert dmlcheck("validate", "a.yaml").exit_code == 0
    assert dmlcheck("run", "a.yaml").exit_code == 0
