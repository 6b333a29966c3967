"""The settings of a run."""

from __future__ import annotations

from collections.abc import Iterator
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

    def words(self) -> Iterator[str]:
        """Yield the options of a command line that the results of cases of one level depend on."""
        if self.precision.accumulate != "FLOAT32":
            yield from ("--accumulate", self.precision.accumulate.lower())
        if self.precision.factors != "FLOAT32":
            yield from ("--input-precision", self.precision.factors.lower())
        for algorithm in self.precision.algorithms:
            yield from ("--algorithms", algorithm)
        if self.directml_version is not None:
            yield from ("--directml-version", self.directml_version)

    @property
    def of_another(self) -> Settings:
        """The settings for a second implementation, which is no certain version of DirectML; nothing of it is kept."""
        return self._replace(directml_version=None, keep=None)

    def of_library(self, said: About) -> Settings:
        """Return the settings for DirectML's own library, which says its feature level and its version."""
        level = self.feature_level or said.feature_level or None
        return self._replace(feature_level=level, directml_version=self.directml_version or said.version or None)
