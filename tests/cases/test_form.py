"""The form of a case: its keys, levels and tolerances."""

from __future__ import annotations

import pytest
from case_files import PLAIN, cases_of, read, rules_of

from dmlcheck.specs.names import FEATURE_LEVELS, LEVELS
from dmlcheck.specs.records import Tolerance

# ---- feature levels


@pytest.mark.parametrize("level", LEVELS)
def test_a_feature_level_may_be_spelt_in_every_way(level: str) -> None:
    dotted = level.replace("_", ".")
    number = hex(FEATURE_LEVELS[level].value)
    for spelt in (level, f'"{level}"', dotted, f"'{dotted}'", f"DML_FEATURE_LEVEL_{level}", number, f'"{number}"'):
        (case,) = cases_of(PLAIN + f"feature_level: {spelt}\n")
        assert case.feature_level == level, spelt


@pytest.mark.parametrize(
    "spelt",
    [
        "4",
        "41",
        "0_9",
        "7_0",
        "4_2",
        "0x4200",
        '"0x"',
        '"0xG"',
        "v4_1",
        "4-1",
        "true",
        "[4_1]",
        "{}",
        "1e999",
        '""',
        "-4.1",
    ],
)
def test_what_is_no_feature_level_is_a_wrong_type(spelt: str) -> None:
    assert rules_of(read(PLAIN + f"feature_level: {spelt}\n")) == [("wrong-type", 3, 16)]


# ---- tolerances


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [
        ("exact", Tolerance(exact=True, source="the case")),
        ("{ulp: 0}", Tolerance(ulp=0, source="the case")),
        ("{ulp: 0.5}", Tolerance(ulp=0.5, source="the case")),
        ("{absolute: 1e-5}", Tolerance(absolute=1e-5, source="the case")),
        ("{relative: 0x10}", Tolerance(relative=16, source="the case")),
        ("{ulp: 1, absolute: 2, relative: 3}", Tolerance(ulp=1, absolute=2, relative=3, source="the case")),
    ],
)
def test_a_tolerance_is_exact_or_has_limits(text: str, tolerance: Tolerance) -> None:
    assert cases_of(PLAIN + f"tolerance: {text}\n")[0].tolerance == tolerance


def test_long_words_about_a_case_are_cut() -> None:
    for length, kept in ((1000, "s" * 1000), (1001, "s" * 997 + "...")):
        text = "s" * length
        (case,) = cases_of(PLAIN + f"source: {text}\ntolerance: {{ulp: 2, reason: {text}}}\n")
        assert (case.source, case.tolerance) == (kept, Tolerance(ulp=2, source="the case", reason=kept))


@pytest.mark.parametrize("key", ["name", "source", "note"])
def test_a_text_without_a_character_is_told_so(key: str) -> None:
    file = read(PLAIN + f'{key}: ""\n')
    ((found,),) = file.broken.values()
    assert (found.rule, found.message) == ("wrong-type", f"{key} is ''; it must be text that is not empty")
