"""The page around the cases: its head with the run and its outcome, the filters, its style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import counted
from dmlcheck.reports.html.markup import Markup
from dmlcheck.reports.html.templates import file_text, fill, joined
from dmlcheck.reports.records import EACH_ITS_OWN, HEADS, RunInfo, Summary, level_text
from dmlcheck.reports.style import styled
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, XPASSED


class Assets:
    """The style and the script, which are files."""

    def __init__(self) -> None:
        self.style = "\n" + styled(file_text("style.css"))
        self.script = "\n" + file_text("script.js")

    def policy(self) -> Markup:
        """Return the content security policy: this page's own style and script, and nothing from anywhere."""
        return Markup(
            f"default-src 'none'; style-src {_hash(self.style)}; script-src {_hash(self.script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


# ---- the top


def headline(summary: Summary) -> str:
    """Return the outcome of the run in a few words."""
    cases = counted(summary.total, "case")
    if not summary.total:
        return "Nothing ran"
    if summary.failed:
        return f"{_failures(summary)} in {cases}"
    if summary.drifted:
        return f"{summary.drifted:,} of {cases} drifted"
    if summary.is_vain:
        return f"Nothing was computed in {cases}"
    return f"No failures in {cases}"


def _failures(summary: Summary) -> str:
    """Return how many cases made the run fail, in each way in which they did: `5 failed and 2 errors`."""
    failed, errors, passed = (summary.counts.get(outcome, 0) for outcome in (FAILED, ERRORED, XPASSED))
    numbers = [f"{failed:,} failed"] if failed else []
    numbers += [counted(errors, "error")] if errors else []
    numbers += [f"{passed:,} passed against expectation"] if passed else []
    return " and ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)


def head(summary: Summary, info: RunInfo, assets: Assets) -> Markup:
    """Return the page up to its cases: the outcome of the run, and its settings."""
    facts = (fill("page.fact", name=name, value=value) for name, value in _facts(summary, info))
    return fill(
        "page.head",
        policy=assets.policy(),
        title=headline(summary),
        version=__version__,
        implementation=info.judged,
        style=Markup(assets.style),
        verdict="bad" if summary.failures else "none" if summary.is_vain else "good",
        stopped=fill("page.stopped") if summary.interrupted else Markup(),
        shares=_share_bar(summary),
        facts=joined(facts),
    )


def _facts(summary: Summary, info: RunInfo) -> Iterator[tuple[str, str]]:
    level = info.settings.feature_level
    yield "dmlcheck", __version__
    yield "Implementation", info.judged
    yield "Feature level", EACH_ITS_OWN if level is None else f"up to {level_text(level)}"
    yield "Cases", f"{summary.total:,}"
    if summary.descs:
        yield "Passed", f"{summary.computed:,}"
        yield "Descs checked", f"{summary.descs:,}"
    yield "Accumulation", info.settings.accumulate
    yield "Inputs of products", info.settings.inputs
    yield from ((f"Consistent with {name} inputs", str(count)) for name, count in summary.consistent.items())
    yield "Time", f"{summary.seconds:,.2f} s"
    if info.shard is not None:
        yield "Shard", f"{info.shard[0]} of {info.shard[1]}"


def _share_bar(summary: Summary) -> Markup:
    """Return a bar of the outcomes, each as wide as its share; a few of very many stay visible."""
    if not summary.total:
        return Markup()
    widths = {kind: max(number / summary.total, 0.006) for kind, number in summary.kinds.items() if number}
    whole = sum(widths.values())
    bars, at = [], 0.0
    for kind, width in widths.items():
        step = 1000 * width / whole
        bars.append(fill("page.share", kind=kind, x=f"{at:.1f}", width=f"{step:.1f}"))
        at += step
    return fill("page.shares", shares=joined(bars))


def filters(summary: Summary, operators: Iterable[str]) -> Markup:
    """Return the filters for the cases."""
    chips = (
        fill(
            "page.chip",
            kind=kind if number else f"{kind} empty",
            outcome=kind,
            number=f"{number:,}",
            name=HEADS.get(kind, kind),
        )
        for kind, number in summary.kinds.items()
        if number or kind in (PASSED, FAILED, ERRORED, SKIPPED)
    )
    options = (fill("page.operator", name=operator) for operator in sorted(operators))
    return fill("page.filters", chips=joined(chips), operators=joined(options))


# ---- the end


def foot(assets: Assets) -> Markup:
    """Return the end of the page."""
    return fill("page.foot", script=Markup(assets.script))
