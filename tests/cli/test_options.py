"""Options that commands share."""

from __future__ import annotations

import click
import pytest
from commandline import DESC, dmlcheck, write

from dmlcheck.cli.options import as_level, as_version


@pytest.mark.parametrize("spelling", ["4_1", "4.1", "DML_FEATURE_LEVEL_4_1", "0x4100"])
def test_a_level_may_be_spelt_in_any_way_of_the_notation(spelling: str) -> None:
    assert as_level(spelling) == "4_1"


@pytest.mark.parametrize("spelling", ["", "9_9", "four"])
def test_a_level_that_does_not_exist_is_refused_with_those_that_do(spelling: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not a feature level; .*the levels are 1_0 2_0"):
        as_level(spelling)


def test_a_version_of_directml_has_two_to_four_numbers() -> None:
    assert [as_version(given) for given in ("1.8", "1.8.0", "1.15.2.1")] == [
        "1.8",
        "1.8.0",
        "1.15.2.1",
    ]
    for wrong in ("eight", "1", "1.8.0-dev", "DirectML 1.8.0"):
        with pytest.raises(click.BadParameter, match=f"'{wrong}' is not a version of DirectML; write 1.8.0"):
            as_version(wrong)


def test_a_format_is_one_of_those_there_are() -> None:
    write("a.yaml", DESC)
    assert dmlcheck("show", "REDUCE", "--format", "xml").exit_code == 2
    assert dmlcheck("show", "REDUCE", "--format", "json").stdout.startswith("{")
