"""The page around the cases: its head with what ran and how it ended, the filters, its style and script."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Iterator

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import counted
from dmlcheck.reports.html.markup import escape
from dmlcheck.reports.records import EACH_ITS_OWN, HEADS, RunInfo, Summary, level_text
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED


class Assets:
    """The style and the script, which are files beside this module."""

    def __init__(self) -> None:
        self.style = _text_of("style.css")
        self.script = _text_of("script.js")

    def policy(self) -> str:
        """Return the content security policy: this page's own style and script, and nothing from anywhere."""
        return (
            f"default-src 'none'; style-src {_hash(self.style)}; script-src {_hash(self.script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


def _text_of(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return "\n" + file.read()


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


# ---- the top


def headline(summary: Summary) -> str:
    """Return the outcome of the run in a few words."""
    cases = counted(summary.total, "case")
    if not summary.total:
        return "Nothing ran"
    if summary.failed:
        errors = summary.counts.get(ERRORED, 0)
        wrong = [f"{summary.failed - errors:,} failed"] if summary.failed > errors else []
        return f"{' and '.join([*wrong, counted(errors, 'error')] if errors else wrong)} in {cases}"
    if summary.drifted:
        return f"{summary.drifted:,} of {cases} drifted"
    if summary.is_vain:
        return f"Nothing was computed in {cases}"
    return f"No failures in {cases}"


def head(summary: Summary, info: RunInfo, assets: Assets) -> Iterator[str]:
    """Yield the page up to its cases: how the run ended, and what it was."""
    title = headline(summary)
    verdict = "bad" if summary.failures else "none" if summary.is_vain else "good"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{assets.policy()}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield '<link rel="icon" href="data:,">\n'
    yield f"<title>{escape(f'{title} - dmlcheck {__version__}, {info.judged}')}</title>\n"
    yield f"<style>{assets.style}</style>\n</head>\n<body>\n"
    yield f'<header>\n<p class="tool">dmlcheck report</p>\n<h1 class="{verdict}">{title}</h1>\n'
    if summary.interrupted:
        yield '<p class="stopped">Interrupted: the run ended before all its cases had run.</p>\n'
    yield _share_bar(summary)
    yield '<dl class="facts">'
    yield from (f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in _facts(summary, info))
    yield "</dl>\n</header>\n<main>\n"


def _facts(summary: Summary, info: RunInfo) -> Iterator[tuple[str, str]]:
    level = info.feature_level
    yield "dmlcheck", __version__
    yield "Implementation", info.judged
    yield "Feature level", EACH_ITS_OWN if level is None else f"up to {level_text(level)}"
    yield "Cases", f"{summary.total:,}"
    if summary.descs:
        yield "Passed", f"{summary.computed:,}"
        yield "Descs checked", f"{summary.descs:,}"
    yield "Accumulation", info.accumulate
    yield "Inputs of products", info.inputs
    yield from ((f"Consistent with {name} inputs", str(count)) for name, count in summary.consistent.items())
    yield "Time", f"{summary.seconds:,.2f} s"
    if info.shard is not None:
        yield "Shard", f"{info.shard[0]} of {info.shard[1]}"


def _share_bar(summary: Summary) -> str:
    """Return a bar of the outcomes, each as wide as its share; a few of very many stay visible."""
    if not summary.total:
        return ""
    widths = {kind: max(number / summary.total, 0.006) for kind, number in summary.kinds.items() if number}
    whole = sum(widths.values())
    bars, at = [], 0.0
    for kind, width in widths.items():
        step = 1000 * width / whole
        bars.append(f'<rect class="{kind}" x="{at:.1f}" width="{step:.1f}" height="8"/>')
        at += step
    return (
        '<svg class="share" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">'
        + "".join(bars)
        + "</svg>\n"
    )


def filters(summary: Summary, operators: Iterable[str]) -> Iterator[str]:
    """Yield what chooses the cases that are shown."""
    yield '<div class="filters" role="search" aria-label="Filter the cases">\n'
    yield '<fieldset><legend class="quiet">Outcome</legend>'
    for kind, number in summary.kinds.items():
        if number or kind in (PASSED, FAILED, ERRORED, SKIPPED):
            empty = "" if number else " empty"
            yield (
                f'<label class="chip {kind}{empty}"><input type="checkbox" name="outcome" value="{kind}">'
                f"<b>{number:,}</b> {HEADS.get(kind, kind)}</label>"
            )
    yield '</fieldset>\n<div class="more" hidden>'
    yield '<label>Operator <select id="operator"><option value="">all</option>'
    yield from (f"<option>{escape(operator)}</option>" for operator in sorted(operators))
    yield "</select></label> "
    yield '<label>Text <input type="search" id="text" placeholder="id, type, value, message" size="26"></label> '
    yield '<button type="button" id="clear">Clear</button> <span id="status" role="status"></span></div>\n</div>\n'


# ---- the end


def foot(assets: Assets) -> Iterator[str]:
    """Yield the end of the page."""
    yield "</main>\n<footer>Errors are in units in the last place (ULP): from the unrounded result where the expected "
    yield "value is that result rounded, else from the expected value. For integers: the difference.</footer>\n"
    yield f"<script>{assets.script}</script>\n</body>\n</html>\n"
