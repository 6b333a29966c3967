"""Counts in texts: README, guide, changelog, docstrings and comments have the numbers of the tables."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from recorded_answers import read_shipped

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVELS, RELEASES

ROOT = Path(__file__).parent.parent
FILES = ("*.md", "*.toml", "*.yml", ".github/**/*.md", "dmlcheck/**/*.md", "dmlcheck/**/*.py", "tests/**/*.py")
SPECS = [load_spec(name) for name in operator_names()]
COUNTS = {
    "operators": len(SPECS),
    "levels": len(LEVELS),
    "releases": len(RELEASES),
    "builds": len(read_shipped().builds),
    "constraints": sum(len(spec.constraints) for spec in SPECS),
    "errata": sum(len(spec.errata) for spec in SPECS),
    "rules": len(RULES),
}
WORDS = {
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "thirteen": "13",
    "fourteen": "14",
    "fifteen": "15",
    "sixteen": "16",
    "seventeen": "17",
    "eighteen": "18",
    "nineteen": "19",
    "twenty": "20",
}
NEAR = 0.15  # a number that differs by less from the number of all is meant as that


@cache
def counted() -> list[tuple[str, str, int]]:
    """Return the numbers before these nouns: the file, the noun and the number."""
    found = []
    for path in (path for pattern in FILES for path in ROOT.glob(pattern)):
        text = " ".join(re.sub("^ *#", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE).split())
        for word, noun in re.findall(rf"([\w,]+) (?:feature )?({'|'.join(COUNTS)})\b", text):
            number = WORDS.get(word.lower(), word.replace(",", ""))
            if number.isdecimal():
                found.append((path.relative_to(ROOT).as_posix(), noun, int(number)))
    return found


@pytest.mark.slow
def test_a_count_of_all_is_the_number_that_there_are() -> None:
    far = [(name, noun, number) for name, noun, number in counted() if 0 < abs(number / COUNTS[noun] - 1) < NEAR]
    assert far == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("README.md", "operators"),
        ("README.md", "levels"),
        ("README.md", "releases"),
        (".github/CHANGELOG.md", "operators"),
        (".github/CONTRIBUTING.md", "builds"),
        ("dmlcheck/guide/directml.md", "releases"),
    ],
)
def test_a_count_is_found_where_it_stands(name: str, noun: str) -> None:
    assert (name, noun, COUNTS[noun]) in counted()
