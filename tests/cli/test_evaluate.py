"""What `eval` computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, dmlcheck

from dmlcheck.reference import engine


def test_memory_that_ends_in_eval_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(engine, "evaluate", run)
    result = dmlcheck("eval", "-", stdin=GOOD)
    assert result.exit_code == 1
    assert "error[tensor-too-large]" in result.output


OPEN = """\
operator: ELEMENT_WISE_MAX
desc:
  ATensor: {DataType: FLOAT32, Sizes: [2, 2]}
  BTensor: {DataType: FLOAT32, Sizes: [2, 2]}
  OutputTensor: {DataType: FLOAT32, Sizes: [2, 2]}
inputs: {ATensor: [[1, 2], [nan, 4]], BTensor: [[0, 5], [3, 3]]}
"""


def test_what_eval_prints_are_outputs_that_the_reference_passes(tmp_path: Path) -> None:
    printed = dmlcheck("eval", "-", stdin=OPEN).output
    assert printed == '"-":\n  OutputTensor: [[1, 5], [any, 4]]\n'
    outputs = printed.partition("OutputTensor:")[2]
    (tmp_path / "max.yaml").write_text(f"{OPEN}outputs:\n  OutputTensor:{outputs}", encoding="utf-8")
    assert dmlcheck("run", str(tmp_path)).exit_code == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cases:\n- {name: wrong, invalid: [missing-field]}\n", 5),
        ("cases:\n- {name: wrong, invalid: [missing-field]}\n- {name: right}\n", 0),
        ("cases:\n- {name: wrong, invalid: [missing-field]}\n- {name: two, inputs: {ATensor: [1]}}\n", 1),
    ],
)
def test_eval_of_nothing_that_can_be_computed_has_its_exit_code(text: str, code: int) -> None:
    assert dmlcheck("eval", "-", stdin=OPEN + text).exit_code == code
