"""Globs: what they name, held beside a plain definition, and how much work a hostile one makes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmlcheck.running.globs import Globs, is_too_long, matches


@pytest.mark.parametrize(
    ("glob", "text", "expected"),
    [
        ("a.yaml::c1", "a.yaml::c1", True),
        ("a.yaml::c1", "a.yaml::c11", False),
        ("*::c?", "f/a.yaml::c1", True),
        ("*::c?", "f/a.yaml::c11", False),
        ("a.yaml::c[T=FLOAT32]", "a.yaml::c[T=FLOAT32]", True),
        ("a.yaml::c[T=*]", "a.yaml::c[T=FLOAT16]", True),
        ("a.yaml::c[12]", "a.yaml::c1", False),
        ("*", "line\nbreak", True),
        ("?", "\n", True),
        ("a.yaml", "a_yaml", False),
        ("ab*ba", "aba", False),
        ("ab*ba", "abba", True),
        ("*a", "ab", False),
        ("*a*", "bab", True),
        ("", "", True),
        ("", "a", False),
        ("a*b*c", "abxbxc", True),
    ],
)
def test_a_glob_names_texts(glob: str, text: str, expected: bool) -> None:
    assert matches(glob, text) is expected
    assert list(Globs({0: glob}).naming(text)) == ([0] if expected else [])


def plainly(glob: str, text: str) -> bool:
    """What a glob means, tried in every way."""
    if not glob:
        return not text
    if glob[0] == "*":
        return any(plainly(glob[1:], text[start:]) for start in range(len(text) + 1))
    return bool(text) and glob[0] in ("?", text[0]) and plainly(glob[1:], text[1:])


GLOB = st.text(st.sampled_from("ab?*"), max_size=8)


@given(GLOB, st.text(st.sampled_from("ab"), max_size=8))
def test_a_glob_means_what_its_definition_says(glob: str, text: str) -> None:
    assert matches(glob, text) == plainly(glob, text)


@given(st.lists(GLOB, max_size=6), st.text(st.sampled_from("ab"), max_size=6))
def test_many_globs_name_what_each_of_them_names(globs: list[str], text: str) -> None:
    expected = [number for number, glob in enumerate(globs) if plainly(glob, text)]
    assert sorted(Globs(dict(enumerate(globs))).naming(text)) == expected


def test_fourteen_stars_are_held_beside_sixty_letters_without_going_back() -> None:
    """Tried in every way, that is 10**13 ways."""
    assert not matches("*a" * 14 + "b", "a" * 60)
    assert matches("*a" * 14 + "*", "a" * 60)
    assert not matches("*?a" * 2000 + "b", "a" * 100_000)


def test_globs_that_begin_and_end_otherwise_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    monkeypatch.setattr("dmlcheck.running.globs.matches", lambda glob, _: looked_at.append(glob))
    starts = [f"f{number:04}/*" for number in range(5000)]
    ends = [f"*::c{number}" for number in range(5000)]
    globs = Globs(dict(enumerate([*starts, *ends, "x", "*"])))
    assert not list(globs.naming("f0042/a.yaml::c7"))
    assert looked_at == ["*", "f0042/*", "*::c7"]


@pytest.mark.parametrize(
    ("glob", "expected"), [("a" * 9999, False), ("*" * 4096, False), ("*" * 4097, True), ("a" * 4096 + "?", True)]
)
def test_only_a_glob_with_something_to_search_for_can_be_too_long(glob: str, expected: bool) -> None:
    assert is_too_long(glob) is expected
