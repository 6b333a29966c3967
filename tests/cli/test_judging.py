"""What `fuzz` and `reduce` are told of an implementation."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import dmlcheck

from dmlcheck.cli.judging import Judging
from dmlcheck.reference.limits.precision import Precision

CASE = """\
operator: ACTIVATION_RELU
desc: {InputTensor: {DataType: FLOAT32, Sizes: [1]}, OutputTensor: {DataType: FLOAT32, Sizes: [1]}}
inputs: {InputTensor: [1]}
"""
PLAIN = Judging("onnxruntime", None, "float32", "float32", (), 60.0)


def test_the_command_repeats_only_what_is_not_the_default() -> None:
    assert PLAIN.command("found") == "dmlcheck run found --implementation onnxruntime"
    other = PLAIN._replace(level="5_0", accumulate="float16", inputs="bfloat16", algorithms=("winograd",), timeout=0.0)
    other = other._replace(directml_version="1.8.0")
    words = "--feature-level 5_0 --accumulate float16 --input-precision bfloat16 --algorithms winograd"
    assert (
        other.command("found")
        == f"dmlcheck run found --implementation onnxruntime {words} --directml-version 1.8.0 --timeout 0"
    )


@pytest.mark.parametrize(("timeout", "expected"), [(0.0, None), (5.0, 5.0)])
def test_no_time_limit_is_none(timeout: float, expected: float | None) -> None:
    assert PLAIN._replace(timeout=timeout).most_seconds == expected


def test_settings_are_those_of_a_run() -> None:
    settings = PLAIN._replace(level="5_0", accumulate="float16", directml_version="1.8.0").settings
    assert (settings.feature_level, settings.precision) == ("5_0", Precision("FLOAT16"))
    assert settings.directml_version == "1.8.0"


COMMANDS = [["fuzz"], ["reduce", "case.yaml", "-o", "reduced.yaml"]]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_version_of_directml_is_refused_of_what_is_not_directml(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.yaml").write_text(CASE)
    result = dmlcheck(*words, "--implementation", "python:misbehaving:Misbehaving", "--directml-version", "1.8.0")
    assert result.exit_code == 2
    said = "--directml-version 1.8.0: misbehaving is not DirectML; judge DirectML with"
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("words", COMMANDS)
def test_the_implementation_must_be_named(words: list[str]) -> None:
    result = dmlcheck(*words)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, "Error: Missing option '--implementation'.")
