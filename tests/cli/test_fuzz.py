"""`dmlcheck fuzz`, as it is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commandline import dmlcheck

from dmlcheck.cli import judging
from dmlcheck.fuzzing import campaign, trials


@pytest.fixture(autouse=True)
def _without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "_REDUCING", None)  # on a busy machine a reduction may not end within its time


def fuzz(*words: str, name: str = "Right") -> tuple[int, str]:
    result = dmlcheck("fuzz", *words, "--implementation", f"python:fuzzed:{name}")
    return result.exit_code, result.output


@pytest.mark.slow
def test_nothing_found_is_0_and_something_found_is_1_with_files_that_fail() -> None:
    code, output = fuzz("GEMM", "--examples", "12")
    assert (code, "12 draws, 12 compared" in output, ", 0 findings" in output) == (0, True, True)
    code, output = fuzz("GEMM", "--examples", "12", "-o", "found", name="LosesLast")
    assert code == 1
    assert "FOUND GEMM: output-mismatch" in output
    assert "dmlcheck run found --implementation python:fuzzed:LosesLast" in output
    again = dmlcheck("run", "found", "--implementation", "python:fuzzed:LosesLast")
    assert again.exit_code == 1
    assert dmlcheck("run", "found").exit_code == 0


def test_findings_that_cannot_be_written_are_a_usage_error() -> None:
    Path("file").touch()
    code, output = fuzz("GEMM", "--examples", "12", "-o", "file/found", name="LosesLast")
    assert code == 2
    assert re.search(r"Error: -o: file.found cannot be written: ", output)


@pytest.mark.slow
def test_what_is_known_is_expected_of_a_campaign_and_of_its_findings() -> None:
    fuzz("GEMM", "--examples", "12", "-o", "found", name="LosesLast")
    for reason, code in (("{cases: 'found/gemm-*', expect: failed, reason: lost}", 0), ("{cases: '*relu*', ", 2)):
        Path("known.yaml").write_text(f"- {reason}\n")
        again, output = fuzz(
            "GEMM", "--examples", "12", "-o", "found", "--expectations", "known.yaml", name="LosesLast"
        )
        assert again == code, output
        assert ("draws failed as expected: lost" in output) == (code == 0)
    fuzz("GEMM", "--examples", "12", "-o", "found", name="LosesLast")
    Path("known.yaml").write_text("- {cases: 'found/gemm-*', expect: failed, reason: lost}\n")
    words = ("--implementation", "python:fuzzed:LosesLast", "--expectations", "known.yaml")
    assert dmlcheck("run", "found", *words).exit_code == 0


@pytest.mark.slow
def test_the_same_seed_finds_the_same() -> None:
    texts = []
    for folder in ("a", "b"):
        fuzz("GEMM", "--examples", "10", "--seed", "5", "-o", folder, name="LosesLast")
        texts.append(sorted((path.name, path.read_bytes()) for path in Path(folder).glob("*.yaml")))
    assert texts[0]
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_workers_of_a_cluster_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="there is no dask")
    monkeypatch.setattr(trials, "_TOGETHER", 4)
    words = ("GEMM", "--examples", "12", "--seed", "5")
    found = {}
    for folder, executor in (("here", ()), ("there", ("--executor", "dask", "-j", "2"))):
        code, output = fuzz(*words, "-o", folder, *executor, name="LosesLast")
        assert (code, "12 draws, 12 compared" in output) == (1, True)
        found[folder] = sorted((path.name, path.read_bytes()) for path in Path(folder).glob("*.yaml"))
    assert found["here"] == found["there"] != []


@pytest.mark.slow
def test_options_that_matter_are_in_the_command_that_runs_the_findings() -> None:
    words = ("--feature-level", "5_0", "--accumulate", "float16", "--input-precision", "tf32", "--timeout", "5")
    _, output = fuzz("GEMM", "--examples", "10", *words, name="LosesLast")
    assert "--feature-level 5_0 --accumulate float16 --input-precision tf32 --timeout 5" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("GEM",), "did you mean GEMM?"),
        (("MULTIHEAD_ATTENTION", "--feature-level", "1_0"), "is there from DML_FEATURE_LEVEL_6_1 on"),
        (("GEMM", "-o", "mine"), "mine is not empty"),
        (("GEMM", "--examples", "0"), "0 is not in the range"),
        (("GEMM", "--exhaustive", "--invalid"), "are campaigns of their own; choose one"),
        (("GEMM", "-j", "2", "--graphs"), "-j is for descs; graphs run one after the other"),
        (("GEMM", "--graphs", "--executor", "dask"), "--executor is for descs"),
    ],
)
def test_what_cannot_be_drawn_is_a_usage_error(words: tuple[str, ...], message: str) -> None:
    Path("mine").mkdir()
    Path("mine/x").write_text("x")
    code, output = fuzz(*words)
    assert (code, message in output) == (2, True), output


def test_what_says_nothing_of_refusals_is_not_asked_for_them() -> None:
    result = dmlcheck("fuzz", "--invalid", "--implementation", "python:misbehaving:Misbehaving")
    assert result.exit_code == 2
    assert "does not say that it refuses descs" in result.output


def test_graphs_are_for_what_runs_models() -> None:
    code, output = fuzz("--graphs")
    assert (code, "runs no ONNX models" in output) == (2, True)


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "EXTRA", "no_such_module_hypothesis")
    code, output = fuzz("GEMM")
    assert code == 2
    assert "python -m pip install hypothesis" in output


def test_the_reference_is_judged_by_nothing() -> None:
    result = dmlcheck("fuzz", "GEMM", "--implementation", "reference")
    assert result.exit_code == 5
    assert "the reference engine would be compared with itself" in result.output


def test_nothing_compared_is_5() -> None:
    result = dmlcheck("fuzz", "GEMM", "--examples", "4", "--implementation", "python:fuzzed:TakesNothing")
    assert result.exit_code == 5
    assert "skipped 4 draws: unsupported-by-implementation: nothing at all" in result.output


def test_exhaustive_runs_all_inputs_of_an_operator_and_ends() -> None:
    code, output = fuzz("ELEMENT_WISE_BIT_COUNT", "ELEMENT_WISE_IS_NAN", "GEMM", "--exhaustive")
    assert code == 0
    assert "all inputs of ELEMENT_WISE_BIT_COUNT, ELEMENT_WISE_IS_NAN, GEMM at" in output
    assert re.search(r"^4 draws, 4 compared, 0 findings", output, re.MULTILINE), output


@pytest.mark.slow
def test_an_interrupt_ends_it_with_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from dmlcheck.fuzzing.campaign import Campaign

    events = Campaign.events

    def interrupted(self: Campaign):  # type: ignore[no-untyped-def] # noqa: ANN202
        yield from events(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Campaign, "events", interrupted)
    code, output = fuzz("GEMM", "--examples", "10", name="LosesLast")
    assert code == 130
    assert "FOUND GEMM" in output
    assert "interrupted: 10 draws" in output
    assert Path("findings/manifest.json").is_file()


@pytest.mark.slow
def test_draws_are_limited_to_values_of_attributes_and_types() -> None:
    words = ("CONVOLUTION", "--examples", "24", "--where", "Direction=BACKWARD", "--where", "DataType=FLOAT16")
    code, output = fuzz(*words, "-o", "found", name="LosesLast")
    assert code == 1
    for file in Path("found").glob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        assert "Direction: BACKWARD" in text
        assert "DataType: FLOAT16" in text
    assert "24 draws" in output


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("Direction", "--where 'Direction' is not NAME=VALUE"),
        ("Directon=FORWARD", "no operator has Directon; did you mean Direction?"),
        ("Direction=UP", "none of the operators can have Direction=UP"),
    ],
)
def test_a_condition_that_nothing_meets_is_wrong_usage(condition: str, said: str) -> None:
    code, output = fuzz("CONVOLUTION", "--where", condition)
    assert code == 2
    assert said in output


@pytest.mark.slow
def test_several_processes_find_what_one_finds() -> None:
    found = {}
    for jobs in ("1", "2"):
        words = ("GEMM", "ELEMENT_WISE_ABS", "--examples", "12", "-j", jobs, "-o", f"by-{jobs}")
        code, output = fuzz(*words, name="LosesLast")
        assert code == 1
        assert "12 draws, " in output
        found[jobs] = {file.name: file.read_text(encoding="utf-8") for file in Path(f"by-{jobs}").rglob("*.yaml")}
    assert found["1"] == found["2"]
