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


class Level(click.ParamType):  # type: ignore[type-arg]
    """A feature level, however it is spelt."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the level's short name."""
        level = parse_level(value)
        if level is None:
            nearest = nearest_level(value)
            hint = f"; the nearest is {nearest}" if nearest else ""
            self.fail(f"{value!r} is not a feature level{hint}; the levels are {' '.join(LEVELS)}", param, ctx)
        return level


class VersionParam(click.ParamType):  # type: ignore[type-arg]
    """A version of DirectML."""

    name = "version"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the version as it was given."""
        if parse_version(str(value)) is None:
            self.fail(f"{value!r} is not a version of DirectML; write 1.8.0", param, ctx)
        return str(value)


def version_option(help: str) -> Callable[[Any], Any]:
    """Return the option that names a version of DirectML."""
    return click.option("--directml-version", type=VersionParam(), metavar="VERSION", help=help)


judged_version_option = version_option(
    "It is this version of DirectML (1.8.0): expect the failures that are known of it."
)
complete_levels = completing(lambda: LEVELS)
level_option = click.option(
    "--feature-level",
    "level",
    type=Level(),
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
