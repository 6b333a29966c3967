"""A wrong output: its known elements, and a picture of where the errors are."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.wording import braces, brackets, counted, figure, is_or_are
from dmlcheck.reports.elements import decimal, hexadecimal
from dmlcheck.reports.html.markup import Markup
from dmlcheck.reports.html.picture import picture
from dmlcheck.reports.html.templates import fill, joined
from dmlcheck.specs.names import DATA_TYPES

_WORST = "worst"


def output_text(name: str, output: OutputResult) -> Markup:
    """Return the section of one wrong output: its elements, and a picture of where they are."""
    if output.shape is not None:
        return fill("output.shape", name=name, shape=output.shape)
    undefined = f"; {output.undefined:,} {is_or_are(output.undefined)} undefined"
    return fill(
        "output.output",
        name=name,
        data_type=output.data_type,
        sizes=braces(output.sizes),
        wrong=f"{output.mismatches:,} of {counted(output.elements, 'element')}",
        bound=output.bound,
        by=fill("output.by", by=output.decided_by) if output.decided_by else Markup(),
        undefined=undefined if output.undefined else "",
        elements=_elements(name, output),
        picture=picture(name, output),
    )


def _elements(name: str, output: OutputResult) -> Markup:
    """Return the table of the elements that are known, the worst at the top."""
    listed = list(_listed(output))
    if not listed:
        return Markup()
    has_share = any(element.share is not None for element, _ in listed)
    error = "ULP" if output.data_type.startswith("FLOAT") else "off by"
    heads = ("index", "expected", "actual", "difference", error, *(["times the tolerance"] if has_share else []))
    more = output.mismatches - len(listed)
    return fill(
        "output.elements",
        name=name,
        more=fill("output.more", number=f"{more:,}") if more > 0 else Markup(),
        heads=joined(fill("output.head", name=head) for head in heads),
        rows=joined(_row(element, word, output.data_type, has_share=has_share) for element, word in listed),
    )


def _listed(output: OutputResult) -> Iterator[tuple[Element, str]]:
    """Yield the elements that are known, each once, with the word that says which it is."""
    listed: set[tuple[int, ...]] = set()
    for element, word in _known(output):
        if element.place not in listed:
            listed.add(element.place)
            yield element, word


def _known(output: OutputResult) -> Iterator[tuple[Element, str]]:
    if output.worst is not None:
        yield output.worst, _WORST
    for index, element in enumerate(output.first):
        yield element, "first" if index == 0 else ""


def _row(element: Element, word: str, data_type: str, *, has_share: bool) -> Markup:
    cells = [
        _value(element.expected, data_type),
        _value(element.actual, data_type),
        _difference(element, data_type),
        _figure(element.ulp),
        *([_figure(element.share)] if has_share else []),
    ]
    return fill(
        "output.row",
        kind=_WORST if word == _WORST else "",
        place=brackets(element.place),
        mark=fill("output.mark", word=word) if word else Markup(),
        cells=joined(fill("output.cell", text=cell) for cell in cells),
    )


def _figure(value: float | None) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else f"{value:,.0f}" if 1e3 <= value < 1e15 else figure(value)


def decimal_text(value: float, data_type: str) -> str:
    """Return a value in decimal, in as many digits as tell it from others of its type."""
    if isinstance(value, float) and math.isfinite(value) and data_type in DATA_TYPES:
        return decimal(value, data_type)
    return str(value)


def _value(value: float, data_type: str) -> str:
    """Return a value in decimal, and below it in hexadecimal and in bits, which are exact."""
    is_finite_float = isinstance(value, float) and math.isfinite(value)
    exact = [hexadecimal(value) if is_finite_float else None, bits_text(value, data_type)]
    text = decimal_text(value, data_type)
    below = Markup(fill("case.line_break").join(filter(None, exact)))
    return fill("output.value", text=text, exact=below) if below else text


def bits_text(value: float, data_type: str) -> str | None:
    """Return the bits of a value, `0x3C00` for 1 in FLOAT16; None for NaN, which has many patterns."""
    if data_type not in DATA_TYPES or math.isnan(value):
        return None
    bits = DATA_TYPES[data_type].bits
    digits = max(1, bits // 4)
    if isinstance(value, int):
        return f"0x{value & ((1 << bits) - 1):0{digits}X}"
    code = {"FLOAT16": ">e", "FLOAT32": ">f", "FLOAT64": ">d"}.get(data_type)
    try:
        return None if code is None else "0x" + struct.pack(code, value).hex().upper()
    except OverflowError:
        return None


def _difference(element: Element, data_type: str) -> str:
    expected, actual = element.expected, element.actual
    if not (math.isfinite(expected) and math.isfinite(actual)):
        return fill("output.not_finite")
    difference = actual - expected
    if isinstance(difference, int):
        return f"{difference:+,}"
    if not math.isfinite(difference):
        return fill("output.not_finite")
    return ("+" if difference > 0 else "") + decimal_text(difference, data_type)


def worst_element(output: OutputResult) -> Element | None:
    """Return the element that represents the error of an output: the worst wrong one, else the one that is most off."""
    return output.most_off if output.worst is None else output.worst


def worst_output(outputs: Sequence[tuple[str, OutputResult]]) -> tuple[str, OutputResult, Element] | None:
    """Return the output whose worst element is the worst of all, with its name and that element."""
    worst = [(name, output, output.worst) for name, output in outputs if output.worst is not None]
    return max(worst, key=lambda entry: (entry[2].share or 0.0, entry[2].ulp), default=None)
