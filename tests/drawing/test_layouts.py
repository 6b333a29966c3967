"""Random layouts: of the kinds that there are, valid, and the same for a seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from valid_descs import valid

from dmlcheck.descs.strides import packed_strides
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.layouts import laid, strides


def kind(sizes: tuple[int, ...], found: list[int]) -> str:
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, found, strict=True))
    if any(stride == 0 for stride in found):
        return "broadcast"
    if extent > 2 * 3 * 4 * 5:
        return "padded"
    if found == [60, 1, 15, 3]:
        return "channels last"
    return "packed" if tuple(found) == packed_strides(sizes) else "permuted"


def test_strides_are_permuted_padded_channels_last_and_broadcast() -> None:
    sizes = (2, 3, 4, 5)
    found = Counter(kind(sizes, strides(sizes, seeded(seed), repeats=seed % 2 == 1)) for seed in range(600))
    assert set(found) == {"broadcast", "padded", "channels last", "packed", "permuted"}
    assert min(found.values()) >= 5


def test_the_elements_of_a_single_row_may_have_gaps_between_them() -> None:
    found = {tuple(strides((1, 6), seeded(seed), repeats=False)) for seed in range(50)}
    assert {row[1] for row in found} == {1, 2, 3}


def test_no_stride_is_0_where_nothing_may_repeat() -> None:
    assert all(0 not in strides((2, 3, 4), seeded(seed), repeats=False) for seed in range(50))


def test_a_desc_with_other_strides_is_valid_and_its_outputs_never_overlap() -> None:
    tensor: dict[str, Any] = {"DataType": "FLOAT32", "Sizes": [2, 3, 4, 5]}
    desc = valid("ACTIVATION_RELU", {"InputTensor": tensor, "OutputTensor": tensor})
    made = [laid(desc, seeded(seed)) for seed in range(40)]
    assert sum(one["InputTensor"].strides is not None for one in made) > 20
    assert any(0 in (one["InputTensor"].strides or ()) for one in made)
    assert not any(0 in (one["OutputTensor"].strides or ()) for one in made)
