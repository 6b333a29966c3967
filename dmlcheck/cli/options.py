"""Options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from dmlcheck.specs.names import LEVELS, nearest_level, parse_level, parse_version

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def examples(*lines: str) -> str:
    """Return examples for the end of a command's help, from command lines without `dmlcheck`."""
    return "\n".join(("\b", "Examples:", *(f"  dmlcheck {line}" for line in lines)))


def listed(title: str, rows: Mapping[str, str]) -> str:
    """Return a list of names, each with its meaning, for the end of a command's help."""
    width = max(map(len, rows))
    return "\n".join(("\b", f"{title}:", *(f"  {name:<{width}}  {meaning}" for name, meaning in rows.items())))


def completing(names: Callable[[], Iterable[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a completer of words to one of some names, in any case."""

    def complete(_: click.Context, __: click.Parameter, word: str) -> list[str]:
        return [name for name in names() if name.casefold().startswith(word.casefold())]

    return complete


def complete_files(_: click.Context, __: click.Parameter, word: str) -> list[CompletionItem[Any]]:
    """Let a shell complete a word to the name of a file or a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(word, type="file")]


def as_level(value: Any) -> str:
    """Return the short name of a feature level, however it is spelt; BadParameter for none."""
    found = parse_level(value)
    if found is None:
        nearest = nearest_level(value)
        hint = f"; the nearest is {nearest}" if nearest else ""
        raise click.BadParameter(f"{value!r} is not a feature level{hint}; the levels are {' '.join(LEVELS)}")
    return found


def as_version(value: Any) -> str:
    """Return a version of DirectML as it was given; BadParameter for none."""
    if parse_version(str(value)) is None:
        raise click.BadParameter(f"{value!r} is not a version of DirectML; write 1.8.0")
    return str(value)


def version_option(help: str) -> Callable[[Any], Any]:
    """Return the option that names a version of DirectML."""
    return click.option("--directml-version", type=as_version, metavar="VERSION", help=help)


judged_version_option = version_option(
    "It is this version of DirectML (1.8.0): expect the failures that are known of it."
)
complete_levels = completing(lambda: LEVELS)
level_option = click.option(
    "--feature-level",
    "level",
    type=as_level,
    metavar="LEVEL",
    help="A DML_FEATURE_LEVEL: 4_1, 4.1 or 0x4100.",
    shell_complete=complete_levels,
)
format_option = click.option(
    "--format",
    "--output-format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
select_option = click.option(
    "-k",
    "expression",
    metavar="EXPR",
    help="Only cases whose id contains EXPR, words joined by and, or, not, ().",
)


def _take_colour(ctx: click.Context, _: click.Parameter, value: str) -> None:
    ctx.find_root().meta[COLOUR] = value


COLOUR = "dmlcheck.colour"
colour_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    callback=_take_colour,
    expose_value=False,
    help="Whether to print in colour. Default: auto, on a terminal without NO_COLOR.",
)
