"""The tensors of a model that was run elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dmlcheck.implementations import Failure, Unavailable, make, require_models
from dmlcheck.implementations.recorded_tensors import RecordedTensors

pytestmark = pytest.mark.usefixtures("folder")


def test_a_file_gives_its_tensors_by_name() -> None:
    np.savez("run.npz", **{"/a": np.array([1.0, 2.0])})
    made = make("recorded:run.npz")
    assert isinstance(made, RecordedTensors)
    require_models(made)
    tensor = made.tensor
    assert tensor("/a").tolist() == [1, 2]
    assert tensor("b") is None


@pytest.mark.parametrize(
    ("provider", "expected"), [("DmlExecutionProvider", True), ("CPUExecutionProvider", False), (None, None)]
)
def test_the_provider_that_ran_the_model_may_be_named(provider: str | None, expected: bool | None) -> None:
    np.savez("run.npz", **({} if provider is None else {"dmlcheck.provider": np.array(provider)}), x=np.zeros(1))
    made = RecordedTensors("run.npz")
    assert made.is_directml is expected
    assert made.device == (provider or "")


def test_a_file_that_cannot_be_read_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"none\.npz has no tensors of a model: no such file"):
        make("recorded:none.npz")
    Path("bad.npz").write_bytes(b"PK no archive")
    with pytest.raises(Unavailable, match=r"bad\.npz has no tensors of a model"):
        make("recorded:bad.npz")


def test_a_tensor_that_cannot_be_read_is_a_failure() -> None:
    np.savez("run.npz", x=np.array([print], object))
    with pytest.raises(Failure, match="cannot be read for x: it contains Python objects"):
        RecordedTensors("run.npz").tensor("x")


def test_it_runs_no_cases() -> None:
    np.savez("run.npz", x=np.zeros(1))
    made = RecordedTensors("run.npz")
    assert made.unsupported(None) == "it has the tensors of a model, and runs no cases"  # type: ignore[arg-type]
    with pytest.raises(Failure):
        made.run(None, {})  # type: ignore[arg-type]


def test_what_runs_no_models_is_refused() -> None:
    with pytest.raises(Unavailable, match="reference runs no ONNX models; judge a model with"):
        require_models(make("reference"))
