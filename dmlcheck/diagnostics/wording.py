"""How messages say things: values, figures, names that were meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

_MOST_COMPARED = 400  # names in a list: enough for all operators, not for all of a large file
_MOST_UNKNOWN = 20  # names in one mapping: more of them say nothing new


def pointer(path: tuple[str | int, ...]) -> str:
    """Return a path as reports print it: `("desc", "Axes", 0)` is `desc.Axes[0]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


# Control characters, line ends, marks that change the direction of text, and halves of surrogate pairs.
_HIDDEN = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"


def visible(text: str) -> str:
    """Return a user's text as one line of a report, with escapes for invisible characters and line ends."""
    return re.sub(_HIDDEN, lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def describe(value: Any) -> str:
    """Return a short description of a value of a file: `3`, `'abc'`, `null`, `a list of 2`, `a mapping`."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return repr(cut(value, 60))
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a whole number of {value.bit_length():,} bits"
    return cut(getattr(value, "text", str(value)), 60)  # 1e999, which is infinite as a float, has the text


def plural(number: int, noun: str) -> str:
    """Return a noun as it follows a number: `case` after 1, `cases` after any other."""
    return noun if number == 1 else noun + "s"


def counted(number: int, noun: str) -> str:
    """Return `1 case` or `1,000 cases`."""
    return f"{number:,} {plural(number, noun)}"


def is_or_are(number: int) -> str:
    """Return the verb that follows a number of things."""
    return "is" if number == 1 else "are"


def cut(text: str, most: int) -> str:
    """Return a text cut to a number of characters, with an ellipsis if it is longer."""
    return text if len(text) <= most else text[: most - 3] + "..."


def brief(value: Any, most: int = 160) -> str:
    """Return a value of a case file in YAML's flow style, cut off where it gets long."""
    return visible(cut(_flow(value, most), most))


def _flow(value: Any, most: int) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(part, most)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        parts: list[str] = []
        length = 0
        for part in value:
            parts.append(_flow(part, most))
            length += len(parts[-1]) + 2
            if length > most:
                break
        return "[" + ", ".join(parts) + "]"
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def braces(sizes: Iterable[int]) -> str:
    """Return sizes as reports print them: `{2, 3}`."""
    return "{" + ", ".join(map(str, sizes)) + "}"


def brackets(place: Iterable[int]) -> str:
    """Return where an element stands in its tensor: `[0, 3]`."""
    return f"[{', '.join(map(str, place))}]"


def closest(word: str, known: Any) -> str | None:
    """Return the known name that a misspelt or shortened word most resembles, or None; of very many names none."""
    if len(word) > 100 or len(known) > _MOST_COMPARED:
        return None
    import difflib

    names: dict[str, str] = {name.casefold(): name for name in known}
    longer = [name for name in names if len(word) > 3 and name.startswith(word.casefold() + "_")]
    if len(longer) == 1:
        return names[longer[0]]
    found = difflib.get_close_matches(word.casefold(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def did_you_mean(word: str, known: Any) -> str | None:
    """Return the sentence that offers the closest known name, or None."""
    name = closest(word, known)
    return f"did you mean {name}?" if name else None


def first_few(words: Sequence[str], most: int, between: str = ", ") -> str:
    """Return words in a row, of many the first ones: `a, b and 3 more`."""
    return between.join(words[:most]) + (f" and {len(words) - most:,} more" if len(words) > most else "")


def unknown_names(
    given: Mapping[Any, Any], known: Collection[str], names: str = "its keys are"
) -> Iterator[tuple[Any, str]]:
    """Yield the first few unknown names, each with the closest known one, or with all known ones if none is close."""
    meant = misspelt(given, known)
    for name in islice((name for name in given if name not in known), _MOST_UNKNOWN):
        help = _NO_MERGE if name == "<<" else None
        help = help or (f"did you mean {meant[name]}?" if name in meant else _another_name(str(name), given, known))
        yield name, help or (f"{names} {', '.join(known)}" if known else "it has none here")


def _another_name(name: str, given: Mapping[Any, Any], known: Collection[str]) -> str | None:
    """Return the help for an unknown name: the closest known name, or to leave it out if that one is given already."""
    close = closest(name, known)
    if close is None or close not in given:
        return f"did you mean {close}?" if close else None
    if is_misspelling(name, close):
        return f"leave {name} out; {close} is given already"
    return did_you_mean(name, [other for other in known if other not in given])


_NO_MERGE = "YAML 1.2 has no merge keys; write the keys out, or use an alias for the whole value"


def misspelt(given: Mapping[Any, Any], known: Collection[str]) -> dict[Any, str]:
    """Return the unknown keys of a mapping that misspell a known one, each with the key that it stands for.

    Only a known key that is not there, or null, can be meant.
    """
    if all(key in known for key in given):
        return {}
    absent = [name for name in known if given.get(name) is None]
    unknown = islice((key for key in given if key not in known), _MOST_UNKNOWN)
    pairs = ((key, next((name for name in absent if _may_mean(str(key), name)), None)) for key in unknown)
    return {key: name for key, name in pairs if name is not None}


_OTHER_NAMES = {"type": "operator"}  # in DxDispatch's models


def _may_mean(word: str, name: str) -> bool:
    return _OTHER_NAMES.get(word) == name or is_misspelling(word, name)


def is_misspelling(word: str, name: str) -> bool:
    """Whether a word is a misspelt name: another case, underscores, or a wrong letter or two in one of its words.

    Each word of the name must have its counterpart, and a single letter or digit must be the same: `ATensor` is not
    `BTensor`, nor is `Beta1` `Beta2`.
    """
    if len(word) > 2 * len(name):
        return False
    if word.casefold().replace("_", "") == name.casefold():
        return True
    pairs = zip_longest(_words(word), _words(name), fillvalue="")
    return all(_edits(found.casefold(), wanted.casefold()) <= _most_edits(wanted) for found, wanted in pairs)


def _words(name: str) -> list[str]:
    """Return the words of a name: `AxisDirection` has two, `ATensor` too."""
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]|[0-9]", name)


def _most_edits(word: str) -> int:
    """Return how many letters of a word may be wrong."""
    return 0 if len(word) < 3 else 1 if len(word) < 8 else 2


def _edits(word: str, other: str) -> int:
    """Return how many letters to add, drop, replace or swap with the next make one word the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word):
        after = [i + 1]
        for j, wanted in enumerate(other):
            least = min(row[j + 1] + 1, after[j] + 1, row[j] + (letter != wanted))
            if i and j and word[i - 1] == wanted and letter == other[j - 1]:
                least = min(least, before[j - 1] + 1)
            after.append(least)
        before, row = row, after
    return row[-1]


def size_text(amount: int) -> str:
    """Return a number of bytes in GiB."""
    return f"{amount / 2**30:.1f} GiB"


def dimensions_text(count: int) -> str:
    """Return `1 dimension` or `3 dimensions`."""
    return f"{count} {plural(count, 'dimension')}"


def dimension_counts_text(counts: Iterable[int]) -> str:
    """Return ascending dimension counts as people write them: `1 to 8`, `4`, `4 or 5`, `1 to 3 or 5 to 8`."""
    runs: list[list[int]] = []
    for count in counts:
        if runs and count == runs[-1][-1] + 1:
            runs[-1].append(count)
        else:
            runs.append([count])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else " or ".join(map(str, run)) for run in runs]
    return " or ".join(parts)


def error_text(ulp: float, data_type: str, *, is_unrounded: bool = False) -> str:
    """Return an error in words: floats are off by units in the last place, integers by a number.

    `is_unrounded` says that it is measured from the unrounded result, not from the expected value.
    """
    if not data_type.startswith("FLOAT"):
        return f"off by {figure(ulp)}"
    return f"{figure(ulp)} ULP" + (" from the unrounded result" if is_unrounded and ulp < 1e300 else "")


def share_text(share: float) -> str:
    """Return an error as a share of its tolerance: a percentage up to 100 %, beyond that how many times."""
    return f"{figure(share)} times the tolerance" if share > 1 else f"{figure(100 * share)} % of the tolerance"


def figure(value: float) -> str:
    """Return a figure of a report, short; a whole number with all its digits."""
    if isinstance(value, int):
        return str(value)
    if value >= 1e15:
        return "infinite" if value > 1e308 else f"{value:.3g}"
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.3g}" if not 1 < value < 1.01 else f"{max(value, 1.000001):.7g}"
