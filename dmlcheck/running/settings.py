"""The settings of a run."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.implementations.protocol import About
from dmlcheck.running.accuracy import EXPECTED_WITHIN


class Settings(NamedTuple):
    """The settings of a run.

    - `feature_level`: cases of higher levels are skipped.
    - `accumulate`, `inputs`: the types that an implementation may accumulate in, and round factors of products to.
    - `algorithms`: further algorithms that it may use: "winograd".
    - `is_strict`: cases also fail for unlikely errors, for errors without a limit, and for expected values that are
      more than `expected_within` ULP from the exact result.
    - `directml_version`: the implementation is that version of DirectML; its known failures are expected.
    - `keep`: a folder for the inputs and outputs of cases that fail.
    - `guesses`: whether to look for likely causes of wrong outputs.
    """

    feature_level: str | None = None
    accumulate: str = "FLOAT32"
    is_strict: bool = False
    directml_version: str | None = None
    inputs: str = "FLOAT32"
    expected_within: float = EXPECTED_WITHIN
    keep: str | None = None
    algorithms: tuple[str, ...] = ()
    guesses: bool = True

    @property
    def of_another(self) -> Settings:
        """The settings for a second implementation, which is no certain version of DirectML; nothing of it is kept."""
        return self._replace(directml_version=None, keep=None)

    def of_library(self, said: About) -> Settings:
        """Return the settings for DirectML's own library, which says its feature level and its version."""
        level = self.feature_level or said.feature_level or None
        return self._replace(feature_level=level, directml_version=self.directml_version or said.version or None)
