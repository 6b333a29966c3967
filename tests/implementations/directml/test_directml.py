"""DirectML as an implementation, with a stand-in for the process that has its library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_descs import desc_of
from valid_descs import tensor, valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure, LibraryAnswer, NoDevice, Refused, TimedOut, Unavailable, Unsupported, make
from dmlcheck.implementations import directml as room
from dmlcheck.implementations.directml import DirectMLLibrary, LibraryOptions, options_of
from dmlcheck.implementations.directml.executor import GUARD
from dmlcheck.implementations.directml.library import Library
from dmlcheck.implementations.directml.structs import image_of
from dmlcheck.processes.child import LateChild, LostChild
from dmlcheck.specs.names import FEATURE_LEVELS

E_INVALIDARG, E_NOTIMPL, E_FAIL = 0x80070057, 0x80004001, 0x80004005
OPENED = ("opened", 0x6200, "a GPU", True)
ASKED_ONLY = ("opened", 0x6200, "none", False)
GUARDED = b"\xff" * GUARD


class Standing:
    """A child that gives prepared answers; an exception is raised in place of one."""

    def __init__(self, answers: list[Any], wrote: str) -> None:
        self.answers = iter(answers)
        self.wrote = wrote
        self.errors = ""
        self.questions: list[tuple[Any, float | None]] = []
        self.ends: list[str] = []

    def ask(self, question: Any, seconds: float | None) -> Any:
        assert not self.ends
        self.questions.append((question, seconds))
        answer = next(self.answers)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def ready(self) -> Any:
        assert not self.questions
        return self.ask("ready", None)

    def kill(self) -> None:
        self.ends.append("kill")
        self.errors = self.wrote

    def stop(self) -> None:
        self.ends.append("stop")


KILLED = ["kill"]


class Processes:
    """What is started in place of processes, one after the other."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.prepared: list[Standing | BaseException] = []
        self.started: list[Standing] = []
        self.environments: list[Any] = []
        self.arguments: list[Any] = []
        self.places: list[str] = []

    def prepare(self, *answers: Any, wrote: str = "") -> Standing:
        made = Standing([*answers], wrote)
        self.prepared.append(made)
        return made

    def start(self, module: str, *arguments: Any, environment: Any, start_time: float) -> Standing:
        assert (module, start_time) == ("dmlcheck.implementations.directml.serving", 60.0)
        self.arguments.append(arguments)
        self.environments.append(environment)
        made = self.prepared.pop(0)
        if isinstance(made, BaseException):
            raise made
        self.started.append(made)
        return made

    def find(self, place: str) -> Library:
        self.places.append(place)
        return self.library


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    made = Processes(Library(str(tmp_path / "libdirectml.so"), "1.13.1"))
    monkeypatch.setattr(room, "IsolatedChild", made.start)
    monkeypatch.setattr(room, "find", made.find)
    yield made
    assert made.prepared == []


def desc() -> OperatorDesc:
    plain = {"DataType": "UINT8", "Sizes": [2]}
    return desc_of("ELEMENT_WISE_ADD", {"ATensor": plain, "BTensor": plain, "OutputTensor": plain})


INPUTS = {"ATensor": np.array([1, 2], "uint8"), "BTensor": np.array([3, 4], "uint8")}
BOUND = [(b"\1\2\0\0", False), (b"\3\4\0\0", False)]


# ---- how it is named


@pytest.mark.parametrize(
    ("place", "options"),
    [
        ("", LibraryOptions()),
        ("a.whl", LibraryOptions("a.whl")),
        ("a.whl,device=warp", LibraryOptions("a.whl", "warp")),
        ("a.whl,device=none", LibraryOptions("a.whl", "none")),
        ("a.whl,device=12", LibraryOptions("a.whl", "12")),
        ("device=0", LibraryOptions("", "0")),
        (",device=0", LibraryOptions("", "0")),
        ("a.whl,device=", LibraryOptions("a.whl")),
        ("a.whl,d3d12=/x/libd3d12.so", LibraryOptions("a.whl", "", "/x/libd3d12.so")),
        ("a.whl,half=allowed", LibraryOptions("a.whl", flags=1)),
        ("a.whl,metacommands=off", LibraryOptions("a.whl", flags=2)),
        (
            "a.whl,metacommands=off,d3d12=x.dll,half=allowed,device=warp",
            LibraryOptions("a.whl", "warp", "x.dll", 3),
        ),
        ("/some, folder,b/a.whl,device=none", LibraryOptions("/some, folder,b/a.whl", "none")),
        ("a=b,c/a.whl", LibraryOptions("a=b,c/a.whl")),
        ("a.whl,d3d12=/x, y,z/libd3d12.so,device=0", LibraryOptions("a.whl", "0", "/x, y,z/libd3d12.so")),
        ("a.whl,d3d12=/x=y/libd3d12.so", LibraryOptions("a.whl", "", "/x=y/libd3d12.so")),
    ],
)
def test_a_name_has_a_library_and_options_and_its_paths_may_have_commas(place: str, options: LibraryOptions) -> None:
    assert options_of(place) == options


KEYS = "there are device= d3d12= half= metacommands="


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("a,device=gpu", "device=gpu is not one; write device=warp, device=none or device=N, a number"),
        ("a,device=-1", "device=-1 is not one; write device=warp, device=none or device=N, a number"),
        ("a,device=²", "device=² is not one; write device=warp, device=none or device=N, a number"),
        ("a,half=no", "half=no is not possible; write half=allowed, or leave it out"),
        ("a,half=", "half= is not possible; write half=allowed, or leave it out"),
        ("a,metacommands=on", "metacommands=on is not possible; write metacommands=off, or leave it out"),
        ("a,devise=warp", f"devise=warp is not an option; {KEYS}"),
        ("a,device=warp,fast", f"fast is not an option; {KEYS}"),
        ("a,device=warp,Half=allowed", f"Half=allowed is not an option; {KEYS}"),
        ("a,", f"an option must follow a comma; {KEYS}"),
        ("a,device=warp, ", f"an option must follow a comma; {KEYS}"),
        ("a,,device=warp", f"an option must follow a comma; {KEYS}"),
    ],
)
def test_a_value_that_there_is_not_is_told_with_those_that_there_are(place: str, message: str) -> None:
    with pytest.raises(Unavailable) as raised:
        options_of(place)
    assert str(raised.value) == f"directml: {message}"


# ---- how it begins


def test_the_process_is_started_with_the_place_and_the_levels(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "libd3d12.so").touch()
    started = processes.prepare(OPENED)
    made = make(f"directml:a.whl,device=0,d3d12={tmp_path / 'libd3d12.so'}", 3.0)
    assert isinstance(made, DirectMLLibrary)
    assert (made.version, made.device, made.feature_level, made.executes) == ("1.13.1", "a GPU", "6_2", True)
    assert (made.name, made.is_directml, made.validates, made.keeps_time, made.errors) == (
        "directml", True, True, True, "",
    )  # fmt: skip
    levels = [level.value for level in FEATURE_LEVELS.values()]
    place = (processes.library.path, str(tmp_path / "libd3d12.so"), "0")
    assert processes.arguments == [(place, levels)]
    assert processes.places == ["a.whl"]
    made.close()
    assert started.ends == ["stop"]
    made.close()
    assert started.ends == ["stop"]


def test_the_loader_looks_beside_the_library(processes: Processes, tmp_path: Path) -> None:
    processes.prepare(OPENED)
    DirectMLLibrary("")
    (environment,) = processes.environments
    assert not environment or str(tmp_path) in environment["LD_LIBRARY_PATH"].split(os.pathsep)


def test_a_relative_path_of_direct3d_is_that_of_this_folder(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "libd3d12.so").touch()
    processes.prepare(OPENED)
    DirectMLLibrary("d3d12=libd3d12.so")
    assert processes.arguments[0][0][1] == str(tmp_path / "libd3d12.so")


def test_a_library_that_does_not_say_its_release_is_the_first_of_its_level(processes: Processes) -> None:
    processes.library = Library(processes.library.path, "")
    processes.prepare(("opened", 0x5100, "a GPU", True))
    assert DirectMLLibrary("").version == "1.9.0"
    processes.prepare(("opened", 0x7777, "a GPU", True))  # of a level that nobody knows
    assert DirectMLLibrary("").feature_level == "1_0"


def test_the_level_is_the_one_whose_descs_the_release_takes(processes: Processes) -> None:
    processes.library = Library(processes.library.path, "1.9.1")
    processes.prepare(("opened", 0x5000, "a GPU", True))
    assert DirectMLLibrary("").feature_level == "5_1"
    processes.library = Library(processes.library.path, "1.9.0")
    processes.prepare(("opened", 0x5000, "a GPU", True))  # not one of those that were asked
    assert DirectMLLibrary("").feature_level == "5_0"


def test_a_library_that_is_only_asked_has_no_device(processes: Processes) -> None:
    processes.prepare(ASKED_ONLY)
    made = DirectMLLibrary.to_ask("a,b.whl,device=warp,half=allowed")
    assert (made.options, made.executes, made.device) == (LibraryOptions("a,b.whl", "none"), False, "none")
    assert processes.arguments[0][0][2] == "none"


def unavailable(place: str) -> str:
    with pytest.raises(Unavailable) as raised:
        DirectMLLibrary(place)
    return str(raised.value)


def test_a_file_of_direct3d_that_is_not_there_is_told_before_anything_is_started(processes: Processes) -> None:
    assert unavailable("a,d3d12=none.so") == "directml: d3d12=none.so: there is no such file"
    assert processes.started == []


@pytest.mark.parametrize(
    ("answer", "wrote", "message"),
    [
        (("cannot", "libd3d12.so cannot be loaded: no"), "", "libd3d12.so cannot be loaded: no"),
        (("cannot", "no device"), "a line\nanother\n", "no device; it wrote: a line / another"),
        (LateChild(), "", "the library did not load in time"),
        (LateChild(), "loading", "the library did not load in time; it wrote: loading"),
        (LostChild(-11), "", "its process ended with SIGSEGV"),
        (LostChild(1), "Boom\n", "its process ended with exit code 1; it wrote: Boom"),
    ],
)
@pytest.mark.parametrize(("place", "name"), [("a.whl", "directml:a.whl"), ("", "directml"), ("device=0", "directml")])
def test_a_library_that_does_not_load_is_unavailable(
    processes: Processes, answer: Any, wrote: str, message: str, place: str, name: str
) -> None:
    started = processes.prepare(answer, wrote=wrote)
    assert unavailable(place) == f"{name}: {message}"
    assert started.ends == KILLED


def test_a_process_that_cannot_be_started_makes_it_unavailable(processes: Processes) -> None:
    processes.prepared += [OSError(12, "Cannot allocate memory"), OSError("no room")]
    assert unavailable("a") == "directml:a: its process cannot be started: Cannot allocate memory"
    assert unavailable("a") == "directml:a: its process cannot be started: no room"


# ---- what it is asked


def test_an_answer_is_that_of_create_operator_with_the_version(processes: Processes) -> None:
    started = processes.prepare(ASKED_ONLY, 0, E_INVALIDARG, E_FAIL)
    made = DirectMLLibrary("", 7.5)
    answers = [made.create_operator(desc()) for _ in range(3)]
    assert answers == [LibraryAnswer("1.13.1", code) for code in (0, E_INVALIDARG, E_FAIL)]
    assert [answer.text for answer in answers] == [
        "accepts it",
        "refuses it: E_INVALIDARG",
        "refuses it: 0x80004005",
    ]
    assert started.questions[1:] == [(("create", tuple(image_of(desc()))), 7.5)] * 3
    assert started.ends == []


def test_without_a_device_a_run_is_an_answer(processes: Processes) -> None:
    processes.prepare(ASKED_ONLY, 0, E_INVALIDARG, E_FAIL)
    made = DirectMLLibrary("")
    for kind, text in (
        (NoDevice, "no device"),
        (Refused, "refuses it: E_INVALIDARG"),
        (Failure, "refuses it: 0x80004005"),
    ):
        with pytest.raises(kind) as raised:
            made.run(desc(), INPUTS)
        assert (type(raised.value), str(raised.value)) == (kind, text)


def test_a_tensor_that_is_spread_too_far_is_not_executed_and_may_be_asked_about(processes: Processes) -> None:
    spread = {"DataType": "UINT8", "Sizes": [2, 1], "Strides": [2**28, 1]}
    plain = {"DataType": "UINT8", "Sizes": [2, 1]}
    wide = desc_of("ELEMENT_WISE_IDENTITY", {"InputTensor": spread, "OutputTensor": plain})
    processes.prepare(OPENED)
    text = "the strides of InputTensor spread 2 elements over 0.3 GiB, for which no buffer is made"
    made = DirectMLLibrary("")
    assert (made.unsupported(wide), made.unsupported(desc())) == (text, None)
    processes.prepare(ASKED_ONLY)
    assert DirectMLLibrary("").unsupported(wide) is None


# ---- what it computes


def test_a_run_has_the_inputs_as_bytes_and_gives_the_outputs_as_arrays(processes: Processes) -> None:
    started = processes.prepare(OPENED, ("", 0, [b"\4\6\0\0" + GUARDED]))
    outputs = DirectMLLibrary("half=allowed,metacommands=off", 2.0).run(desc(), INPUTS)
    assert {name: (array.dtype.name, array.tolist()) for name, array in outputs.items()} == {
        "OutputTensor": ("uint8", [4, 6])
    }
    assert started.questions[1:] == [(("run", tuple(image_of(desc())), 3, BOUND, [4]), 2.0)]


def test_outputs_are_bound_in_order_with_none_for_one_that_is_left_out(processes: Processes) -> None:
    plain = {"DataType": "UINT8", "Sizes": [1, 1, 1, 1]}
    outputs = [plain, {**plain, "TotalTensorSizeInBytes": 16}]
    split = desc_of("SPLIT", {"InputTensor": {**plain, "Sizes": [1, 1, 1, 2]}, "OutputTensors": outputs, "Axis": 3})
    found = [b"\7\0\0\0" + GUARDED, b"\x08" + bytes(15) + GUARDED]
    started = processes.prepare(OPENED, ("", 0, found))
    given = {"InputTensor": np.array([7, 8], "uint8").reshape(1, 1, 1, 2)}
    got = DirectMLLibrary("").run(split, given)
    assert {label: array.ravel().tolist() for label, array in got.items()} == {
        "OutputTensors[0]": [7],
        "OutputTensors[1]": [8],
    }
    assert started.questions[1][0][-1] == [4, 16]

    made = rnn()
    started = processes.prepare(OPENED, ("", 0, [None, bytes(16) + GUARDED]))
    inputs = {part.label: np.zeros(part.tensor.sizes, "float32") for part in made.tensors("input_tensor")}
    assert list(DirectMLLibrary("").run(made, inputs)) == ["OutputSingleTensor"]
    assert started.questions[1][0][-1] == [None, 16]


def rnn() -> OperatorDesc:
    return valid(
        "RNN",
        InputTensor=tensor(1, 1, 1, 2),
        WeightTensor=tensor(1, 1, 4, 2),
        RecurrenceTensor=tensor(1, 1, 4, 4),
        OutputSingleTensor=tensor(1, 1, 1, 4),
        ActivationDescs=[{"Type": "ACTIVATION_TANH"}],
        Direction="FORWARD",
    )


@pytest.mark.parametrize("behind", [b"\xfe" + GUARDED[1:], GUARDED[1:] + b"\xfe", bytes(GUARD)])
def test_a_byte_behind_an_output_that_is_not_as_it_was_is_a_failure(processes: Processes, behind: bytes) -> None:
    processes.prepare(OPENED, ("", 0, [b"\4\6\0\0" + behind]))
    with pytest.raises(Failure, match=r"^wrote behind the end of OutputTensor$"):
        DirectMLLibrary("").run(desc(), INPUTS)


@pytest.mark.parametrize(
    ("step", "hresult", "kind", "text"),
    [
        ("CreateOperator", E_INVALIDARG, Refused, "refuses it: E_INVALIDARG"),
        ("CreateOperator", E_FAIL, Failure, "refuses it: 0x80004005"),
        ("CompileOperator", E_NOTIMPL, Unsupported, "CompileOperator returns 0x80004001"),
        ("CompileOperator", 0x8007023E, Failure, "takes the desc, and CompileOperator returns 0x8007023E"),
        ("CompileOperator", E_INVALIDARG, Failure, "takes the desc, and CompileOperator returns E_INVALIDARG"),
        (
            "CreateCommittedResource",
            E_NOTIMPL,
            Failure,
            "takes the desc, and CreateCommittedResource returns 0x80004001",
        ),
    ],
)
def test_a_step_that_fails_is_told_with_its_code(
    processes: Processes, step: str, hresult: int, kind: type[Exception], text: str
) -> None:
    started = processes.prepare(OPENED, (step, hresult, []))
    with pytest.raises(kind) as raised:
        DirectMLLibrary("").run(desc(), INPUTS)
    assert (type(raised.value), str(raised.value), started.ends) == (kind, text, [])


# ---- what is lost


@pytest.mark.parametrize(
    ("lost", "kind", "text"),
    [
        (LostChild(-11), Failure, "ended with SIGSEGV"),
        (LateChild(), TimedOut, "3"),
        (KeyboardInterrupt(), KeyboardInterrupt, ""),
    ],
)
def test_a_process_that_is_lost_costs_one_answer_and_is_started_again(
    processes: Processes, lost: BaseException, kind: type[BaseException], text: str
) -> None:
    first = processes.prepare(ASKED_ONLY, 0, lost, wrote="assertion failed\n")
    made = DirectMLLibrary("", 3.0)
    assert made.create_operator(desc()).is_accepted
    with pytest.raises(kind) as raised:
        made.create_operator(desc())
    assert str(raised.value) == text
    assert (first.ends, made.errors) == (KILLED, "assertion failed\n")
    second = processes.prepare(ASKED_ONLY, E_INVALIDARG)
    assert made.create_operator(desc()).is_refusal
    assert (made.errors, second.ends) == ("", [])
    assert [seconds for _, seconds in second.questions] == [None, 3.0]
    made.close()
    assert second.ends == ["stop"]


def test_a_library_that_cannot_be_loaded_again_is_a_failure_of_each_case(processes: Processes) -> None:
    processes.prepare(ASKED_ONLY, LostChild(-11))
    made = DirectMLLibrary("a.whl")
    with pytest.raises(Failure, match="SIGSEGV"):
        made.create_operator(desc())
    processes.prepare(("cannot", "out of memory"))
    with pytest.raises(Failure, match=r"^could not be loaded again: directml:a\.whl: out of memory$"):
        made.create_operator(desc())
    processes.prepare(ASKED_ONLY, 0)
    assert made.create_operator(desc()).is_accepted


@pytest.mark.parametrize(
    ("hresult", "text"),
    [
        (0x887A0005, "0x887A0005 (DXGI_ERROR_DEVICE_REMOVED)"),
        (0x887A0006, "0x887A0006 (DXGI_ERROR_DEVICE_HUNG)"),
        (0x887A0007, "0x887A0007 (DXGI_ERROR_DEVICE_RESET)"),
        (0x887A0020, "0x887A0020 (DXGI_ERROR_DRIVER_INTERNAL_ERROR)"),
    ],
)
def test_a_device_that_is_lost_is_made_again(processes: Processes, hresult: int, text: str) -> None:
    first = processes.prepare(OPENED, ("ExecuteCommandLists", hresult, []))
    made = DirectMLLibrary("")
    with pytest.raises(Failure) as raised:
        made.run(desc(), INPUTS)
    assert (type(raised.value), str(raised.value), first.ends) == (Failure, f"lost its device: {text}", KILLED)
    processes.prepare(OPENED, hresult)
    with pytest.raises(Failure, match=r"^lost its device: 0x"):
        made.create_operator(desc())
    processes.prepare(OPENED, ("", 0, [b"\4\6\0\0" + GUARDED]))
    assert made.run(desc(), INPUTS)["OutputTensor"].tolist() == [4, 6]
