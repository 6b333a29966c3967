"""Known failures of an implementation in a campaign of draws, from a file of expectations."""

from __future__ import annotations

import os
from collections import Counter

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.fuzzing.answers import TrialAnswer
from dmlcheck.fuzzing.finding_files import finding_name
from dmlcheck.running.expectations import Expectations, names_of


class KnownFindings:
    """The failures that a file of expectations names, with the number of draws for each reason.

    An entry names a failure by the id that its finding would have: `findings/NAME.yaml::NAME`.
    """

    def __init__(self, expectations: Expectations | None, folder: str) -> None:
        """Take the expectations, None if there is no file of them, and the folder of the findings."""
        self.expectations = expectations
        self.folder = folder
        self.counts: Counter[str] = Counter()

    def is_known(self, desc: OperatorDesc, answer: TrialAnswer) -> bool:
        """Whether an entry expects this failure of a desc; if so, the failure is counted."""
        name = finding_name(desc, answer)
        return self.is_known_in(f"{name}.yaml", name, answer)

    def is_known_in(self, file: str, name: str, answer: TrialAnswer) -> bool:
        """Whether an entry expects this failure of a case of a file in the folder; if so, the failure is counted."""
        if self.expectations is None or answer.difference is None:
            return False
        path = os.path.join(self.folder, file)
        entry = self.expectations.of(names_of(f"{path}::{name}", path))
        if entry is None or entry.expect != answer.outcome or entry.is_worse({answer.difference.rule}, answer.max_ulp):
            return False
        self.counts[entry.because] += 1
        return True
