"""The implementations of a run with two of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dmlcheck.implementations import Unavailable
from dmlcheck.implementations.reference import Reference
from dmlcheck.running import pair
from dmlcheck.running.pair import Pair, make_all


def test_one_name_makes_no_pair() -> None:
    assert isinstance(make_all("reference", None, None), Reference)


def test_a_pair_is_its_first_one_where_it_is_asked() -> None:
    both = Pair(SimpleNamespace(name="a", is_directml=True), SimpleNamespace(name="b"))
    assert (both.name, both.is_directml) == ("a", True)
    assert both.version == ""  # the first one has none


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)])
def test_either_may_crash_and_both_must_keep_the_time(first: bool, second: bool) -> None:
    both = Pair(*(SimpleNamespace(may_crash=each, keeps_time=each) for each in (first, second)))
    assert both.may_crash
    assert not both.keeps_time
    assert Pair(SimpleNamespace(keeps_time=True), SimpleNamespace(keeps_time=True)).keeps_time


def test_both_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    def made(name: str, timeout: float | None) -> SimpleNamespace:
        if name == "none":
            raise Unavailable(name)
        return SimpleNamespace(close=lambda: closed.append(f"{name} {timeout}"))

    monkeypatch.setattr(pair, "make", made)
    make_all("a", "b", 3.0).close()
    assert closed == ["a 3.0", "b 3.0"]
    with pytest.raises(Unavailable):
        make_all("a", "none", None)
    assert closed[2:] == ["a None"]
