"""Helps do what they promise: a file that is mended as a help says no longer has that mistake, nor one for it.

`tests/obeying.py` obeys the helps that a machine can read, in every way that they allow. For the others a file
`NAME.obeyed` stands beside `tests/broken/NAME`: what a person who obeys them makes of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from obeying import Marked, at_level, ways_to_obey
from shipped import FOLDERS, cases_in
from test_broken import FILES, FOLDER, diagnostics

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.specs.names import NEWEST_LEVEL

# What is read only when these are mended may be wrong in other ways.
REVEALING = {"unknown-operator", "operator-unavailable", "unknown-key", "yaml-syntax", "duplicate-key"}


def with_helps(name: str) -> list[Diagnostic]:
    return [found for found in diagnostics(FOLDER / name) if found.help]


def text_of(name: str) -> str | None:
    try:
        return (FOLDER / name).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def ways_of(name: str, found: Diagnostic) -> list[str] | None:
    """Return the texts that come of obeying a help of a broken file; None where only a person can."""
    text = text_of(name)
    return None if text is None else ways_to_obey(text, found, is_json=name.endswith(".json"))


def place_of(found: Diagnostic) -> str:
    """Return where a diagnostic is, without the numbers of elements, which others take when one is removed."""
    return re.sub(r"\[\d+\]", "[]", found.pointer or "-")


def field_of(found: Diagnostic) -> str:
    """Return the field of a desc, or the key of a file, that a diagnostic is about."""
    return "".join(re.findall(r"^desc\.[^.\[]+|^[^.\[]+", found.pointer or "-"))


def obeyed(path: Path, text: str, asked: Diagnostic, way: int) -> None:
    """Write a text in which a help is obeyed wherever it is given for the same rule: by the next validation all are.

    What a help leads to may depend on the others of a desc, so they are obeyed together, the last first.
    """
    for one in reversed(asking(path, text, asked)):
        again = asking(path, text, asked) if asked.rule == "duplicate-key" else [one]  # another is the first now
        text = way_of(path, text, again[-1], way) if again else text
    assert not asking(path, text, asked), f"{asked.where}: still there after {asked.help!r}:\n{text}"


def asking(path: Path, text: str, asked: Diagnostic) -> list[Diagnostic]:
    """Return where a text has a help of a rule, each place once."""
    path.write_bytes(text.encode())
    found = [one for one in diagnostics(path) if (one.rule, one.help) == (asked.rule, asked.help)]
    return sorted({one.place(): one for one in found}.values(), key=Diagnostic.place)


def way_of(path: Path, text: str, found: Diagnostic, way: int) -> str:
    ways = ways_to_obey(text, found, is_json=path.suffix == ".json")
    assert ways
    return ways[min(way, len(ways) - 1)]


def check_obeyed(path: Path, before: list[Diagnostic], asked: Diagnostic) -> None:
    """Check what a file has after a help was obeyed: neither the mistake nor another of its rule or its field."""
    after = diagnostics(path)
    same = [one for one in before if (one.rule, one.help) == (asked.rule, asked.help)]
    known = Counter((one.rule, place_of(one)) for one in before if one not in same)
    fields = {field_of(one) for one in same}
    assert "yaml-syntax" not in {one.rule for one in after} - {one.rule for one in before}, path.read_text("utf-8")
    for one in after:
        is_new = known[one.rule, place_of(one)] == 0
        known[one.rule, place_of(one)] -= 1
        is_here = field_of(one) in fields and asked.rule not in REVEALING
        said = f"{asked.help!r} leads to {one.rule} at {one.where}: {one.message}\n{path.read_text('utf-8')}"
        assert not (is_new and (one.rule == asked.rule or is_here)), said


def check_that_no_level_accepts_it(path: Path, found: Diagnostic) -> None:
    """Check a help that says nothing to do: what is wrong is wrong at every level."""
    text = text_of(path.name)
    assert text is not None
    assert found.help is not None
    assert found.help.startswith("no feature level accepts "), f"{found.help!r} says nothing to do"
    path.write_text(at_level(Marked(text, is_json=False), NEWEST_LEVEL), encoding="utf-8")
    assert (found.rule, found.pointer) in [(one.rule, one.pointer) for one in diagnostics(path)]


HELPS = [
    pytest.param(name, number, id=f"{name}:{found.line}:{found.column}-{number}")
    for name in FILES
    for number, found in enumerate(with_helps(name))
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), HELPS)
def test_a_help_mends_its_mistake_when_it_is_obeyed(name: str, number: int, tmp_path: Path) -> None:
    found, path = with_helps(name)[number], tmp_path / name
    ways = ways_of(name, found)
    if ways is None:
        assert (FOLDER / f"{name}.obeyed").exists(), f"{found.help!r} has no form that tests/obeying.py knows"
        return
    if not ways:
        check_that_no_level_accepts_it(path, found)
    for way in range(len(ways)):
        text = text_of(name)
        assert text is not None
        obeyed(path, text, found, way)
        check_obeyed(path, diagnostics(FOLDER / name), found)


BY_HAND = sorted(path.name.removesuffix(".obeyed") for path in FOLDER.glob("*.obeyed"))


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_HAND)
def test_a_file_mended_by_hand_has_none_of_the_mistakes_whose_helps_a_person_obeyed(name: str, tmp_path: Path) -> None:
    asked = [found for found in with_helps(name) if ways_of(name, found) is None]
    assert asked, "a machine can obey every help of this file"
    path = tmp_path / name
    path.write_bytes((FOLDER / f"{name}.obeyed").read_bytes())
    for found in asked:
        check_obeyed(path, diagnostics(FOLDER / name), found)


# ---- the helps of constraints and support tables


def whole(case: Case) -> str:
    """Return the desc of a case as a file of its own."""
    desc = json.loads(json.dumps(case.desc))
    values = {"operator": case.operator, "feature_level": case.level, "desc": desc}
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=100_000)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_helps_mend_the_descs_of_negative_cases(folder: str, tmp_path: Path) -> None:
    """Two helps of each rule that say the same but for numbers."""
    path, times = tmp_path / "desc.yaml", Counter[tuple[str, str]]()
    for case in cases_in(folder):
        if not case.is_negative:
            continue
        text = whole(case)
        path.write_text(text, encoding="utf-8")
        before = diagnostics(path)
        for found in {(one.rule, one.help): one for one in before if one.help}.values():
            form = (found.rule, re.sub(r"\d+", "1", found.help or ""))
            times[form] += 1
            if times[form] > 2:
                continue
            for way in range(len(ways_to_obey(text, found, is_json=False) or [])):
                obeyed(path, text, found, way)
                check_obeyed(path, before, found)
