"""The elements of an output that are wrong, in words and figures."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.wording import brackets, counted, error_text, is_or_are, share_text
from dmlcheck.reports.layout import columns_of
from dmlcheck.running.results import CaseResult


def mismatch_lines(name: str, output: OutputResult) -> list[str]:
    """Return the elements of an output that are wrong: the first few, and the worst if it is not among them."""
    if output.shape is not None or not output.mismatches:
        return []
    lines = [f"tolerance of {name}: {output.bound}"]
    if output.decided_by:
        lines.append(f"  from {output.decided_by}")
    rows = list(_rows(output))
    lines.extend("  " + line for line in columns_of(("", "", "", ""), rows, right=False)[1:])
    more = output.mismatches - len(rows)
    if more > 0:
        lines.append(f"  and {more:,} more")
    if output.undefined:
        lines.append(f"  ({output.undefined:,} {is_or_are(output.undefined)} undefined, and not compared)")
    return lines


def open_lines(result: CaseResult) -> Iterator[str]:
    """Yield the elements and outputs of a case that were not judged: undefined elements, and outputs without values."""
    if result.uncompared:
        yield f"not compared, as the case gives no values: {', '.join(result.uncompared)}"
    for name, output in result.outputs.items():
        if output.undefined:
            of = f"{output.undefined:,} of {counted(output.elements, 'element')}"
            yield f"{name}: {of} {is_or_are(output.undefined)} undefined, and not compared"


def _rows(output: OutputResult) -> Iterator[list[str]]:
    """Yield the first elements, and the worst if it is not among them."""
    for element in output.first:
        yield _cells(element, output.data_type)
    if output.worst is not None and output.worst.place not in [element.place for element in output.first]:
        *cells, last = _cells(output.worst, output.data_type)
        yield [*cells, last + "   (worst)"]


def _cells(element: Element, data_type: str) -> list[str]:
    index = brackets(element.place)
    expected, actual = element.expected, element.actual
    share = f", {share_text(element.share)}" if element.share is not None else ""
    distance = error_text(element.ulp, data_type, is_unrounded=element.is_unrounded)
    difference = actual - expected
    if data_type.startswith("FLOAT") and math.isfinite(difference):
        distance = f"off by {decimal(abs(difference), data_type)}: {distance}"
    return [
        index,
        f"expected {value_text(expected, data_type)}",
        f"got {value_text(actual, data_type)}",
        distance + share,
    ]


def value_text(value: float, data_type: str) -> str:
    """Return a value in decimal and, if it is a float, in hexadecimal, which is exact."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    return f"{decimal(value, data_type)} ({hexadecimal(value)})"


def decimal(value: float, data_type: str) -> str:
    """Return the shortest decimal that stands for a value of a data type."""
    from dmlcheck.values.number_formats import spell

    return spell(value, data_type)


def report_value(value: float | None) -> float | str | None:
    """Return a value as it is in a report of JSON: infinities and NaN are text, as in case files."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def hexadecimal(value: float) -> str:
    """Return a hex float without the zeros at its end: `0x1.8p+1`."""
    mantissa, _, exponent = value.hex().partition("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"
