"""How much there is to compute: what is too much, and what is not, by kernel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from valid_descs import convolution, tensor, valid

from dmlcheck.descs.read import read_desc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits import work
from dmlcheck.reference.limits.work import LIMIT, OutOfTime, TooMuchWork, Work, in_time, multiplications, terms


def test_what_is_too_much_is_said_with_the_number() -> None:
    assert Work(1_000, "samples", 1_000).problem is None
    assert Work(1_001, "samples", 1_000).problem == (
        "too much work: about 1,001 samples; the reference computes at most 1,000"
    )
    assert str(Work(2**70, "samples", 1).problem).startswith("too much work: about 1.2e+21 samples")
    assert terms(2**34).problem is None
    assert "terms" in str(terms(2**34 + 1).problem)
    assert multiplications(2**40).problem is None
    assert "multiplications" in str(multiplications(2**41).problem)


def problem(operator: str, desc: dict[str, Any]) -> str | None:
    """Return what is too much about a desc, of inputs that take no memory."""
    legal = valid(operator, desc)
    inputs = {
        part.label: np.broadcast_to(np.float32(0), part.tensor.sizes)
        for field in legal.spec.inputs
        for part in legal.parts[field.name]
    }
    found = engine.too_much_work(legal, inputs)
    if found is not None:
        with pytest.raises(TooMuchWork):
            engine.run(legal, inputs)
        with pytest.raises(TooMuchWork):
            list(bounds(legal, inputs, {}))
    return found


@pytest.mark.parametrize("stride", [1, 1 << 11])
def test_a_window_of_many_elements_at_many_places_is_too_much(stride: int) -> None:
    """2^20 places with 2^21 elements each are 2^41 terms, but for sums that share them; 2^9 places are 2^30."""
    count = (1 << 20) // stride
    window = {"WindowSize": [1 << 21], "Strides": [stride], "StartPadding": [0], "EndPadding": [0]}
    desc = {
        "InputTensor": tensor(1, 1, 1, (1 << 20) + (1 << 21) - 1),
        "OutputTensor": tensor(1, 1, 1, count),
        "DimensionCount": 2,
        "P": 1,
        **{name: [0 if "Padding" in name else 1, *value] for name, value in window.items()},
    }
    assert (problem("LP_POOLING", desc) is None) == (stride > 1)


def test_a_transposed_convolution_of_very_many_passes_is_too_much() -> None:
    """A stride of 1,024 by 1,024 makes 2^20 of them, one of 32 by 32 no more than 2^10."""
    for stride in (32, 1_024):
        output = [1, 1, 2 * stride, 2 * stride]
        more = {"Direction": "BACKWARD", "Strides": [stride, stride]}
        desc = convolution([1, 1, 2, 2], [1, 1, stride, stride], output, **more)
        assert (problem("CONVOLUTION", desc) is None) == (stride == 32)


def test_a_layer_of_a_network_is_not_too_much() -> None:
    """The largest convolution of VGG-16, of 32 images: 6e10 products."""
    image = [32, 64, 224, 224]
    desc = convolution(image, [64, 64, 3, 3], image, StartPadding=[1, 1], EndPadding=[1, 1])
    assert problem("CONVOLUTION", desc) is None


def test_regions_of_very_many_channels_are_too_much() -> None:
    desc = {
        "InputTensor": tensor(1, 1, 1_000, 1_000),
        "OutputTensor": tensor(1, 1, 1_000, 1_000),
        "CrossChannel": False,
        "Alpha": 1.0,
        "Beta": 1.0,
        "Bias": 1.0,
    }
    assert problem("LOCAL_RESPONSE_NORMALIZATION", desc | {"LocalSize": 5}) is None
    assert problem("LOCAL_RESPONSE_NORMALIZATION", desc | {"LocalSize": 2**32 - 1}) is None
    long = {"InputTensor": tensor(1, 1 << 23, 1, 1), "OutputTensor": tensor(1, 1 << 23, 1, 1), "CrossChannel": True}
    assert problem("LOCAL_RESPONSE_NORMALIZATION", desc | long | {"LocalSize": 2**32 - 1}) is None
    assert "terms" in str(problem("LOCAL_RESPONSE_NORMALIZATION", desc | long | {"LocalSize": (1 << 22) + 1}))


# ---- the time limit


def test_parts_are_computed_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.0, 12.5])  # before each part
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(LIMIT, "seconds", 2.0)
    monkeypatch.setattr(LIMIT, "until", 12.0)
    seen: list[int] = []
    with pytest.raises(OutOfTime, match=r"^2$"):
        any(map(seen.append, in_time(range(3))))
    assert seen == [0, 1]


def test_the_engine_has_no_more_time_than_it_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    desc = read_desc("ACTIVATION_RELU", {"InputTensor": tensor, "OutputTensor": tensor}).desc
    assert desc is not None
    inputs = {"InputTensor": np.array([-1, 1], np.float32)}
    with monkeypatch.context() as patch:
        patch.setattr(LIMIT, "until", 0.0)
        with pytest.raises(OutOfTime):
            engine.run(desc, inputs)
    assert engine.run(desc, inputs)["OutputTensor"].tolist() == [0, 1]
