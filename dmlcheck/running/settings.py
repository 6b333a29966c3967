"""The settings of a run."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.implementations.protocol import About
from dmlcheck.reference.limits.precision import IN_FLOAT32, Precision

EXPECTED_WITHIN = 4.0  # ULP that an expected value may be from the exact result without a warning


class Settings(NamedTuple):
    """The settings of a run.

    - `feature_level`: cases of higher levels are skipped.
    - `precision`: how precisely an implementation must compute.
    - `is_strict`: cases also fail for unlikely errors, for errors without a limit, and for expected values that are
      more than `expected_within` ULP from the exact result.
    - `directml_version`: the implementation is that version of DirectML; its known failures are expected.
    - `keep`: a folder for the inputs and outputs of cases that fail.
    - `guesses`: whether to look for likely causes of wrong outputs.
    """

    feature_level: str | None = None
    precision: Precision = IN_FLOAT32
    is_strict: bool = False
    directml_version: str | None = None
    expected_within: float = EXPECTED_WITHIN
    keep: str | None = None
    guesses: bool = True

    @property
    def of_another(self) -> Settings:
        """The settings for a second implementation, which is no certain version of DirectML; nothing of it is kept."""
        return self._replace(directml_version=None, keep=None)

    def of_library(self, said: About) -> Settings:
        """Return the settings for DirectML's own library, which says its feature level and its version."""
        level = self.feature_level or said.feature_level or None
        return self._replace(feature_level=level, directml_version=self.directml_version or said.version or None)
