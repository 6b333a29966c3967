"""Random choices made of whole numbers alone."""

from __future__ import annotations

from collections import Counter

from dmlcheck.drawing.chance import Chance, seeded


def test_choices_are_the_same_for_a_seed_and_others_for_another() -> None:
    first, again, other = ([seeded(seed).integer(0, 10**9) for _ in range(3)] for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_a_choice_is_one_of_the_values() -> None:
    asked: list[tuple[int, int]] = []

    def last(low: int, high: int) -> int:
        asked.append((low, high))
        return high

    assert Chance(last).of("abc") == "c"
    assert Chance(last).some("abc", 2) == ["c", "b"]
    assert asked == [(0, 2), (0, 2), (0, 1)]


def test_often_is_true_in_its_share_of_the_draws() -> None:
    chance = seeded("share")
    found = Counter(chance.often(0.3) for _ in range(4000))
    assert 1050 < found[True] < 1350  # 5 standard deviations around 1200
    assert not any(chance.often(0.0) for _ in range(100))
    assert all(chance.often(1.0) for _ in range(100))
