"""RANDOM_GENERATOR: Philox 4x32-10, of Salmon and others, Parallel Random Numbers: As Easy as 1, 2, 3 (2011)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays.needs import WHOLE
from dmlcheck.reference.arrays.places import Places, first_number
from dmlcheck.reference.rows import Cut, Kernel, exact_row

MULTIPLIER0, MULTIPLIER1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
INCREMENT0, INCREMENT1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW, WIDTH = np.uint64(0xFFFFFFFF), np.uint64(32)
ROUNDS = 10


def random_generator(input_state: Any, *, output: TensorDesc, places: Places) -> dict[str, Any]:
    """Philox 4x32-10: Output[i] is word i mod 4 of philox(counter + floor(i / 4), key), with i the row-major index.

    The state is the counter, four words, and the key, two words, each with the least significant word first.
    OutputState has the counter + ceil(number of elements / 4), modulo 2^128, and the same key.
    """
    *words, key0, key1 = input_state.ravel().tolist()
    counter = number(words)
    found = random_words(counter, (key0, key1), first_number(places, output.sizes), math.prod(map(len, places)))
    after = [*words_of(counter + math.ceil(output.element_count / 4)), key0, key1]
    return {"output": found, "output_state": np.array(after, np.uint32)}


def number(words: list[int]) -> int:
    """Return the number that 32-bit words make, the least significant first."""
    return sum(word << 32 * place for place, word in enumerate(words))


def words_of(counter: int) -> list[int]:
    """Return the four words of a counter modulo 2^128, the least significant first."""
    return [counter >> 32 * place & 0xFFFFFFFF for place in range(4)]


def random_words(counter: int, key: tuple[int, int], start: int, count: int) -> Any:
    """Return `count` words from word `start` on."""
    first, skipped = divmod(start, 4)
    return philox(counter + first, key, math.ceil((skipped + count) / 4)).ravel()[skipped : skipped + count]


def philox(counter: int, key: tuple[int, int], count: int) -> Any:
    """Return blocks of four words for `count` consecutive counters."""
    word0, word1, word2, word3 = counters(counter, count)
    key0, key1 = map(np.uint64, key)
    for _ in range(ROUNDS):
        first, second = word0 * MULTIPLIER0, word2 * MULTIPLIER1
        word0, word1 = second >> WIDTH ^ word1 ^ key0, second & LOW
        word2, word3 = first >> WIDTH ^ word3 ^ key1, first & LOW
        key0, key1 = key0 + INCREMENT0 & LOW, key1 + INCREMENT1 & LOW
    return np.stack([word0, word1, word2, word3], 1)


def counters(first: int, count: int) -> tuple[Any, ...]:
    """Return the four words of `count` consecutive counters modulo 2^128."""
    low, high = (np.uint64(number(words_of(first)[part : part + 2])) for part in (0, 2))
    lower = low + np.arange(count, dtype=np.uint64)
    upper = high + (lower < low).astype(np.uint64)
    return tuple(half >> shift & LOW for half in (lower, upper) for shift in (np.uint64(0), WIDTH))


KERNELS: dict[str, Kernel] = {
    "RANDOM_GENERATOR": exact_row(random_generator, Cut(needs={"input_state": WHOLE})),
}
