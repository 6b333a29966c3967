"""RANDOM_GENERATOR: known answers, the words of a tensor in blocks, and the state that is returned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from grouped import blocks_of
from valid_descs import valid

from dmlcheck.reference import engine

Array = np.ndarray[Any, Any]

WORD = 0xFFFFFFFF


def generated(state: list[int], sizes: list[int], *, has_state: bool = True) -> tuple[list[int], list[int] | None]:
    """Return the elements that the engine computes, and the next state."""
    of_state = {"DataType": "UINT32", "Sizes": [6]}
    fields = {
        "InputStateTensor": of_state,
        "OutputTensor": {"DataType": "UINT32", "Sizes": sizes},
        "OutputStateTensor": of_state if has_state else None,
        "Type": "PHILOX_4X32_10",
    }
    desc = valid("RANDOM_GENERATOR", fields)
    found = engine.run(desc, {"InputStateTensor": np.array(state, np.uint32)})
    assert all(values.dtype == np.uint32 for values in found.values())
    after = found["OutputStateTensor"].tolist() if has_state else None
    return found["OutputTensor"].reshape(-1).tolist(), after


def words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def philox(state: list[int]) -> Iterator[int]:
    """Yield random words, one block of Python integers after the other, as the definition has them."""
    counter = sum(word << 32 * place for place, word in enumerate(state[:4]))
    while True:
        c, (k0, k1) = [counter >> 32 * place & WORD for place in range(4)], state[4:]
        for _ in range(10):
            first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [second >> 32 ^ c[1] ^ k0, second & WORD, first >> 32 ^ c[3] ^ k1, first & WORD]
            k0, k1 = k0 + 0x9E3779B9 & WORD, k1 + 0xBB67AE85 & WORD
        yield from c
        counter = (counter + 1) % 2**128


def oracle(state: list[int], count: int) -> list[int]:
    return [word for word, _ in zip(philox(state), range(count), strict=False)]


# Random123, tests/kat_vectors, philox4x32 10: counter, key, output.
KNOWN_ANSWERS = [
    ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff " * 4, "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN_ANSWERS)
def test_the_known_answers_of_philox_4x32_10(counter: str, key: str, output: str) -> None:
    state = words(counter) + words(key)
    assert generated(state, [4])[0] == words(output)
    assert oracle(state, 4) == words(output)


def test_any_state_and_any_sizes_give_what_the_definition_gives() -> None:
    generator = np.random.default_rng(3)
    for _ in range(40):
        state = generator.choice([0, 1, WORD, 0x80000000, int(generator.integers(2**32))], 6).tolist()
        sizes = generator.integers(1, 6, generator.integers(1, 5)).tolist()
        count = int(np.prod(sizes))
        assert generated(state, sizes)[0] == oracle(state, count), (state, sizes)


@pytest.mark.parametrize("block", [1, 2, 3, 4, 5, 7, 64])
def test_blocks_of_the_engine_need_not_be_blocks_of_the_generator(block: int) -> None:
    state = [WORD - 3, WORD, 5, 9, 1, 2]
    with blocks_of(block):
        assert generated(state, [3, 2, 7])[0] == oracle(state, 42)


@pytest.mark.parametrize(
    ("count", "state", "after"),
    [
        (1, [0, 0, 0, 0], [1, 0, 0, 0]),
        (4, [0, 0, 0, 0], [1, 0, 0, 0]),
        (5, [0, 0, 0, 0], [2, 0, 0, 0]),
        (8, [WORD, 0, 0, 0], [1, 1, 0, 0]),
        (4, [WORD, WORD, 7, 0], [0, 0, 8, 0]),
        (4, [WORD, WORD, WORD, 3], [0, 0, 0, 4]),
        (9, [WORD, WORD, WORD, WORD], [2, 0, 0, 0]),
    ],
)
def test_the_counter_grows_by_the_blocks_and_wraps(count: int, state: list[int], after: list[int]) -> None:
    key = [WORD, 0x12345678]
    assert generated(state + key, [count])[1] == after + key


def test_without_a_state_to_return_the_elements_are_the_same() -> None:
    state = [5, 4, 3, 2, 1, 0]
    assert generated(state, [10], has_state=False) == (generated(state, [10])[0], None)


def test_a_generator_goes_on_where_the_last_block_ended() -> None:
    state = [WORD, WORD, 1, 2, 3, 4]
    first, after = generated(state, [3, 4])
    assert after is not None
    second, _ = generated(after, [8])
    assert first + second == generated(state, [20])[0]
