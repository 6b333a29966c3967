"""Operators as they are named on the command line."""

from __future__ import annotations

import click
import pytest
from commandline import dmlcheck

from dmlcheck.cli.operators import operators_named


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("GEMMM", "did you mean GEMM?"),
        ("softmx", "did you mean ACTIVATION_SOFTMAX or ACTIVATION_SOFTMAX1?"),
        ("Zzzz", "`dmlcheck show` lists the operators"),
        ("RecurrenceTensor", "RecurrenceTensor is a field of GRU and of 2 other operators"),
        ("FLOAT16", "FLOAT16 is a data type"),
        ("FP32", "did you mean FLOAT32?"),
        (
            "FusedActivatoin",
            "did you mean FusedActivation? FusedActivation is a field of BATCH_NORMALIZATION and of 7 other operators",
        ),
        ("size-mismach", "did you mean size-mismatch?"),
        ("C37", "did you mean MULTIHEAD_ATTENTION/C37 or MULTIHEAD_ATTENTION1/C37?"),
        ("BOOL", "DirectML has no BOOL; its logical operators use UINT8"),
        ("CROSS_CORRELATION", "CROSS_CORRELATION is a value of DML_CONVOLUTION_MODE, of Mode of CONVOLUTION"),
    ],
)
def test_another_name_is_refused_with_the_closest_or_with_where_they_are_listed(given: str, hint: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        operators_named(given)
    assert refused.value.message == f"{given} is not an operator that dmlcheck knows; {hint}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Softmax", "Softmax is ONNX's name: ACTIVATION_SOFTMAX1"),
        ("Resize", "Resize is ONNX's name: RESAMPLE2 and RESAMPLE3"),
        ("torch.nn.Linear", "torch.nn.Linear is PyTorch's name: GEMM"),
    ],
)
def test_a_name_of_another_library_stands_for_its_operators_and_that_is_said(given: str, said: str) -> None:
    with click.Context(click.Command("fuzz")):
        names = operators_named(given)
    assert names == [f"DML_OPERATOR_{name}" for name in said.rpartition(": ")[2].split(" and ")]
    assert dmlcheck("fuzz", given, "--implementation", "reference").stderr.startswith(f"dmlcheck: {said}\n")
