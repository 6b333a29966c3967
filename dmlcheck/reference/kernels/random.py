"""RANDOM_GENERATOR: Philox 4x32-10, of Salmon and others, Parallel Random Numbers: As Easy as 1, 2, 3 (2011)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.blocks import runs
from dmlcheck.reference.pieces import Kernel, Piece

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
INCREMENTS = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
LOW = 0xFFFFFFFF


def random_generator(input_state: Any, *, output: TensorDesc) -> Iterator[Piece]:
    """Philox 4x32-10: Output[i] is word i mod 4 of philox(counter + floor(i / 4), key), i the row-major index.

    The state is the counter, four words, and the key, two words, each with the least significant word first.
    OutputState has the counter + ceil(number of elements / 4) modulo 2^128, and the same key.
    """
    words = input_state.reshape(-1).tolist()
    counter, key = number(words[:4]), words[4:]
    for index, start, sizes in runs(output.sizes):
        yield Piece({"output": index}, partial(random_words, counter, key, start, sizes), is_exact=True)
    after = words_of(counter + math.ceil(output.element_count / 4)) + key
    yield Piece({"output_state": ()}, lambda: {"output_state": np.array(after, np.uint32)}, is_exact=True)


def number(words: list[int]) -> int:
    """Return the number that 32-bit words make, the least significant first."""
    return sum(word << 32 * place for place, word in enumerate(words))


def words_of(counter: int) -> list[int]:
    """Return the four words of a counter modulo 2^128, the least significant first."""
    return [counter >> 32 * place & LOW for place in range(4)]


def random_words(counter: int, key: list[int], start: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return as many words as a tensor has elements, from word `start` on."""
    count = math.prod(sizes)
    first, skipped = divmod(start, 4)
    found = philox(counter + first, key, math.ceil((skipped + count) / 4))
    return {"output": found.reshape(-1)[skipped : skipped + count].reshape(sizes)}


def philox(counter: int, key: list[int], count: int) -> Any:
    """Return blocks of four words, one for each of `count` counters from a first one on."""
    word0, word1, word2, word3 = counters(counter, count)
    low, high = MULTIPLIERS
    for number_of_round in range(ROUNDS):
        key0, key1 = (k + number_of_round * step & LOW for k, step in zip(key, INCREMENTS, strict=True))
        first, second = word0 * np.uint64(low), word2 * np.uint64(high)
        word0, word1 = second >> 32 ^ word1 ^ np.uint64(key0), second & LOW
        word2, word3 = first >> 32 ^ word3 ^ np.uint64(key1), first & LOW
    return np.stack([word0, word1, word2, word3], axis=-1)


def counters(first: int, count: int) -> tuple[Any, ...]:
    """Return the four words of `count` counters that follow each other modulo 2^128."""
    low, high = (np.uint64(number(words_of(first)[part : part + 2])) for part in (0, 2))
    lower = low + np.arange(count, dtype=np.uint64)
    upper = high + (lower < low).astype(np.uint64)
    return tuple(half >> shift & LOW for half in (lower, upper) for shift in (np.uint64(0), np.uint64(32)))


KERNELS: dict[str, Kernel] = {"RANDOM_GENERATOR": Kernel(random_generator, is_exact=True)}
