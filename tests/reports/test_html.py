"""The HTML report: its text, its limits, and what a real browser makes of it."""

from __future__ import annotations

import http.server
import re
import shutil
import struct
import subprocess
import threading
import tracemalloc
import zlib
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dmlcheck import __version__
from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Position
from dmlcheck.formats.reading import read_file
from dmlcheck.implementations.reference import Reference
from dmlcheck.reports.html.markup import plain
from dmlcheck.reports.html.output import bits_text
from dmlcheck.reports.html.page import Assets
from dmlcheck.reports.html.picture import picture
from dmlcheck.reports.html.report import HtmlReport
from dmlcheck.reports.records import RunInfo, Summary
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import OUTCOMES, CaseResult

FILE = (Path(__file__).parent.parent / "snapshots" / "files" / "case.yaml").as_posix()
VOID = {"meta", "link", "input", "br", "path", "rect"}
INFINITE = 1.7976931348623157e308


# ---- what is reported


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
    counts = dict.fromkeys(OUTCOMES, 0)
    page = HtmlReport(str(path), RunInfo("reference", **info))
    for result in results:
        counts[result.outcome] += 1
        page.case(result)
    page.finish(Summary(counts, 1.5, interrupted))
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


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "report.html"
    report(path, every_outcome())
    return path


@pytest.fixture(scope="module")
def page(page_file: Path) -> str:
    return page_file.read_text(encoding="utf-8")


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


# ---- its text


def test_the_page_is_whole_and_names_the_run(page: str) -> None:
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    read = check(page)
    assert f"<title>8 of 12 cases failed - dmlcheck {__version__}, reference</title>" in page
    assert f"dmlcheck {__version__} Implementation reference" in read.text


def test_the_page_asks_for_nothing(page: str) -> None:
    read = check(page)
    assert "http" not in page.replace("http-equiv", "")
    assert "@import" not in page
    assert "url(" not in page
    links = [value for _, name, value in read.attributes if name in ("src", "href", "action", "srcset", "style")]
    assert [link for link in links if not link.startswith("#") and link != "data:,"] == []
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "unsafe" not in page


def test_every_outcome_is_counted_and_can_be_chosen(page: str) -> None:
    read = check(page)
    chosen = [value for tag, name, value in read.attributes if (tag, name) == ("input", "value")]
    assert chosen == list(OUTCOMES)
    for outcome, number in zip(OUTCOMES, (2, 5, 2, 1, 1, 1), strict=True):
        assert f"<b>{number}</b> {outcome}</label>" in page
    assert "REDUCE 2 5 2 1 0 0 infinite ULP" in read.text
    assert "GEMM 0 0 0 0 1 1 2097152 ULP" in read.text


def test_a_failure_is_told_with_all_that_is_known_of_it(page: str) -> None:
    start = page.index('<details open id="c2"')
    told = page[start : page.index("</details>", start)] + "</details>"
    text = check(told).text
    assert f"failed {FILE}::wrong OutputTensor [1, 0] is 15, not 15.5" in text
    assert "output-mismatch OutputTensor FLOAT32 {2, 1}: 1 of 2 elements is outside the tolerance" in text
    assert f"{FILE}:15:36" in text
    assert "<mark>15.5</mark>" in told
    assert "outside the tolerance, which is 2 ULP" in text
    assert "[1, 0] worst 15.5 0x1.fp+3 0x41780000 15 0x1.ep+3 0x41700000 -0.5 524,288 262,144" in text
    assert "DML_OPERATOR_REDUCE at feature level 6_4 Function: SUM InputTensor: {DataType: FLOAT32" in text
    assert "InputTensor: [[1, 2, 3], [4, 5, 6]]" in text
    assert "Errors in 1 of 2 elements; largest in element 1: 524288 ULP." in text


def test_help_and_the_rows_of_rules_are_told(page: str) -> None:
    text = check(page).text
    assert "help INT8 holds whole numbers from -128 to 127" in text
    assert "help did you mean inputs?" in text
    assert "(REDUCE/C" in text


def test_only_failures_are_unfolded(page: str) -> None:
    found = re.findall(r'<details( open)? id="c\d+" class="case (\w+)"', page)
    assert {(is_open, outcome) for is_open, outcome in found} == {
        (" open", "failed"),
        (" open", "error"),
        (" open", "xpassed"),
        ("", "xfailed"),
    }


def test_the_command_that_runs_a_case_again_is_told_where_it_is_known(tmp_path: Path) -> None:
    told = HtmlReport(str(tmp_path / "a.html"), RunInfo("x"), again=lambda result: f"again '{result.case.id}'")
    told.case(CaseResult(case(), "failed"))
    told.finish(Summary({"failed": 1}, 0.0))
    assert "again &#x27;some.yaml::one&#x27;" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_the_head_tells_level_shard_and_interruption(tmp_path: Path) -> None:
    text = report(
        tmp_path / "a.html",
        [CaseResult(case(), "passed")],
        interrupted=True,
        feature_level="4_1",
        shard=(2, 3),
    )
    read = check(text)
    assert "No failures in 1 case" in read.text
    assert "DML_FEATURE_LEVEL_4_1 (DirectML 1.7.0)" in read.text
    assert "Shard 2 of 3" in read.text
    assert "Interrupted: the run ended before all its cases had run." in read.text


def test_a_run_of_nothing_is_a_page_too(tmp_path: Path) -> None:
    assert '<h1 class="none">Nothing ran</h1>' in report(tmp_path / "a.html", [])


EVIL = "<script>alert('x')</script>\"&\x00\x1b[31m\u202e\ud800\U000e0001"


def test_nothing_that_a_file_says_is_markup(tmp_path: Path) -> None:
    diagnostic = Diagnostic(EVIL, EVIL, "error", EVIL, 3, 2, EVIL, EVIL, EVIL, EVIL, 5)
    origin = DetachedOrigin(Position(3, 1), {3: EVIL})
    one = case(EVIL, EVIL, EVIL, desc={EVIL: [EVIL]}, inputs={EVIL: EVIL}, source=EVIL, origin=origin)
    output = wrong_output(bound=EVIL, data_type=EVIL)
    results = [
        CaseResult(one, outcome, EVIL, (diagnostic,), {EVIL: output, "b": OutputResult(1, 1, shape=EVIL)}, 0.0, EVIL)
        for outcome in OUTCOMES
    ]
    page = HtmlReport(str(tmp_path / "a.html"), RunInfo(EVIL, EVIL), again=lambda _: EVIL)
    for result in results:
        page.case(result)
    page.finish(Summary(dict.fromkeys(OUTCOMES, 1), 0.0))
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    read = check(text)
    assert text.count("<script") == 1
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", text)
    assert "<script>alert('x')</script>\"&\\x00\\x1b[31m\\u202e\\ud800\\U000e0001" in read.text


def test_text_is_cut_off_and_spelt_out() -> None:
    assert plain("a\tb\nc\x7f\xa0") == "a\\tb\nc\\x7f\\xa0"
    assert plain("x" * 3000, 10) == "xxxxxxx..."


@pytest.mark.parametrize("values", ["{Function: SUM}", [1, 2], {}])
def test_a_desc_of_another_shape_is_told_as_it_is(tmp_path: Path, values: Any) -> None:
    one = case(desc=values, inputs=values or None)
    check(report(tmp_path / "a.html", [CaseResult(one, "failed", None, (Diagnostic("r", "m", line=3),))]))


@pytest.mark.parametrize(
    ("value", "data_type", "bits"),
    [
        (1.0, "FLOAT16", "0x3C00"),
        (-0.0, "FLOAT32", "0x80000000"),
        (float("inf"), "FLOAT64", "0x7FF0000000000000"),
        (float("nan"), "FLOAT32", None),
        (1e300, "FLOAT32", None),
        (-8, "INT32", "0xFFFFFFF8"),
        (255, "UINT8", "0xFF"),
        (1.0, "", None),
    ],
)
def test_values_are_told_as_bits(value: float, data_type: str, bits: str | None) -> None:
    assert bits_text(value, data_type) == bits


# ---- the picture


def bars(text: str, kind: str) -> list[tuple[float, float]]:
    """Return the place and the height of the bars of a kind."""
    found = re.search(f'class="{kind}" d="([^"]*)"', text)
    assert found
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) [\d.]+v-([\d.]+)h", found[1])]


def test_the_picture_has_a_bar_for_each_stretch_that_is_wrong() -> None:
    profile = (0.0, 1.0, 10.0, 100.0)
    text = picture("Out", wrong_output((4,), profile=profile, worst=Element((3,), 1.0, 2.0, 100.0, None)))
    check(text)
    (first, least), (_, middle), (last, most) = bars(text, "bars")
    assert bars(text, "beyond") == []
    assert first < last
    assert least < middle < most
    # On a logarithmic scale equal ratios are equal steps.
    assert middle * 2 == pytest.approx(most, abs=0.2)
    assert '<svg class="picture" role="img"' in text
    assert "<title>The largest error over Out, by position, in ULP on a logarithmic scale</title>" in text


def test_infinite_errors_stand_apart_in_the_picture() -> None:
    text = picture("Out", wrong_output(profile=(0.0, 2.0, INFINITE, 0.0)))
    ((_, finite),) = bars(text, "bars")
    ((_, infinite),) = bars(text, "beyond")
    assert finite < infinite
    assert "∞" in text
    only = picture("Out", wrong_output(profile=(INFINITE, 0.0)))
    assert (bars(only, "bars"), len(bars(only, "beyond"))) == ([], 1)


def test_there_is_no_picture_of_one_element_or_of_nothing() -> None:
    assert picture("Out", wrong_output(profile=(3.0,))) == ""
    assert picture("Out", wrong_output(profile=(0.0, 0.0))) == ""


@pytest.mark.parametrize("profile", [(1e-300, 1e300), (0.5, 0.5), (1e-12, 2.0), (INFINITE, INFINITE)])
def test_bars_stay_inside_the_picture(profile: tuple[float, ...]) -> None:
    text = picture("Out", wrong_output(profile=profile))
    heights = [height for kind in ("bars", "beyond") for _, height in bars(text, kind)]
    assert len(heights) == 2
    assert all(2 < height <= 90 for height in heights)


# ---- its limits


def many(outcome: str, number: int, **fields: Any) -> Iterator[CaseResult]:
    for index in range(number):
        one = case(f"corner[Type=FLOAT16,Sizes=1x{index}x3x64,Axes=2]", f"conformance/f{index // 500}.yaml")
        yield CaseResult(one, outcome, **fields)


def test_passing_cases_take_little_room(tmp_path: Path) -> None:
    text = report(tmp_path / "a.html", many("passed", 20_000))
    assert len(text) < 20_000 * 65  # so that 100,000 stay well below 20 MB
    assert "<li>corner[Type=FLOAT16,Sizes=1x19999x3x64,Axes=2]\n" in text
    assert "only counted" not in text
    check(text)


def test_results_are_not_kept(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        report_file = HtmlReport(str(tmp_path / "a.html"), RunInfo("reference"))
        before = tracemalloc.get_traced_memory()[0]
        for result in many("passed", 20_000):
            report_file.case(result)
        report_file.finish(Summary({"passed": 20_000}, 1.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 2_500_000


def test_a_page_of_failures_has_an_end(tmp_path: Path) -> None:
    found = {"OutputTensor": wrong_output()}
    message = (Diagnostic("output-mismatch", "wrong " * 20, file="some.yaml", line=3, column=1),)
    late = CaseResult(case("late", operator="DML_OPERATOR_GEMM"), "failed", None, message, found)
    text = report(tmp_path / "a.html", [*many("failed", 24_000, diagnostics=message, outputs=found), *[late] * 6])
    assert len(text) < 11_000_000
    assert "more cases are only counted, to keep this page of a size that opens" in text
    # An operator that fails late is told of in full all the same.
    assert (
        len(re.findall(r'<details open id="c\d+" class="case failed" data-outcome="failed" data-operator="GEMM"', text))
        == 5
    )
    check(text)


def test_names_and_reasons_without_end_are_put_together(tmp_path: Path) -> None:
    skipped = (CaseResult(case(operator=f"NONE{index}"), "skipped", f"reason {index}") for index in range(1000))
    text = report(tmp_path / "a.html", skipped)
    assert text.count("<option>") == 401
    assert "<option>(others)</option>" in text
    assert "<li><b>960</b> other reasons</li>" in text


def test_a_page_that_cannot_be_kept_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", full)
    page = HtmlReport(str(tmp_path / "a.html"), RunInfo("reference"))
    for result in many("passed", 3):
        page.case(result)
    page.finish(Summary({"passed": 3}, 1.0))
    assert page.file.problem is not None
    assert "No space left on device" in page.file.problem
    assert list(tmp_path.iterdir()) == []


# ---- its colours


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    wide = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * wide[0] + 0.7152 * wide[1] + 0.0722 * wide[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_schemes(scheme: str) -> None:
    light, dark = Assets().style.split("@media (prefers-color-scheme: dark)")
    known = {**colours(light), **(colours(dark) if scheme == "dark" else {})}
    for ink in ("ink", "quiet", "link", "red", "orange", "green", "grey", "purple"):
        for paper in ("page", "card", "inset", "hit"):
            low, high = sorted((luminance(known[ink]), luminance(known[paper])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)
    low, high = sorted((luminance(known["ink"]), luminance(known["mark"])))
    assert (high + 0.05) / (low + 0.05) >= 4.5


# ---- in a browser


@pytest.fixture(scope="session")
def browser() -> str:
    """Return a Chromium that runs, or skip."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            asked = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
            if asked.returncode == 0:
                return path
    pytest.skip("no Chromium here, so no browser has looked at the HTML report; on Debian: apt-get install chromium")


class Visit:
    """A page as a headless Chromium sees it, with every name unknown to it: no network but this machine."""

    def __init__(self, browser: str, folder: Path) -> None:
        self.words = [
            browser,
            "--headless",
            "--no-sandbox",  # the tests may run as root, and the page is their own
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
        ]
        self.folder = folder

    def dom(self, url: str) -> tuple[str, list[str]]:
        """Return the page's elements once its script has run, and what the console says."""
        done = self.run("--dump-dom", url)
        said = [line for line in done.stderr.decode("utf-8", "replace").split("\n") if "CONSOLE" in line]
        return done.stdout.decode("utf-8"), said

    def top_left(self, url: str, *options: str) -> tuple[int, int, int]:
        """Return the colour of the page's background from a picture of it."""
        shot = self.folder / "shot.png"
        self.run("--window-size=1280,900", *options, f"--screenshot={shot}", url)
        data = shot.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">II", data[16:24]) == (1280, 900)
        packed, at = b"", 8
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
            at += length + 12
        # Whatever the filter of the first row, its first pixel stands as it is.
        red, green, blue = zlib.decompress(packed)[1:4]
        return red, green, blue

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*self.words, *words], capture_output=True, timeout=120, check=True)


@pytest.fixture
def visit(browser: str, tmp_path: Path) -> Visit:
    return Visit(browser, tmp_path)


def visible(dom: str) -> list[str]:
    """Return how the cases ended that are told in full and are not hidden."""
    found = re.findall(r'<details([^>]*)class="case (\w+)"([^>]*)>', dom)
    return [outcome for before, outcome, after in found if "hidden" not in before + after]


def listed(dom: str) -> list[str]:
    """Return how the groups of rows ended that are not hidden."""
    found = re.findall(r'<div class="group"([^>]*)>', dom)
    return [re.findall(r'data-outcome="(\w+)"', group)[0] for group in found if "hidden" not in group]


def test_a_browser_shows_everything_at_first(visit: Visit, page_file: Path) -> None:
    dom, said = visit.dom(page_file.as_uri())
    assert said == []
    assert '<html lang="en" class="js">' in dom
    assert sorted(visible(dom)) == ["error"] * 2 + ["failed"] * 5 + ["xfailed", "xpassed"]
    assert listed(dom) == ["skipped", "passed"]


@pytest.mark.parametrize(
    ("fragment", "cases", "rows"),
    [
        ("outcome=failed", ["failed"] * 5, []),
        ("outcome=error,passed", ["error"] * 2, ["passed"]),
        ("operator=GEMM", ["xpassed", "xfailed"], []),
        ("outcome=xfailed&operator=REDUCE", [], []),
        ("text=OFF+by+92", ["failed"], []),
        ("text=rightly", [], ["passed"]),
        ("text=case.yaml::nothing-to", [], ["skipped"]),
        ("operator=NOSUCH", ["failed"] * 5 + ["error"] * 2 + ["xpassed", "xfailed"], ["skipped", "passed"]),
    ],
)
def test_the_filters_work(visit: Visit, page_file: Path, fragment: str, cases: list[str], rows: list[str]) -> None:
    dom, said = visit.dom(f"{page_file.as_uri()}#{fragment}")
    assert said == []
    assert sorted(visible(dom)) == sorted(cases)
    assert listed(dom) == rows


def test_a_link_to_a_case_unfolds_it(visit: Visit, page_file: Path) -> None:
    dom, said = visit.dom(f"{page_file.as_uri()}#c11")
    assert said == []
    assert re.search(r'<details id="c11" class="case xfailed"[^>]* open=""', dom)
    assert re.search(r'<details id="xfailed" class="part" open=""', dom)


def test_the_page_is_dark_where_the_reader_wants_it_dark(visit: Visit, page_file: Path) -> None:
    url = page_file.as_uri()
    assert visit.top_left(url, "--blink-settings=preferredColorScheme=1") == (0xF7, 0xF7, 0xF5)
    assert visit.top_left(url, "--blink-settings=preferredColorScheme=0") == (0x12, 0x14, 0x17)


@pytest.fixture
def server(page: str) -> Iterator[tuple[str, list[str]]]:
    """Serve the page, and the page with an image from elsewhere; yield the address and what was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            text = page.replace("<main>", '<main><img src="/image.png" alt="">') if "image" in self.path else page
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}", asked
        serving.shutdown()
        thread.join()


def test_a_browser_is_made_to_ask_for_nothing(visit: Visit, server: tuple[str, list[str]]) -> None:
    address, asked = server
    _, said = visit.dom(f"{address}/report.html#outcome=failed")
    assert (asked, said) == (["/report.html"], [])


def test_the_policy_keeps_the_page_from_asking(visit: Visit, server: tuple[str, list[str]]) -> None:
    address, asked = server
    _, said = visit.dom(f"{address}/with-image.html")
    assert asked == ["/with-image.html"]
    assert len(said) == 1
    assert "Content Security Policy" in said[0]
