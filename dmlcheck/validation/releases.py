"""What CreateOperator of a release of DirectML takes, as far as the specs foresee it."""

from __future__ import annotations

from dmlcheck.descs.read import Reading
from dmlcheck.specs.names import level_of_release
from dmlcheck.validation.levels import check


def is_accepted(reading: Reading, version: str) -> bool:
    """Whether a release takes a desc: it is valid at the release's feature level.

    `version` stands for the nearest release, no later, that was asked; ValueError below the first, 1.4.0.
    """
    level = level_of_release(version)
    return reading.desc is not None and not check(reading, level)
