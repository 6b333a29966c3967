"""What dmlcheck foresees of each release is what was recorded of it (`recorded_answers.py`)."""

from __future__ import annotations

import json

import pytest
import recorded_answers as record
from recorded_answers import Recorded
from shipped import every_case

from dmlcheck.descs.read import read_desc
from dmlcheck.running.refusals import can_be_asked
from dmlcheck.specs.names import RELEASES

LEAST = 0.998  # of the answers of each release


@pytest.fixture
def step(request: pytest.FixtureRequest) -> int:
    """Compare a third of the answers, whose share is that of all, or with --all-cases each one."""
    return 1 if request.config.getoption("--all-cases") else 3


@pytest.mark.slow
def test_every_release_is_recorded() -> None:
    for builds in (record.read_shipped().builds, record.read_descs().builds):
        assert set(RELEASES) <= set(builds)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("valid", "broken", "changed"), ("types", "ranks")])
def test_answers_to_recorded_descs_are_foreseen(kinds: tuple[str, ...], step: int) -> None:
    descs = record.read_descs()
    found = record.foreseen(descs.builds, [row for row in descs.rows[::step] if row.kind in kinds])
    shares = {release: found.share(release) for release in RELEASES}
    print(shares, *found.lines(), sep="\n")  # noqa: T201 - for whoever reads why it fails, or with -s what is left
    assert min(found.compared.values()) > 3_000
    assert min(shares.values()) >= LEAST


@pytest.mark.slow
def test_answers_to_shipped_descs_are_foreseen(step: int) -> None:
    builds, letters = record.read_shipped()
    cases = {record.key_of(case): case for case in every_case()}
    rows = [
        Recorded("shipped", case.operator, letters[key], json.dumps(case.desc, default=dict))
        for key, case in list(cases.items())[::step]
        if key in letters and can_be_asked(read_desc(case.operator, case.desc))
    ]
    found = record.foreseen(builds, rows)
    print(*found.lines(), sep="\n")  # noqa: T201
    assert min(found.compared.values()) > 6_500
    assert min(map(found.share, RELEASES)) >= LEAST


@pytest.mark.slow
def test_a_sample_of_the_answers_is_foreseen() -> None:
    descs = record.read_descs()
    found = record.foreseen(descs.builds, descs.rows[::100])
    assert sum(found.right.values()) / sum(found.compared.values()) >= LEAST, found.lines()


@pytest.mark.slow
def test_an_answer_that_is_not_foreseen_is_counted_with_its_kind() -> None:
    descs = record.read_descs()
    row = next(row for row in descs.rows if set(row.letters[2:]) == {"."})
    refused = row._replace(letters="X" * len(descs.builds))
    unknown = row._replace(letters=record.UNASKED * len(descs.builds))
    found = record.foreseen(descs.builds, [row, refused, unknown])
    assert {found.share(release) for release in RELEASES} == {0.5}
    assert found.lines() == [f"   1 {row.operator} {row.kind}: {'R' * len(RELEASES)} {row.text}"]
