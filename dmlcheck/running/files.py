"""The files of a run, each of which is read once, whether it is counted first or run first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from dmlcheck.cases.find import Target
from dmlcheck.cases.records import CaseFile
from dmlcheck.formats.registry import read_file
from dmlcheck.running.events import Plan, number_of_cases

MOST_KEPT = 1 << 24  # characters of the files that are read before their turn and kept: more of them are read twice


class Files:
    """The files of a run. A report asks for the number of cases while some of them run, perhaps in another thread."""

    def __init__(self, targets: Sequence[Target], plan: Plan, read: Callable[[str, str], CaseFile] = read_file) -> None:
        """Begin with nothing read; `read` returns the file at a path under its name."""
        self.targets = targets
        self.plan = plan
        self.read = read
        self._numbers: dict[Target, int] = {}
        self._kept: dict[tuple[str, str], CaseFile] = {}
        self._room = MOST_KEPT
        self._now: tuple[tuple[str, str], CaseFile] | None = None
        self._lock = Lock()

    def take(self, target: Target) -> CaseFile:
        """Return a file whose turn it is to run."""
        key = (target.file, target.name)
        with self._lock:
            if self._now is not None and self._now[0] == key:
                return self._now[1]
            file = self._kept.pop(key, None)
            if file is None:
                file = self.read(*key)
            else:
                self._room += len(file.document.text)
            self._now = (key, file)
            return file

    def ended(self, target: Target, cases: int) -> None:
        """Note how many results a file had that has run."""
        self._numbers[target] = cases

    def total(self) -> int:
        """Return how many results the run has; pending files are read now, and kept if they fit in memory."""
        return sum(map(self._number, self.targets))

    def _number(self, target: Target) -> int:
        with self._lock:
            if target not in self._numbers:
                self._numbers[target] = number_of_cases(self._counted(target), target, self.plan)
            return self._numbers[target]

    def _counted(self, target: Target) -> CaseFile:
        """Return a file that is counted: the one that runs, one that is kept, or one that is read for it."""
        key = (target.file, target.name)
        if self._now is not None and self._now[0] == key:
            return self._now[1]
        file = self._kept.get(key)
        if file is None:
            file = self.read(*key)
            size = len(file.document.text)
            if size <= self._room:
                self._room -= size
                self._kept[key] = file
        return file
