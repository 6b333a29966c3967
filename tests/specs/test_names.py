"""What DirectML.h defines: feature levels, data types and enumerations, by the names it gives them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from five_operators import LEVELS

from dmlcheck.specs import names


def test_the_levels_are_ordered_as_directml_brought_them() -> None:
    assert list(names.FEATURE_LEVELS) == LEVELS
    assert [names.LEVEL_ORDER[level] for level in LEVELS] == list(range(15))
    assert names.NEWEST_LEVEL == "6_4"
    # 4_1 is 0x4100 in DirectML.h.
    assert [level.value for level in names.FEATURE_LEVELS.values()] == [
        int(name[0]) * 0x1000 + int(name[2]) * 0x100 for name in LEVELS
    ]
    assert [level.directml for level in names.FEATURE_LEVELS.values()] == [
        "1.0.0", "1.1.0", "1.2.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0", "1.8.0", "1.9.0", "1.10.0", "1.11.0", "1.12.0",
        "1.13.0", "1.14.0", "1.15.0",
    ]  # fmt: skip


def test_the_highest_of_levels_is_none_where_one_is_never() -> None:
    assert names.highest(["2_0", "6_1", "3_1"]) == "6_1"
    assert names.highest(["2_0", None]) is None
    assert names.highest([]) is None


@pytest.mark.parametrize(
    "spelling",
    ["4_1", "4.1", 4.1, "DML_FEATURE_LEVEL_4_1", "0x4100", "0X4100", 0x4100, " 4_1 "],
)
def test_a_level_may_be_spelt_as_people_do(spelling: Any) -> None:
    assert names.parse_level(spelling) == "4_1"


@pytest.mark.parametrize("spelling", ["4_2", "41", "", "0x4101", "0x", "0xQ", 41, 0x4101, True, None, 4.10001, "4_1_0"])
def test_what_is_no_level_is_none(spelling: Any) -> None:
    assert names.parse_level(spelling) is None


def test_a_level_is_told_as_the_header_names_it_and_with_its_directml() -> None:
    assert names.level_name("4_1") == "DML_FEATURE_LEVEL_4_1"
    assert names.level_and_version("4_1") == "DML_FEATURE_LEVEL_4_1 (DirectML 1.7.0)"


def test_the_name_of_a_data_type_says_its_kind_and_its_bits() -> None:
    kinds = {"FLOAT": "float", "INT": "int", "UINT": "uint"}
    for name, (kind, bits) in names.DATA_TYPES.items():
        letters = name.rstrip("0123456789")
        assert (kind, bits) == (kinds.get(letters, "none"), int(name.removeprefix(letters) or 0))
    assert len(names.DATA_TYPES) == 14


@pytest.mark.parametrize(
    ("enum", "prefix"),
    [
        ("DML_TENSOR_FLAGS", "DML_TENSOR_FLAG_"),
        ("DML_REDUCE_FUNCTION", "DML_REDUCE_FUNCTION_"),
        ("DML_TENSOR_DATA_TYPE", "DML_TENSOR_DATA_TYPE_"),
    ],
)
def test_the_values_of_an_enumeration_have_its_name_before_them(enum: str, prefix: str) -> None:
    assert names.enum_prefix(enum) == prefix


def test_no_enumeration_has_a_value_twice() -> None:
    assert all(len(set(values)) == len(values) > 0 for values in names.ENUMS.values())


def test_scatter_goes_by_both_names_of_the_header() -> None:
    assert names.short_operator("DML_OPERATOR_SCATTER_ELEMENTS") == "SCATTER"
    assert names.short_operator("SCATTER_ELEMENTS") == names.short_operator("SCATTER") == "SCATTER"


def test_an_operators_short_name_has_no_prefix() -> None:
    assert names.short_operator("DML_OPERATOR_ARGMAX") == "ARGMAX"
    assert names.short_operator("ARGMAX") == "ARGMAX"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.8.0", (1, 8, 0, 0)),
        ("1.8", (1, 8, 0, 0)),
        ("1.15.4.2", (1, 15, 4, 2)),
        *[(text, None) for text in ("1", "1.8.", "1.8.0.0.0", "v1.8", "1.8-rc", "", "\u0661.8", "1.1234567")],
    ],
)
def test_a_version_of_directml_is_numbers(text: str, version: tuple[int, ...] | None) -> None:
    assert names.parse_version(text) == version


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        (0x4200, "4_1"),
        ("0x4200", "4_1"),
        ("4_2", "4_1"),
        (4.9, "4_1"),
        ("DML_FEATURE_LEVEL_9_9", "6_4"),
        ("0_5", "1_0"),
        (7, "6_4"),
        ("four", None),
        ("", None),
        pytest.param(10**5000, None, id="huge"),
        (None, None),
    ],
)
def test_the_nearest_level_is_the_highest_that_is_not_above(given: object, nearest: str | None) -> None:
    assert names.nearest_level(given) == nearest


def test_every_release_takes_a_level_that_came_with_it_or_before() -> None:
    assert list(names.RELEASES) == [
        "1.4.0", "1.5.1", "1.7.0", "1.8.2", "1.9.1", "1.10.1", "1.12.1", "1.13.1", "1.14.2", "1.15.4",
    ]  # fmt: skip
    versions = [names.parse_version(release) for release in names.RELEASES]
    levels = [names.LEVEL_ORDER[level] for level in names.RELEASES.values()]
    assert None not in versions
    assert versions == sorted(versions, key=lambda version: version or ())
    assert levels == sorted(set(levels))
    for release, level in names.RELEASES.items():
        first = names.parse_version(names.FEATURE_LEVELS[level].directml) or ()
        assert first <= (names.parse_version(release) or ())


@pytest.mark.parametrize(
    ("version", "release", "level"),
    [
        ("1.4.0", "1.4.0", "3_0"),
        ("1.4", "1.4.0", "3_0"),
        ("1.5.0", "1.4.0", "3_0"),
        ("1.6.0", "1.5.1", "3_1"),
        ("1.9.0", "1.8.2", "5_0"),
        ("1.9.1", "1.9.1", "5_1"),
        ("1.9.1.7", "1.9.1", "5_1"),
        ("1.11.0", "1.10.1", "5_2"),
        ("1.13", "1.12.1", "6_1"),
        ("1.13.1", "1.13.1", "6_2"),
        ("1.14.2", "1.14.2", "6_3"),
        ("1.15.3", "1.14.2", "6_3"),
        ("1.100", "1.15.4", "6_4"),
        ("2.0", "1.15.4", "6_4"),
    ],
)
def test_a_version_stands_for_the_nearest_release_that_is_not_later(version: str, release: str, level: str) -> None:
    assert (names.release_of(version), names.level_of_release(version)) == (release, level)


@pytest.mark.parametrize("text", ["1.3.9", "1.0.0", "0.9", "1", "", "v1.13.1", "1.13.1-dev", "newest", 1.15, None])
def test_what_is_no_version_from_the_first_release_on_is_an_error(text: Any) -> None:
    message = f"{text!r} is not a version of DirectML from 1.4.0 on; write 1.13.1"
    for function in (names.release_of, names.level_of_release):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            function(text)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (tuple(names.RELEASES), "DirectML 1.4.0 to 1.15.4"),
        (("1.9.1",), "DirectML 1.9.1"),
        (("1.10.1", "1.9.1"), "DirectML 1.9.1 to 1.10.1"),
        (("1.4.0", "1.7.0", "1.8.2", "1.15.4"), "DirectML 1.4.0 and 1.7.0 to 1.8.2 and 1.15.4"),
    ],
)
def test_releases_in_a_row_are_told_by_the_first_and_the_last(given: tuple[str, ...], text: str) -> None:
    assert names.releases_text(given) == text


def test_the_releases_of_a_level_are_those_that_have_none_above_it() -> None:
    assert (names.releases_of("4_1"), names.releases_of("4_0")) == (("1.7.0",), ())
    assert names.releases_with("6_2") == ("1.13.1", "1.14.2", "1.15.4")
    assert names.releases_with("1_0") == tuple(names.RELEASES)


def test_builds_that_report_another_level_are_no_mistakes_of_their_table() -> None:
    assert names.REPORTED.keys() <= names.RELEASES.keys()
    for release, level in names.REPORTED.items():
        assert names.LEVEL_ORDER[level] < names.LEVEL_ORDER[names.RELEASES[release]]
    assert {*names.PRERELEASES.values()} <= {*names.LEVELS}
