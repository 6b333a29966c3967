"""Pages of the HTML report, and what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.files.document import Position
from dmlcheck.formats.registry import read_file
from dmlcheck.implementations.protocol import Reference
from dmlcheck.reports.html.report import HtmlReport
from dmlcheck.reports.records import RunInfo, Tally
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import CaseResult

FILE = (Path(__file__).parent / "snapshots" / "files" / "case.yaml").as_posix()


VOID = {"meta", "link", "input", "br", "path", "rect"}


INFINITE = 1.7976931348623157e308


def case(name: str = "one", file: str = "some.yaml", operator: str = "DML_OPERATOR_REDUCE", **fields: Any) -> Case:
    known: dict[str, Any] = {
        "id": f"{file}::{name}",
        "name": name,
        "file": file,
        "operator": operator,
        "feature_level": None,
        "desc": {"Axes": [1]},
        "inputs": {"InputTensor": {"fill": 0}},
        "outputs": None,
        "invalid": None,
        "tolerance": None,
        "source": "by hand",
        "tags": (),
        "note": None,
        "origin": DetachedOrigin(Position(3, 1), {3: "outputs: {OutputTensor: [1, 2]}"}),
    }
    return Case(**{**known, **fields})


def wrong_output(sizes: tuple[int, ...] = (8, 1024), **fields: Any) -> OutputResult:
    worst = Element((4, 7), 1.5, 1.75, 2097152.0, 524288.0)
    profile = tuple(0.0 if index < 32 else 2.0**index for index in range(64))
    known: dict[str, Any] = {
        "mismatches": 12,
        "max_ulp": 2097152.0,
        "first": (Element((4, 0), -1.0, -1.0000001, 1.0, 0.25), Element((4, 1), 2.0, float("nan"), INFINITE, INFINITE)),
        "worst": worst,
        "most_off": worst,
        "data_type": "FLOAT32",
        "sizes": sizes,
        "bound": "4 ULP",
        "profile": profile,
    }
    return OutputResult(8192, **{**known, **fields})


def report(path: Path, results: Iterable[CaseResult], *, interrupted: bool = False, **info: Any) -> str:
    """Write a report and return its text."""
    tally = Tally()
    page = HtmlReport(str(path), RunInfo("reference", **info))
    for result in results:
        tally.add(result)
        page.case(result)
    page.finish(tally.summary(1.5, is_interrupted=interrupted))
    assert page.file.problem is None
    return path.read_text(encoding="utf-8")


def every_outcome() -> Iterator[CaseResult]:
    """Yield the results of the file whose cases end in every way, and two that only expectations make."""
    file = read_file(FILE, FILE)
    for one in file.cases:
        broken = file.broken.get(one.id)
        if broken is None:
            yield run_case(one, Run(Reference()))
        else:
            yield CaseResult(one, "error", "not a well-formed case", broken, is_malformed=True)
    gemm = "DML_OPERATOR_GEMM"
    found = {"OutputTensor": wrong_output()}
    yield CaseResult(case("known", "known.yaml", gemm), "xfailed", "DirectML 1.15 rounds twice", (), found, 0.1)
    yield CaseResult(case("better", "known.yaml", gemm), "xpassed", "was expected to fail", (), {}, 0.1)


def many(outcome: str, number: int, **fields: Any) -> Iterator[CaseResult]:
    for index in range(number):
        one = case(f"corner[Type=FLOAT16,Sizes=1x{index}x3x64,Axes=2]", f"conformance/f{index // 500}.yaml")
        yield CaseResult(one, outcome, **fields)


class Checker(HTMLParser):
    """Checks that elements are closed in order (`li` may stay open), and collects attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag == "li" and self.open[-1] == "li":
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "ul" and self.open[-1] == "li":
            self.open.pop()
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def check(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    return checker
