"""Options that commands share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from dmlcheck.specs.names import LEVELS, parse_level


def examples(*lines: str) -> str:
    """Return examples for the end of a command's help, from command lines without `dmlcheck`."""
    return "\n".join(("\b", "Examples:", *(f"  dmlcheck {line}" for line in lines)))


def listed(title: str, rows: Mapping[str, str]) -> str:
    """Return a list of names, each with what it means, for the end of a command's help."""
    width = max(map(len, rows))
    return "\n".join(("\b", f"{title}:", *(f"  {name:<{width}}  {meaning}" for name, meaning in rows.items())))


class Level(click.ParamType):  # type: ignore[type-arg]
    """A feature level, however it is spelt."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the level's short name."""
        level = parse_level(value)
        if level is None:
            self.fail(f"{value!r} is not a feature level; the levels are {' '.join(LEVELS)}", param, ctx)
        return level


level_option = click.option(
    "--feature-level", "level", type=Level(), metavar="LEVEL", help="A DML_FEATURE_LEVEL: 4_1, 4.1 or 0x4100."
)
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
select_option = click.option(
    "-k", "expression", metavar="EXPR", help="Only cases whose id contains this; and, or, not and parentheses."
)
