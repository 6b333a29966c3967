"""What an implementation is known to fail, by the expectations of a file, as a campaign of draws comes upon it."""

from __future__ import annotations

import os
from collections import Counter

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.running.answers import TrialAnswer
from dmlcheck.running.expectations import Expectations, names_of
from dmlcheck.running.finding_files import finding_name


class KnownFindings:
    """The failures that a file of expectations names, and how many draws failed so, by reason.

    An entry names a failure by the id that its finding would have: `findings/NAME.yaml::NAME`.
    """

    def __init__(self, expectations: Expectations | None, folder: str) -> None:
        """Take the entries of a file, None for none, and the folder of the findings."""
        self.expectations = expectations
        self.folder = folder
        self.counts: Counter[str] = Counter()

    def is_known(self, desc: OperatorDesc, answer: TrialAnswer) -> bool:
        """Whether an entry expects that a desc fails so; the failure is then counted."""
        name = finding_name(desc, answer)
        return self.is_known_in(f"{name}.yaml", name, answer)

    def is_known_in(self, file: str, name: str, answer: TrialAnswer) -> bool:
        """Whether an entry expects that what has a name in a file of the folder fails so; it is then counted."""
        if self.expectations is None or answer.difference is None:
            return False
        path = os.path.join(self.folder, file)
        entry = self.expectations.of(names_of(f"{path}::{name}", path))
        if entry is None or entry.expect != answer.outcome or entry.is_worse({answer.difference.rule}, answer.max_ulp):
            return False
        self.counts[entry.because] += 1
        return True
