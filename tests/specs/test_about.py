"""What there is to read of operators: the files in specs/about, and what the reader says of broken ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dmlcheck.specs import about
from dmlcheck.specs.about import FAMILIES, SYMBOLS, has_about, load_about
from dmlcheck.specs.load import operator_names

WHOLE: dict[str, Any] = {
    "purpose": "Adds.",
    "family": "arithmetic",
    "keywords": ["sum"],
    "equations": ["y = a + b"],
    "example": "values.yaml::one",
}


def test_every_operator_has_a_file_that_is_read() -> None:
    assert [name for name in operator_names() if not has_about(name)] == []
    assert {load_about(name).family for name in operator_names()} == FAMILIES.keys()


def test_every_file_is_of_an_operator() -> None:
    files = {path.stem for path in (Path(about.data_folder("specs")) / "about").iterdir()}
    assert files == {name.removeprefix("DML_OPERATOR_").lower() for name in operator_names()}


def test_the_common_symbols_come_before_those_of_an_operator() -> None:
    read = about._about({**WHOLE, "symbols": ["a", "b"], "where": {"y": "the sum"}})
    assert list(read.where.items()) == [("a", SYMBOLS["a"]), ("b", SYMBOLS["b"]), ("y", "the sum")]


def test_every_common_symbol_is_used() -> None:
    used = {symbol for name in operator_names() for symbol in load_about(name).where}
    assert SYMBOLS.keys() - used == set()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pourpose": "Adds."}, "unknown key pourpose; write one of changes, "),
        ({"purpose": ""}, "purpose must be a text, and is ''"),
        ({"purpose": 3}, "purpose must be a text, and is 3"),
        ({"family": "sums"}, "unknown family sums; write one of activations, "),
        ({"keywords": "sum"}, "keywords must be a list of texts, and is 'sum'"),
        ({"keywords": []}, "keywords must be a list of texts"),
        ({"names": {"PyTroch": ["torch.add"]}}, "names has PyTroch; write one of PyTorch, TensorFlow"),
        ({"names": {"PyTorch": "torch.add"}}, "PyTorch must be a list of texts"),
        ({"equations": [r"y = \fraction{a}{b}"]}, r"\fraction is not in the subset of LaTeX"),
        ({"equations": ["y = a_{1"]}, "y = a_{1: the braces do not match"),
        ({"equations": ["y = }a{"]}, "y = }a{: the braces do not match"),
        ({"symbols": ["q"]}, "symbols has q; write one of x, y"),
        ({"where": {"q": None}}, "where, q must be a text, and is None"),
        ({"changes": []}, "changes must be a text"),
    ],
)
def test_a_broken_file_is_told_what_is_wrong(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        about._about({**WHOLE, **change})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("purpose: Adds.\n", "'family'"),
        ("- purpose\n", "AttributeError"),
        ("purpose: [\n", "broken.yaml: "),
        ("purpose: Adds.\nfamily: sums\n", "unknown family sums"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "about").mkdir()
    (tmp_path / "about" / "broken.yaml").write_text(text)
    monkeypatch.setattr(about, "data_folder", lambda _: str(tmp_path))
    with pytest.raises(ValueError, match=r"broken\.yaml") as told:
        load_about("DML_OPERATOR_BROKEN")
    assert words in str(told.value)
