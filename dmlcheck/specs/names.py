"""The definitions of DirectML.h: feature levels, data types and enumerations, by their names there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

OPERATOR_PREFIX = "DML_OPERATOR_"
LEVEL_PREFIX = "DML_FEATURE_LEVEL_"
DATA_TYPE_PREFIX = "DML_TENSOR_DATA_TYPE_"

UINT_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1
MAX_ELEMENTS = 2**32 - 1


class FeatureLevel(NamedTuple):
    """One DML_FEATURE_LEVEL: its number in the header and the first DirectML that has it."""

    value: int
    directml: str


FEATURE_LEVELS: dict[str, FeatureLevel] = {
    "1_0": FeatureLevel(0x1000, "1.0.0"),
    "2_0": FeatureLevel(0x2000, "1.1.0"),
    "2_1": FeatureLevel(0x2100, "1.2.0"),
    "3_0": FeatureLevel(0x3000, "1.4.0"),
    "3_1": FeatureLevel(0x3100, "1.5.0"),
    "4_0": FeatureLevel(0x4000, "1.6.0"),
    "4_1": FeatureLevel(0x4100, "1.7.0"),
    "5_0": FeatureLevel(0x5000, "1.8.0"),
    "5_1": FeatureLevel(0x5100, "1.9.0"),
    "5_2": FeatureLevel(0x5200, "1.10.0"),
    "6_0": FeatureLevel(0x6000, "1.11.0"),
    "6_1": FeatureLevel(0x6100, "1.12.0"),
    "6_2": FeatureLevel(0x6200, "1.13.0"),
    "6_3": FeatureLevel(0x6300, "1.14.0"),
    "6_4": FeatureLevel(0x6400, "1.15.0"),
}
LEVELS: tuple[str, ...] = tuple(FEATURE_LEVELS)
LEVEL_ORDER: dict[str, int] = {level: order for order, level in enumerate(LEVELS)}


def parse_version(text: str) -> tuple[int, ...] | None:
    """Return a version of DirectML (`1.8.0`, `1.8`) as numbers that compare, or None if it is none.

    A number is none: 1.1 could be 1.1 or 1.10.
    """
    if not (isinstance(text, str) and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6}){1,3}", text, re.ASCII)):
        return None
    numbers = [int(part) for part in text.split(".")]
    return (*numbers, *[0] * (4 - len(numbers)))


# Releases that were asked, and the level whose descs each takes: 1.9 answers 5_0, and takes what 5_1 adds.
RELEASES: dict[str, str] = {
    "1.4.0": "3_0",
    "1.5.1": "3_1",
    "1.7.0": "4_1",
    "1.8.2": "5_0",
    "1.9.1": "5_1",
    "1.10.1": "5_2",
    "1.12.1": "6_1",
    "1.13.1": "6_2",
    "1.14.2": "6_3",
    "1.15.4": "6_4",
}


# Builds that were asked too, with the level that they report: of pre-releases no answer is foreseen.
PRERELEASES: dict[str, str] = {"1.0.200610": "2_1", "1.3.0-dev2": "3_0"}
# Releases that report another level than the one whose descs they take.
REPORTED: dict[str, str] = {"1.9.1": "5_0"}


def release_of(version: str) -> str:
    """Return the release that a version of DirectML stands for: the nearest one, no later, that was asked.

    ValueError for a text that is no version, and for one below the first release.
    """
    numbers = parse_version(version)
    known = [release for release in RELEASES if numbers is not None and (parse_version(release) or ()) <= numbers]
    if not known:
        raise ValueError(f"{version!r} is not a version of DirectML from {next(iter(RELEASES))} on; write 1.13.1")
    return known[-1]


def level_of_release(version: str) -> str:
    """Return the feature level whose descs a version of DirectML takes; ValueError as for `release_of`."""
    return RELEASES[release_of(version)]


def releases_of(level: str) -> tuple[str, ...]:
    """Return the releases that have a feature level and none above it."""
    return tuple(release for release, highest in RELEASES.items() if highest == level)


def releases_with(level: str) -> tuple[str, ...]:
    """Return the releases that have a feature level, oldest first."""
    return tuple(release for release, highest in RELEASES.items() if LEVEL_ORDER[highest] >= LEVEL_ORDER[level])


def releases_text(releases: Iterable[str]) -> str:
    """Return releases in words: `DirectML 1.4.0 and 1.7.0 to 1.15.4`."""
    order = list(RELEASES)
    runs: list[list[str]] = []
    for release in sorted(releases, key=order.index):
        if runs and order.index(release) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(release)
        else:
            runs.append([release])
    return "DirectML " + " and ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def releases_do(releases: Iterable[str], verb: str) -> str:
    """Return the beginning of a sentence: `DirectML 1.4.0 and 1.5.1 accept`, `DirectML 1.15.4 accepts`."""
    named = list(releases)
    return f"{releases_text(named)} {verb}{'' if named[1:] else 's'}"


class WindowsRelease(NamedTuple):
    """A release of Windows, its build, the DirectML that is part of it, and the highest level of that."""

    name: str
    build: int
    directml: str
    level: str


# DirectML's version history; of 24H2, DirectML's release notes. Later levels are only in the redistributable package.
WINDOWS: tuple[WindowsRelease, ...] = (
    WindowsRelease("Windows 10 1903", 18362, "1.0.0", "1_0"),
    WindowsRelease("Windows 10 2004", 19041, "1.1.0", "2_0"),
    WindowsRelease("Windows 11 21H2", 22000, "1.6.0", "4_0"),
    WindowsRelease("Windows 11 22H2", 22621, "1.8.0", "5_0"),
    WindowsRelease("Windows 11 24H2", 26100, "1.13.1", "6_2"),
)


def first_windows(level: str) -> WindowsRelease | None:
    """Return the first release of Windows whose own DirectML has a feature level, or None."""
    return next((each for each in WINDOWS if LEVEL_ORDER[each.level] >= LEVEL_ORDER[level]), None)


def highest(levels: Iterable[str | None]) -> str | None:
    """Return the highest of some levels, or None if one of them is None or there are none."""
    order = [-1 if level is None else LEVEL_ORDER[level] for level in levels]
    return LEVELS[max(order)] if order and min(order) >= 0 else None


NEWEST_LEVEL = LEVELS[-1]

_LEVEL_OF_VALUE = {level.value: name for name, level in FEATURE_LEVELS.items()}


def parse_level(value: object) -> str | None:
    """Return the short name (`4_1`) of a feature level as users spell it, or None.

    `4_1`, `4.1` (text or a bare number), `DML_FEATURE_LEVEL_4_1` and `0x4100` (text or number) are one level.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return _LEVEL_OF_VALUE.get(value)
    text = str(value).strip()
    if text[:2].lower() == "0x":
        try:
            return _LEVEL_OF_VALUE.get(int(text, 16))
        except ValueError:
            return None
    name = text.removeprefix(LEVEL_PREFIX).replace(".", "_")
    return name if name in FEATURE_LEVELS else None


def nearest_level(value: object) -> str | None:
    """Return the highest level below one that does not exist, or None for a text that is no level at all."""
    if type(value) is int and value > 0xFFFF:
        return None
    found = re.fullmatch(r"(?:DML_FEATURE_LEVEL_)?(\d{1,2})(?:[._](\d{1,2}))?", str(value).strip())
    hexadecimal = re.fullmatch(r"0[xX]([0-9a-fA-F]{4})", str(value).strip())
    if found and not (type(value) is int and value > 99):
        asked = int(found[1]) << 12 | int(found[2] or 0) << 8
    elif hexadecimal or (type(value) is int and 0x1000 <= value <= 0xFFFF):
        asked = int(hexadecimal[1], 16) if hexadecimal else int(str(value))
    else:
        return None
    return next((name for name in reversed(LEVELS) if FEATURE_LEVELS[name].value <= asked), LEVELS[0])


def level_name(level: str) -> str:
    """Return a level as prose and the header name it: `DML_FEATURE_LEVEL_4_1`."""
    return LEVEL_PREFIX + level


def level_and_version(level: str) -> str:
    """Return a level with the DirectML that brought it: `DML_FEATURE_LEVEL_4_1 (DirectML 1.7.0)`."""
    return f"{LEVEL_PREFIX}{level} (DirectML {FEATURE_LEVELS[level].directml})"


class DataType(NamedTuple):
    """One DML_TENSOR_DATA_TYPE: `float`, `int` or `uint`, and its width in bits (UNKNOWN: `none`, 0)."""

    kind: str
    bits: int


DATA_TYPES: dict[str, DataType] = {
    "UNKNOWN": DataType("none", 0),
    "FLOAT32": DataType("float", 32),
    "FLOAT16": DataType("float", 16),
    "UINT32": DataType("uint", 32),
    "UINT16": DataType("uint", 16),
    "UINT8": DataType("uint", 8),
    "INT32": DataType("int", 32),
    "INT16": DataType("int", 16),
    "INT8": DataType("int", 8),
    "FLOAT64": DataType("float", 64),
    "UINT64": DataType("uint", 64),
    "INT64": DataType("int", 64),
    "UINT4": DataType("uint", 4),
    "INT4": DataType("int", 4),
}


def integer_range(data_type: str) -> tuple[int, int]:
    """Return the least and the largest number of an integer type."""
    kind, bits = DATA_TYPES[data_type]
    return (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


ENUMS: dict[str, tuple[str, ...]] = {
    "DML_TENSOR_DATA_TYPE": tuple(DATA_TYPES),
    "DML_TENSOR_TYPE": ("INVALID", "BUFFER"),
    "DML_TENSOR_FLAGS": ("NONE", "OWNED_BY_DML"),
    "DML_REDUCE_FUNCTION": (
        "ARGMAX",
        "ARGMIN",
        "AVERAGE",
        "L1",
        "L2",
        "LOG_SUM",
        "LOG_SUM_EXP",
        "MAX",
        "MIN",
        "MULTIPLY",
        "SUM",
        "SUM_SQUARE",
    ),
    "DML_MATRIX_TRANSFORM": ("NONE", "TRANSPOSE"),
    "DML_CONVOLUTION_MODE": ("CONVOLUTION", "CROSS_CORRELATION"),
    "DML_CONVOLUTION_DIRECTION": ("FORWARD", "BACKWARD"),
    "DML_PADDING_MODE": ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"),
    "DML_INTERPOLATION_MODE": ("NEAREST_NEIGHBOR", "LINEAR"),
    "DML_RECURRENT_NETWORK_DIRECTION": ("FORWARD", "BACKWARD", "BIDIRECTIONAL"),
    "DML_IS_INFINITY_MODE": ("EITHER", "POSITIVE", "NEGATIVE"),
    "DML_DEPTH_SPACE_ORDER": ("DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"),
    "DML_AXIS_DIRECTION": ("INCREASING", "DECREASING"),
    "DML_ROUNDING_MODE": ("HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO", "TOWARD_INFINITY"),
    "DML_RANDOM_GENERATOR_TYPE": ("PHILOX_4X32_10",),
    "DML_MULTIHEAD_ATTENTION_MASK_TYPE": (
        "NONE",
        "KEY_SEQUENCE_LENGTH",
        "KEY_SEQUENCE_END_START",
        "KEY_QUERY_SEQUENCE_LENGTH_START_END",
        "BOOLEAN",
    ),
    "DML_QUANTIZATION_TYPE": ("NONE", "SCALE", "SCALE_ZERO_POINT"),
}


def enum_prefix(enum: str) -> str:
    """Return the part before the suffix in an enumeration's full names (`DML_TENSOR_FLAGS` drops its S)."""
    return "DML_TENSOR_FLAG_" if enum == "DML_TENSOR_FLAGS" else enum + "_"


OTHER_NAMES = {"SCATTER_ELEMENTS": "SCATTER"}  # DirectML.h has both names for one operator, its page the second


@lru_cache(maxsize=1024)  # results name few operators, each of them many times
def short_operator(operator: str) -> str:
    """Return `ARGMAX` for `DML_OPERATOR_ARGMAX`; a name without the prefix comes back as it is.

    For another name of an operator, the name in its spec is returned.
    """
    short = operator.removeprefix(OPERATOR_PREFIX)
    return OTHER_NAMES.get(short, short)
