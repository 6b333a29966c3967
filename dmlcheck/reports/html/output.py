"""A wrong output: its known elements, and a picture of where the errors are."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.wording import braces, brackets, counted, error_text, figure, is_or_are
from dmlcheck.reports.elements import decimal, hexadecimal
from dmlcheck.reports.html.templates import Markup, fill, joined
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


# ---- pictures


_INFINITE = 1e308
_LEFT, _TOP, _BOTTOM, _HEIGHT = 46.0, 16.0, 106.0, 138
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def picture(name: str, output: OutputResult) -> Markup:
    """Return the errors over the output as bars on a logarithmic scale; nothing for a single element."""
    profile = output.profile
    if len(profile) < 2 or not any(value > 0 for value in profile):
        return Markup()
    width = min(384.0, max(220.0, 30.0 * len(profile)))
    right = _LEFT + width
    unit = "ULP" if output.data_type.startswith("FLOAT") else "units"
    title = f"The largest error over {name}, by position, in {unit} on a logarithmic scale"
    scale = _Scale.of(profile)
    drawing = (
        *_grid(scale, right),
        *_bars(profile, width, scale),
        fill("output.axis", left=f"{_LEFT:g}", bottom=f"{_BOTTOM:g}", right=f"{right:g}"),
        _worst_mark(output, width),
        *_labels(output, unit, width),
    )
    return fill(
        "output.figure",
        width=f"{right + 8:g}",
        height=str(_HEIGHT),
        title=title,
        drawing=joined(drawing),
        words=_in_words(output),
    )


class _Scale(NamedTuple):
    """The powers of ten between which the bars stand, `top` the highest; above it is room for infinite ones."""

    low: int
    high: int
    top: float
    has_finite: bool

    @classmethod
    def of(cls, profile: Iterable[float]) -> _Scale:
        values = [value for value in profile if value > 0]
        finite = [math.log10(value) for value in values if value <= _INFINITE]
        has_infinite = len(finite) < len(values)
        if not finite:
            return cls(0, 1, _TOP, has_finite=False)
        high = math.ceil(max(finite))
        low = max(min(math.floor(min(finite)), high - 1), high - 16)
        return cls(low, high, _TOP + (14 if has_infinite else 0), has_finite=True)

    def height(self, value: float) -> float:
        """Return how tall the bar of an error is; the least are still seen."""
        if value > _INFINITE:
            return _BOTTOM - _TOP
        return max(3.0, self.at(math.log10(value)))

    def at(self, power: float) -> float:
        """Return how far above the axis a power of ten is."""
        return (power - self.low) / (self.high - self.low) * (_BOTTOM - self.top)


def _bars(profile: Sequence[float], width: float, scale: _Scale) -> Iterator[Markup]:
    """Yield the bars of finite errors as one path, and the bars of infinite ones as another."""
    step = width / len(profile)
    thick = min(step - (1 if step > 4 else 0.4), 26)
    bars: dict[bool, list[str]] = {False: [], True: []}
    for index, value in enumerate(profile):
        if value > 0:
            x, height = _LEFT + index * step + (step - thick) / 2, scale.height(value)
            bars[value > _INFINITE].append(f"M{x:.1f} {_BOTTOM:g}v-{height:.1f}h{thick:.1f}v{height:.1f}z")
    yield fill("output.bars", finite="".join(bars[False]), infinite="".join(bars[True]))


def _grid(scale: _Scale, right: float) -> Iterator[Markup]:
    ticks: list[tuple[float, str]] = []
    if scale.has_finite:
        step = max(1, math.ceil((scale.high - scale.low) / 3))
        ticks += [(_BOTTOM - scale.at(power), _power(power)) for power in range(scale.low, scale.high + 1, step)]
    if not scale.has_finite or scale.top > _TOP:
        ticks.append((_TOP, "∞"))
    for y, label in ticks:
        if y < _BOTTOM:
            yield fill("output.grid", left=f"{_LEFT:g}", y=f"{y:.1f}", right=f"{right:g}")
        yield _text("end", _LEFT - 6, y + 4, label)


def _text(kind: str, x: float, y: float, text: str) -> Markup:
    return fill("output.text", kind=kind, x=f"{x:g}", y=f"{y:.1f}", text=text)


def _power(power: int) -> str:
    if 0 <= power <= 3:
        return str(10**power)
    return "10" + str(power).translate(_SUPERSCRIPTS)


def _worst_mark(output: OutputResult, width: float) -> Markup:
    """Return the mark below the axis where the worst element is."""
    if output.worst is None or len(output.worst.place) != len(output.sizes):
        return Markup()
    place = 0
    for index, size in zip(output.worst.place, output.sizes, strict=True):
        place = place * size + index
    stretches = len(output.profile)
    x = _LEFT + (place * stretches // max(1, math.prod(output.sizes)) + 0.5) * width / stretches
    return fill("output.worst", x=f"{x:.1f}", y=f"{_BOTTOM + 3:g}")


def _labels(output: OutputResult, unit: str, width: float) -> Iterator[Markup]:
    first, last = _ends(output)
    yield _text("unit", _LEFT, 9, f"error, {unit}")
    yield _text("", _LEFT, 130, first)
    yield _text("end", _LEFT + width, 130, last)
    if width > 300:
        yield _text("middle", _LEFT + width / 2, 130, "position, row-major")


def _ends(output: OutputResult) -> tuple[str, str]:
    """Return the indices of the first and the last element, or their numbers if the indices are long."""
    first, last = brackets(0 for _ in output.sizes), brackets(size - 1 for size in output.sizes)
    if len(last) > 26:
        return "0", f"{output.elements - 1:,}"
    return first, last


def _stretch(output: OutputResult, index: int) -> str:
    """Return which elements one bar stands for."""
    stretches = len(output.profile)
    start = -(-index * output.elements // stretches)
    stop = -(-(index + 1) * output.elements // stretches) - 1
    return f"element {start:,}" if stop <= start else f"elements {start:,} to {stop:,}"


def _in_words(output: OutputResult) -> str:
    """Return the picture's content as text, for readers who do not see it or want exact numbers."""
    profile = output.profile
    wrong = [index for index, value in enumerate(profile) if value > 0]
    each = "elements" if len(profile) == output.elements else "ranges of elements"
    span = f"in {_stretch(output, wrong[0])}"
    if len(wrong) > 1:
        span = f"between {_stretch(output, wrong[0])} and {_stretch(output, wrong[-1])}"
    worst = output.worst
    if worst is None:
        most = ""
    else:
        error = error_text(worst.ulp, output.data_type, is_unrounded=worst.is_unrounded)
        most = f" ▲ is the worst element, {brackets(worst.place)}: {error}."
    return f"Wrong elements in {len(wrong)} of {len(profile)} {each}, {span}.{most}"
