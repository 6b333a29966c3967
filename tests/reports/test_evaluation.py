"""What `dmlcheck eval` prints, read back as YAML."""

from __future__ import annotations

import numpy as np
import yaml

from dmlcheck.reports.evaluation import evaluated_text
from dmlcheck.running.evaluate import Evaluated

VALUES = np.array([[1, 0.5], [-2, 3]], np.float32)


def test_a_case_has_its_outputs_under_its_name() -> None:
    evaluated = Evaluated("one", {"OutputTensor": (VALUES, "FLOAT32"), "OutputTensors[1]": (VALUES[0], "FLOAT32")})
    assert "".join(evaluated_text(evaluated)) == (
        'one:\n  OutputTensor: [[1, 0.5], [-2, 3]]\n  "OutputTensors[1]": [1, 0.5]\n'
    )


def test_a_resource_has_its_elements_as_they_lie() -> None:
    assert (
        "".join(evaluated_text(Evaluated(None, {"out": (VALUES.reshape(-1), "FLOAT32")}))) == "out: [1, 0.5, -2, 3]\n"
    )


def test_a_name_that_yaml_reads_as_something_else_is_quoted() -> None:
    for name in ("no", "1", "a: b", "x[DataType=FLOAT32]", ""):
        text = "".join(evaluated_text(Evaluated(name, {"out": (VALUES[0], "FLOAT32")})))
        assert yaml.safe_load(text) == {name: {"out": [1, 0.5]}}


def test_elements_that_are_left_open_are_any() -> None:
    marks = {"out": np.array([[False, True], [False, False]])}
    evaluated = Evaluated("one", {"out": (VALUES, "FLOAT32")}, undefined=marks)
    assert "".join(evaluated_text(evaluated)) == "one:\n  out: [[1, any], [-2, 3]]\n"
