"""One word for one thing: the words that the glossary does not use stand in no text of the tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from glossary import catalog, docstrings, found_in, helps, messages, pages, riddle_in, specs, strings, terms

Texts = Callable[[], Iterator[tuple[str, str]]]

# Names and expressions that look like prose, by a part of each.
NOT_PROSE = (
    "unspecified|left open|",  # what the sources of cases may say
    "legality: cases that",  # a key of `show --evidence`
    "a legal desc",  # a reason in reports of earlier versions
)


@pytest.mark.parametrize("texts", [catalog, helps, strings, messages, pages, specs], ids=lambda texts: texts.__name__)
def test_a_word_that_the_glossary_does_not_use_is_not_used(texts: Texts) -> None:
    found = [
        (where, word)
        for where, text in texts()
        if not any(name in text for name in NOT_PROSE)
        for word in found_in(text)
    ]
    assert found == []


def test_the_texts_are_those_of_the_whole_tool() -> None:
    counts = {texts.__name__: len(list(texts())) for texts in (catalog, helps, strings, messages, pages, specs)}
    assert counts["catalog"] > 60
    assert counts["helps"] > 15
    assert counts["strings"] > 1000
    assert counts["messages"] > 40
    assert counts["pages"] > 10
    assert counts["specs"] > 1000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The desc is legal.", ["legal"]),
        ("Illegal, or left\nopen", ["illegal", "left open"]),
        ("within the bounds", ["bounds"]),
        ("this holds", ["holds"]),
        ("`holds: 1` and unspecified-mismatch are names", []),
        ("a tensor must be bound by the caller; FLOAT16 can hold it", []),
        ("The error is within its tolerance.", []),
    ],
)
def test_words_are_found_in_prose_and_not_in_names(text: str, found: list[str]) -> None:
    assert found_in(text) == found


def test_every_term_has_one_sentence_of_meaning_and_stands_in_order() -> None:
    names = list(terms())
    assert len(names) > 15
    assert names == sorted(names, key=str.lower)
    assert {"valid", "undefined", "tolerance", "desc", "feature level", "ULP", "support row", "constraint"} <= set(
        names
    )


def test_no_docstring_paraphrases_a_noun_or_says_open_for_undefined() -> None:
    sentences = list(docstrings())
    assert len(sentences) > 4000
    assert [(where, riddle_in(text)) for where, text in sentences if riddle_in(text)] == []


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("What a run is of.", "What"),
        ("Return what gives one event after the other.", "Return what"),
        ("Return the result, and what becomes of it.", "what becomes of"),
        ("NaN is left open.", "left open"),
        ("The page leaves it open.", "leaves it open"),
        ("Return the next event.", None),
        ("A message says what is wrong.", None),
        ("Open the file.", None),
    ],
)
def test_a_riddle_is_found_in_a_sentence(sentence: str, found: str | None) -> None:
    assert riddle_in(sentence) == found
