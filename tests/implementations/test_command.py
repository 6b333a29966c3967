"""Programs as implementations: the protocol, every way to break it, and what is left of them after a run."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import misbehaving_cases
import numpy as np
import pytest
from commandline import json_of, run
from commands import sums
from guide_pages import PAGES, blocks, file_name
from left_processes import left_of

from dmlcheck import load_cases, run_cases
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure, TimedOut, Unavailable, Unsupported, command, make
from dmlcheck.implementations._program import Program

HERE = Path(__file__).parent.parent
PROGRAM = str(HERE / "commands" / "sums.py")
HEAD = misbehaving_cases.HEAD.replace("TYPE", "INT32")


def line_of(*words: str) -> str:
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def sums_command(*words: str) -> str:
    return "command:" + line_of(sys.executable, PROGRAM, *words)


SUMS = sums_command()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in an empty folder, and see that no program is waited for, and that none and no file is left."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("DMLCHECK_CHILD", str(tmp_path / "child"))
    monkeypatch.setenv("DMLCHECK_WOKE", str(tmp_path / "woke"))  # written by a program that slept to its end
    monkeypatch.setenv("DMLCHECK_OF", str(tmp_path))  # by which the programs of this test are known
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert left_of(tmp_path) == []
    assert not (tmp_path / "woke").exists()
    assert [path.name for path in (tmp_path / "temporary").iterdir() if path.name.startswith("dmlcheck-")] == []


def write(name: str, *firsts: int) -> None:
    """Write a file of cases, one for each first element."""
    cases = "".join(
        f"- {{name: c{number}, inputs: {{InputTensor: [{first}, 1, 2]}}, outputs: {{OutputTensor: [{first + 3}]}}}}\n"
        for number, first in enumerate(firsts)
    )
    Path(name).write_text(HEAD + cases, encoding="utf-8")


def report(*words: str) -> Any:
    result = run(*words, "--json", "report.json")
    assert result.exit_code in (0, 1, 5), result.output
    return json_of("report.json")


def messages(case: Any) -> list[str]:
    return [diagnostic["message"] for diagnostic in case["diagnostics"]]


# ---- descs that are not valid

NEGATIVE = (
    HEAD
    + """\
- {name: right, inputs: {InputTensor: [1, 2, 3]}, outputs: {OutputTensor: [6]}}
- {name: no-such-axis, desc: {Axes: [1]}, invalid: [axis-out-of-range]}
- {name: right-again, inputs: {InputTensor: [1, 2, 4]}, outputs: {OutputTensor: [7]}}
"""
)
REFUSED = ("passed", "refused: answered that the desc is not valid: there is no such axis", [])
ACCEPTED = (
    "sums accepts a desc that DML_FEATURE_LEVEL_6_4 does not allow: "
    "axis-out-of-range (REDUCE/C2) at line 10: Axes[0] is 1, and InputTensor has dimensions 0 to 0"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("strict", REFUSED),
        ("terse", ("passed", "refused: answered that the desc is not valid: no reason is given", [])),
        ("native", ("passed", "refused: answered: CreateOperator returned E_INVALIDARG", [])),
        ("lax", ("failed", "accepted an invalid desc", [ACCEPTED])),
        ("broken", ("error", "the implementation failed", ["sums answered: out of memory"])),
        ("unable", ("passed", "checked without the implementation; unsupported-by-implementation: axes", [])),
        ("double", ("error", "the implementation failed", None)),
        ("", ("passed", None, [])),  # it does not say that it refuses descs
    ],
)
def test_a_program_that_says_so_has_to_refuse_descs(mode: str, expected: tuple[str, str | None, Any]) -> None:
    Path("a.yaml").write_text(NEGATIVE, encoding="utf-8")
    found = report("a.yaml", "--implementation", sums_command(*[mode] * bool(mode)))
    first, case, last = found["cases"]
    assert (first["outcome"], last["outcome"]) == ("passed", "passed")
    told = messages(case) if expected[2] is not None else None
    assert (case["outcome"], case["reason"], told) == expected
    assert case["computed"] == (mode not in ("", "unable"))
    assert found["summary"]["computed"] == 2 + (mode in ("strict", "terse", "native"))


def test_a_program_that_refuses_a_valid_desc_is_the_cases_error() -> None:
    text = NEGATIVE.replace("invalid: [axis-out-of-range]", "inputs: {InputTensor: [1, 2, 3]}")
    text = text.replace("Sizes: [3]", "Sizes: [3, 1]").replace("Sizes: [1]", "Sizes: [3, 1]")
    Path("a.yaml").write_text(text, encoding="utf-8")
    found = report("a.yaml", "--implementation", sums_command("strict"), "-k", "axis")
    assert [case["outcome"] for case in found["cases"]] == ["error"]
    assert messages(found["cases"][0]) == ["sums answered that the desc is not valid: there is no such axis"]


def test_what_validates_is_true_or_false() -> None:
    result = run("a.yaml", "--implementation", sums_command("unsure"))
    assert result.exit_code == 2
    assert "answered with validates that is neither true nor false" in result.output


# ---- what goes wrong


MISBEHAVIOURS = {
    sums.DIE: r"sums ended with exit code 3 instead of answering; it wrote: \[31mdevice removed \[0m$",
    sums.SIGNAL: r"sums ended with (SIGABRT|exit code \w+) instead of answering",
    sums.RUBBISH: r"sums wrote something other than JSON: Segmentation fault\? no$",
    sums.LONG: r"sums wrote a line longer than 1 MiB: x{97}\.\.\.$",
    sums.DTYPE: r"sums wrote OutputTensor as float32 of shape \{1\} instead of int32 of shape \{1\}$",
    sums.SHAPE: r"sums wrote OutputTensor as int32 of shape \{2\} instead of int32 of shape \{1\}$",
    sums.MISSING: r"sums answered ok, and the file of OutputTensor cannot be read: no such file$",
    sums.ERROR: r"sums answered: E_INVALIDARG at once$",
    sums.WRONG_ID: r'sums answered with another id than 2: \{"id": 3, "ok": true\}$',
    sums.NEITHER: r'answered neither ok: true nor error, invalid or unsupported with a text: \{"id": 2, "ok": 1\}$',
    sums.CUT: r"sums answered ok, and the file of OutputTensor is no \.npy file: it is cut short$",
    sums.NUMBER: r"sums wrote something other than a JSON object: 17$",
    sums.DEEP: r"sums wrote something other than JSON: \[{97}\.\.\.$",
    sums.CLOSE: r"sums closed its standard output instead of answering$",
    sums.FLOOD: r"sums (wrote more than 16 lines at once: |answered earlier cases more than 100 times again)",
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", MISBEHAVIOURS)
def test_a_program_that_goes_wrong_costs_that_case_and_no_other(wrong: int) -> None:
    write("a.yaml", 1, wrong, 2, 3)
    found = report("a.yaml", "--implementation", SUMS)
    assert [case["outcome"] for case in found["cases"]] == ["passed", "error", "passed", "passed"]
    (diagnostic,) = found["cases"][1]["diagnostics"]
    assert diagnostic["rule"] == "implementation-error"
    assert re.search(MISBEHAVIOURS[wrong], diagnostic["message"]), diagnostic["message"]


@pytest.mark.slow
def test_a_program_that_reads_no_more_is_not_waited_for() -> None:
    write("a.yaml", 1, sums.DEAF, 2, 3)
    found = report("a.yaml", "--implementation", SUMS, "--timeout", "20")
    assert [case["outcome"] for case in found["cases"]] == ["passed", "passed", "error", "passed"]
    assert messages(found["cases"][2]) == ["sums closed its standard input instead of answering"]


@pytest.mark.slow
@pytest.mark.parametrize("fine", [sums.STDERR, sums.TWICE, sums.CHATTY])
def test_an_endless_standard_error_a_second_answer_and_a_blank_line_cost_nothing(fine: int) -> None:
    write("a.yaml", 1, fine, 2, fine, 3)
    found = report("a.yaml", "--implementation", SUMS)
    assert [case["outcome"] for case in found["cases"]] == ["passed"] * 5


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_an_output_that_is_elsewhere_is_not_read() -> None:
    write("a.yaml", sums.LINK, 2)
    found = report("a.yaml", "--implementation", SUMS)
    assert [case["outcome"] for case in found["cases"]] == ["error", "passed"]
    assert "lies outside the folder tree" in messages(found["cases"][0])[0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="children that outlive their parent are not found there")
def test_what_a_program_leaves_running_is_ended_with_it() -> None:
    write("a.yaml", 1, sums.CHILD, 2)
    found = report("a.yaml", "--implementation", SUMS)
    assert [case["outcome"] for case in found["cases"]] == ["passed", "error", "passed"]
    assert messages(found["cases"][1]) == ["sums ended with exit code 4 instead of answering"]
    assert int(Path("child").read_text(encoding="ascii")) > 0


@pytest.mark.slow
def test_a_program_that_hangs_is_ended_when_its_time_is_over() -> None:
    write("a.yaml", 1, sums.HANG, 2, sums.HANG, 3)
    found = report("a.yaml", "--implementation", SUMS, "--timeout", "1")
    assert [case["outcome"] for case in found["cases"]] == ["passed", "error", "passed", "error", "passed"]
    assert messages(found["cases"][1]) == ["no result after 1 s"]
    assert found["cases"][1]["diagnostics"][0]["rule"] == "timeout"


@pytest.mark.slow
def test_several_processes_have_a_program_each() -> None:
    wrong = [sums.DIE, sums.HANG, sums.RUBBISH, sums.MISSING]
    write("a.yaml", 1, *wrong, 2)
    write("b.yaml", *range(20), sums.DIE)
    write("c.yaml", *range(20))
    found = report("a.yaml", "b.yaml", "c.yaml", "--implementation", SUMS, "-j", "2", "--timeout", "2")
    expected = ["passed", *["error"] * 4, "passed", *["passed"] * 20, "error", *["passed"] * 20]
    assert [case["outcome"] for case in found["cases"]] == expected
    assert found["cases"][2]["diagnostics"][0]["rule"] == "timeout"


def test_a_program_that_does_not_start_again_is_the_error_of_each_case_after() -> None:
    write("a.yaml", 1, sums.DIE, 2)
    Path("start.py").write_text(Path(PROGRAM).read_text(encoding="utf-8"), encoding="utf-8")
    program = make("command:" + line_of(sys.executable, "start.py"))
    Path("start.py").write_text("print('[]')", encoding="utf-8")
    results = run_cases(load_cases("a.yaml"), program)
    program.close()
    assert [result.outcome for result in results] == ["passed", "error", "error"]
    assert "could not be started again" in results[2].diagnostics[0].message


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_program_that_hangs(number: int, jobs: str) -> None:
    write("a.yaml", 1, sums.HANG, 2)
    write("b.yaml", 1, sums.HANG, 2)
    words = [sys.executable, "-m", "dmlcheck", "run", "a.yaml", "b.yaml", "-v", "-j", jobs]
    with subprocess.Popen([*words, "--implementation", SUMS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, b"interrupted after" in out) == (130, True)


@pytest.mark.slow
def test_a_program_that_does_not_end_with_its_input_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "END_SECONDS", 0.3)
    program = make(sums_command("lingering"))
    program.close()


# ---- starting


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("die", "ended with exit code 7 instead of answering; it wrote: no device"),
        ("silent", "did not answer within 0.5 s"),
        ("rubbish", "wrote something other than JSON: Loading..."),
        ("newer", "speaks version 2 of the protocol; this is 1"),
        ("nameless", 'answered without a name: {"version": "1"}'),
        ("reference", "calls itself reference"),
        ("numbered", "answered with a version that is not a text"),
        ("misspelt", "lists REDUSE among its operators; did you mean REDUCE?"),
        ("untyped", "lists FLOAT8 among its types; did you mean FLOAT"),
        ("unlisted", "answered with operators that are not a list"),
    ],
)
def test_a_program_that_cannot_be_used_is_refused(mode: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "silent":
        monkeypatch.setattr(command, "START_SECONDS", 0.5)
    with pytest.raises(Unavailable) as raised:
        make(sums_command(mode))
    assert words in str(raised.value)


def test_what_a_program_writes_before_it_is_asked_anything_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    send = Program.send

    def late(program: Program, request: dict[str, Any]) -> None:
        program.process.wait(60)
        program.threads[2].join(60)  # the one that reads the standard error
        send(program, request)

    monkeypatch.setattr(Program, "send", late)
    with pytest.raises(Unavailable, match="it wrote: no device"):
        make(sums_command("die"))


def test_a_program_that_is_not_there_is_refused_before_the_run() -> None:
    write("a.yaml", 1)
    Path("notes.txt").write_text("text", encoding="utf-8")
    for words in ["nobody-has-this", "./notes.txt", "''", "perl 'x", " "]:
        result = run("a.yaml", "--implementation", f"command:{words}")
        assert result.exit_code == 2
        assert "command:" in result.stderr
        assert "Traceback" not in result.output


@pytest.mark.slow
def test_a_program_says_what_it_is() -> None:
    program = make(SUMS)
    assert (program.name, program.about) == ("sums", ("1.5", "CPU", ""))
    program.close()
    write("a.yaml", 1)
    found = report("a.yaml", "--implementation", SUMS)
    assert (found["implementation_version"], found["device"]) == ("1.5", "CPU")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("argmax", "sums does not list DML_OPERATOR_REDUCE"),
        ("float", "sums does not list INT32, which InputTensor is"),
    ],
)
def test_what_a_program_does_not_list_is_skipped(mode: str, reason: str) -> None:
    write("a.yaml", 1)
    (case,) = report("a.yaml", "--implementation", sums_command(mode))["cases"]
    assert (case["outcome"], case["reason"]) == ("skipped", f"unsupported-by-implementation: {reason}")


def test_a_tensor_whose_strides_span_far_more_than_it_has_is_not_written() -> None:
    write("a.yaml", 1)
    text = Path("a.yaml").read_text("utf-8").replace("Sizes: [3]", "Sizes: [3], Strides: [16777216]")
    Path("a.yaml").write_text(text, encoding="utf-8")
    (case,) = report("a.yaml", "--implementation", SUMS)["cases"]
    reason = "unsupported-by-implementation: the strides of InputTensor spread 3 elements over 0.1 GiB"
    assert (case["outcome"], case["reason"].partition(",")[0]) == ("skipped", reason)


def test_what_a_program_answers_to_be_unsupported_is_skipped() -> None:
    write("a.yaml", sums.UNSUPPORTED, 1)
    cases = report("a.yaml", "--implementation", SUMS)["cases"]
    assert [case["outcome"] for case in cases] == ["skipped", "passed"]
    assert cases[0]["reason"] == "unsupported-by-implementation: no sums of 112"


def test_an_answer_without_a_reason_says_that_it_has_none(tmp_path: Path) -> None:
    program = tmp_path / "mute.py"
    program.write_text(MUTE, encoding="utf-8")
    write("a.yaml", 1, 2)
    cases = report("a.yaml", "--implementation", f'command:"{sys.executable}" "{program}"')["cases"]
    assert cases[0]["reason"] == "unsupported-by-implementation: no reason is given"
    assert messages(cases[1]) == ["mute answered: no reason is given"]


MUTE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    kind = {1: "unsupported", 2: "error"}.get(asked.get("id"), "name")
    print(json.dumps({"id": asked.get("id"), kind: "mute" if kind == "name" else " "}), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="programs take their words apart themselves there")
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("perl x.pl", ["perl", "x.pl"]),
        ('"perl x.pl"', ["perl", "x.pl"]),
        ("'perl \"a b.pl\"'", ["perl", "a b.pl"]),
        ('"/a b/perl" x.pl', ["/a b/perl", "x.pl"]),
        ('"perl" "x.pl"', ["perl", "x.pl"]),
        ("perl $HOME `x` | y", ["perl", "$HOME", "`x`", "|", "y"]),
        ('"my prog"', ["my prog"]),
    ],
)
def test_a_command_line_is_split_as_a_shell_would_and_expanded_by_none(place: str, words: list[str]) -> None:
    Path("my prog").write_text("", encoding="utf-8")
    assert command.split(place) == words


# ---- what travels


KEEPING = """
import json, shutil, sys
import numpy as np
for line in sys.stdin:
    asked = json.loads(line)
    if asked["request"] == "hello":
        print('{"name": "keeping"}', flush=True)
        continue
    with open("asked.json", "w", encoding="utf-8") as file:
        file.write(line)
    for name, paths in asked["inputs"].items():
        for number, path in enumerate([paths] if isinstance(paths, str) else paths):
            shutil.copy(path, f"{name}{number}.npy")
    for paths in asked["outputs"].values():
        for path in [paths] if isinstance(paths, str) else paths:
            shutil.copy("answer.npy", path)
    print(json.dumps({"id": asked["id"], "ok": True}), flush=True)
"""


@pytest.fixture
def keeping() -> Iterator[Any]:
    """Give a program that keeps what it is asked, and answers what is in answer.npy."""
    Path("keeping.py").write_text(KEEPING, encoding="utf-8")
    program = make("command:" + line_of(sys.executable, "keeping.py"))
    yield program
    program.close()


def asked() -> Any:
    return json_of("asked.json")


def described(operator: str, raw: Any) -> OperatorDesc:
    desc, findings = read_desc(operator, raw)
    assert desc is not None
    assert findings == ()
    return desc


def test_a_request_has_the_desc_in_full_and_a_path_for_every_tensor(keeping: Any) -> None:
    tensor = {"DataType": "INT16", "Sizes": [1, 1, 1, 2]}
    raw = {"InputTensors": [tensor] * 2, "OutputTensor": {**tensor, "Sizes": [1, 1, 1, 4]}, "Axis": 3}
    first, second = np.array([[[[1, 2]]]], dtype=np.int16), np.array([[[[3, 4]]]], dtype=np.int16)
    np.save("answer.npy", np.concatenate([first, second], axis=3).astype(">i2"))
    outputs = keeping.run(described("JOIN", raw), {"InputTensors": [first, second]})
    assert [(name, values.tolist()) for name, values in outputs.items()] == [("OutputTensor", [[[[1, 2, 3, 4]]]])]
    request = asked()
    assert (request["request"], request["id"], request["operator"]) == ("run", 1, "DML_OPERATOR_JOIN")
    assert request["desc"] == {**raw, "InputCount": 2}
    assert [len(request["inputs"]["InputTensors"]), list(request["outputs"])] == [2, ["OutputTensor"]]
    assert [np.load(f"InputTensors{number}.npy").tolist() for number in (0, 1)] == [first.tolist(), second.tolist()]


@pytest.mark.slow
def test_arrays_of_outputs_have_a_list_of_paths(keeping: Any) -> None:
    tensor = {"DataType": "INT16", "Sizes": [1, 1, 1, 2]}
    raw = {"InputTensor": {**tensor, "Sizes": [1, 1, 1, 4]}, "OutputTensors": [tensor] * 2, "Axis": 3}
    np.save("answer.npy", np.array([[[[5, 6]]]], dtype=np.int16))
    outputs = keeping.run(described("SPLIT", raw), {"InputTensor": np.zeros((1, 1, 1, 4), dtype=np.int16)})
    assert {name: values.tolist() for name, values in outputs.items()} == {
        "OutputTensors[0]": [[[[5, 6]]]],
        "OutputTensors[1]": [[[[5, 6]]]],
    }
    assert len(set(asked()["outputs"]["OutputTensors"])) == 2


def test_strided_tensors_are_the_elements_of_their_buffers(keeping: Any) -> None:
    raw = {
        "Function": "SUM",
        "InputTensor": {"DataType": "INT16", "Sizes": [2, 2], "Strides": [3, 1]},
        "OutputTensor": {"DataType": "INT16", "Sizes": [2, 1], "Strides": [2, 1]},
        "Axes": [1],
    }
    np.save("answer.npy", np.array([3, 99, 7], dtype=np.int16))
    given = {"InputTensor": np.array([[1, 2], [3, 4]], dtype=np.int16)}
    outputs = keeping.run(described("REDUCE", raw), given)
    assert outputs["OutputTensor"].tolist() == [[3], [7]]
    assert np.load("InputTensor0.npy").tolist() == [1, 2, -1, 3, 4]
    np.save("answer.npy", np.array([[3], [7]], dtype=np.int16))
    with pytest.raises(Failure, match=r"of shape \{2, 1\} instead of int16 of shape \{3\}, the elements of its buffer"):
        keeping.run(described("REDUCE", raw), given)


@pytest.mark.slow
def test_inputs_in_any_order_in_memory_are_written_in_row_major_order(keeping: Any) -> None:
    raw = {
        "Function": "SUM",
        "InputTensor": {"DataType": "INT16", "Sizes": [2, 2]},
        "OutputTensor": {"DataType": "INT16", "Sizes": [2, 1]},
        "Axes": [1],
    }
    np.save("answer.npy", np.array([[3], [7]], dtype=np.int16))
    keeping.run(described("REDUCE", raw), {"InputTensor": np.array([[1, 3], [2, 4]], dtype=np.int16).T})
    data = Path("InputTensor0.npy").read_bytes()
    assert (data[-8:], b"'fortran_order': False" in data) == (b"\1\0\2\0\3\0\4\0", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "written"),
    [(2**53, 2**53), (2**53 + 1, "9007199254740993"), (2**64 - 1, "18446744073709551615")],
)
def test_whole_numbers_that_doubles_do_not_hold_are_texts(keeping: Any, value: int, written: Any) -> None:
    tensor = {"DataType": "UINT64", "Sizes": [1, 1, 1, 2]}
    np.save("answer.npy", np.zeros((1, 1, 1, 2), dtype=np.uint64))
    keeping.run(
        described("FILL_VALUE_CONSTANT", {"OutputTensor": tensor, "ValueDataType": "UINT64", "Value": value}), {}
    )
    assert asked()["desc"]["Value"] == written


@pytest.mark.slow
def test_an_array_of_objects_is_not_unpickled(keeping: Any) -> None:
    np.save("answer.npy", np.array([print], dtype=object), allow_pickle=True)
    tensor = {"DataType": "INT16", "Sizes": [1, 1, 1, 1]}
    raw = {"OutputTensor": tensor, "ValueDataType": "INT16", "Value": 1}
    with pytest.raises(Failure, match=r"is no \.npy file: it contains Python objects"):
        keeping.run(described("FILL_VALUE_CONSTANT", raw), {})


@pytest.mark.slow
def test_requests_longer_than_a_pipe_do_not_block(keeping: Any) -> None:
    tensor = {"DataType": "INT16", "Sizes": [1, 1, 1, 1]}
    raw = {"InputTensors": [tensor] * 2000, "OutputTensor": {**tensor, "Sizes": [1, 1, 1, 2000]}, "Axis": 3}
    np.save("answer.npy", np.ones((1, 1, 1, 2000), dtype=np.int16))
    one = np.ones((1, 1, 1, 1), dtype=np.int16)
    assert keeping.run(described("JOIN", raw), {"InputTensors": [one] * 2000})["OutputTensor"].sum() == 2000
    assert len(Path("asked.json").read_bytes()) > 200_000


@pytest.mark.slow
def test_a_program_that_reads_nothing_does_not_block_a_request() -> None:
    answer = 'input(); print(\'{"name": "deaf"}\', flush=True)'
    Path("deaf.py").write_text(f"{answer}; {sums.FOREVER}", encoding="utf-8")
    program = make("command:" + line_of(sys.executable, "deaf.py"), 1.0)
    tensor = {"DataType": "INT16", "Sizes": [1, 1, 1, 1]}
    raw = {"InputTensors": [tensor] * 2000, "OutputTensor": {**tensor, "Sizes": [1, 1, 1, 2000]}, "Axis": 3}
    one = np.ones((1, 1, 1, 1), dtype=np.int16)
    with pytest.raises(TimedOut, match=r"^1$"):
        program.run(described("JOIN", raw), {"InputTensors": [one] * 2000})
    program.close()


def test_what_may_not_be_run_is_raised_as_such() -> None:
    program = make(SUMS)
    desc = described("REDUCE", load_one(sums.UNSUPPORTED))
    with pytest.raises(Unsupported, match="no sums of 112"):
        program.run(desc, {"InputTensor": np.array([sums.UNSUPPORTED, 1, 2], dtype=np.int32)})
    program.close()
    program.close()


def load_one(first: int) -> Any:
    write("one.yaml", first)
    return load_cases("one.yaml")[0].desc


# ---- examples in other languages


def judged(implementation: str, cases: str, outcomes: list[str]) -> None:
    Path("cases.yaml").write_text(cases, encoding="utf-8")
    found = report("cases.yaml", "--implementation", implementation, "--timeout", "20", "-j", "2")
    assert [case["outcome"] for case in found["cases"]] == outcomes, found["cases"]
    assert found["implementation_version"] == "1.0"


RECTIFIED = """\
operator: DML_OPERATOR_ACTIVATION_RELU
source: by hand
desc: {InputTensor: &tensor {DataType: FLOAT32, Sizes: [2, 3]}, OutputTensor: *tensor}
inputs: {InputTensor: [1.5, -2, 0, .inf, -.inf, -1.0e-40]}
outputs: {OutputTensor: [1.5, 0, 0, .inf, 0, 0]}
cases:
- name: packed
- name: wrong
  outputs: {OutputTensor: [1.5, 0, 0, .inf, 0, 1]}
- name: strided
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [2, 3], Strides: [4, 1]}}
- name: halves
  desc: {InputTensor: &half {DataType: FLOAT16, Sizes: [2, 3]}, OutputTensor: *half}
"""


@pytest.mark.slow
def test_the_example_in_the_guide_works() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here, which the guide's example is for")
    (example,) = blocks(PAGES["provider.md"], "js")
    name = file_name(example)
    Path(name).write_text(example.text, encoding="utf-8")
    assert f'--implementation command:"node {name}"' in example.text
    judged("command:" + line_of(node, name), RECTIFIED, ["passed", "failed", "skipped", "skipped"])


SUMMED = """\
operator: DML_OPERATOR_REDUCE
source: by hand
desc: {Function: SUM}
inputs: {InputTensor: [1, 2, 3, 4, 5, 2147483647]}
cases:
- name: rows
  desc: {InputTensor: {DataType: INT32, Sizes: [2, 3]}, OutputTensor: {DataType: INT32, Sizes: [2, 1]}, Axes: [1]}
  outputs: {OutputTensor: [6, -2147483640]}
- name: columns
  desc: {InputTensor: {DataType: INT32, Sizes: [2, 3]}, OutputTensor: {DataType: INT32, Sizes: [1, 3]}, Axes: [0]}
  outputs: {OutputTensor: [5, 7, -2147483646]}
- name: two-axes
  desc:
    InputTensor: {DataType: INT32, Sizes: [3, 1, 2]}
    OutputTensor: {DataType: INT32, Sizes: [1, 1, 2]}
    Axes: [0, 1]
  outputs: {OutputTensor: [9, -2147483643]}
- name: strided
  desc:
    InputTensor: {DataType: INT32, Sizes: [2, 3], Strides: [4, 1]}
    OutputTensor: {DataType: INT32, Sizes: [1, 3]}
    Axes: [0]
- name: products
  desc:
    Function: MULTIPLY
    InputTensor: {DataType: INT32, Sizes: [6]}
    OutputTensor: {DataType: INT32, Sizes: [1]}
    Axes: [0]
- name: floats
  desc: {InputTensor: {DataType: FLOAT32, Sizes: [6]}, OutputTensor: {DataType: FLOAT32, Sizes: [1]}, Axes: [0]}
"""


@pytest.mark.slow
def test_the_example_in_perl_works() -> None:
    perl = shutil.which("perl")
    if perl is None or subprocess.run([perl, "-MJSON::PP", "-e", "1"], capture_output=True, check=False).returncode:
        pytest.skip("there is no perl with JSON::PP here")
    program = line_of(perl, str(HERE / "commands" / "sums.pl"))
    judged("command:" + program, SUMMED, ["passed"] * 3 + ["skipped"] * 3)
