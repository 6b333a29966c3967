"""The templates of the site: Jinja2 with escaping on, and the filters that they use."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from dmlcheck.specs.names import short_operator

if TYPE_CHECKING:
    from jinja2 import Environment


FOLDER = os.path.dirname(os.path.abspath(__file__))


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a filled template; every value is escaped that is not markup already."""
    return _environment().get_template(template).render(values)


def file_text(name: str) -> str:
    """Return a file of the site that needs no filling in: its style or its script."""
    with open(os.path.join(FOLDER, "templates", name), encoding="utf-8") as file:
        return file.read()


def breakable(name: str) -> Any:
    """Return a name that a browser may break after an underscore, or where a new word begins."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=_)(?=.)|(?<=[a-z])(?=[A-Z])", "<wbr>", str(escape(name))))  # noqa: S704 - escaped


# A hyphen that is a sign or a difference: not one in a word, a name or an option.
_MINUS = re.compile(r"(?<=\S )-(?= )|(?<![^\s(\[{=<>,;*/|])-(?=[\w(.])")
_CODE = re.compile("`([^`]+)`")


def with_minus(text: str) -> str:
    """Return a text with a minus for each hyphen that stands for one."""
    return _MINUS.sub("\N{MINUS SIGN}", text)


def prose(text: str) -> Any:
    """Return a text as markup, with code for the names that stand in backticks, and with minuses outside these."""
    from markupsafe import Markup, escape

    parts = _CODE.split(text)  # every second one is code
    drawn = (f"<code>{escape(part)}</code>" if at % 2 else escape(with_minus(part)) for at, part in enumerate(parts))
    return Markup("".join(drawn))  # noqa: S704 - escaped


_ADDRESS = re.compile(r"(?P<url>https?://[^\s;,)]+)|\b(?P<name>[\w.-]+/[\w.-]+)#(?P<number>\d+)\b")


def linked(text: str) -> Any:
    """Return a text as markup, with links at its addresses and its GitHub threads, as in owner/name#1."""
    from markupsafe import Markup, escape

    def link(found: re.Match[str]) -> str:
        address = found["url"] or f"https://github.com/{found['name']}/issues/{found['number']}"
        return f'<a href="{address}">{found[0]}</a>'

    return Markup(_ADDRESS.sub(link, str(escape(text))))  # noqa: S704 - escaped


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(os.path.join(FOLDER, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = breakable
    environment.filters["linked"] = linked
    environment.filters["prose"] = prose
    environment.filters["leaves"] = leaves
    environment.filters["short"] = short_operator
    environment.globals.update(
        operator_url=address_of_operator,
        rule_url=address_of_rule,
        level_url=address_of_level,
        type_url=address_of_type,
    )
    return environment


# ---- the facts of a record that a page says in words, as machines read them


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each value in a part of a record; a list is one text, empty values are none."""
    if value in (None, "", [], ()):
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        yield path, " ".join(map(str, value))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)


# ---- the addresses of the site's pages, relative to its folder


def address_of_operator(operator: str) -> str:
    """Return the address of an operator's page, by its full or short name: `gemm.html`."""
    return f"{short_operator(operator).lower()}.html"


def address_of_rule(rule: str) -> str:
    """Return the address of a rule's page: `rule-size-mismatch.html`."""
    return f"rule-{rule}.html"


def address_of_level(level: str) -> str:
    """Return the address of a feature level's page: `level-4_1.html`."""
    return f"level-{level}.html"


def address_of_type(data_type: str) -> str:
    """Return the address of a data type's page: `type-float32.html`."""
    return f"type-{data_type.lower()}.html"


# Pages of the guide that the site has in another form: the list of the rules is the page of the rules, and an
# operator's evidence is on its own page. The page about the code is for those who have the code.
GUIDE_PAGES = {"README.md": "guide.html", "rules.md": "rules.html"}
GUIDE_LEFT_OUT = frozenset(("evidence.md", "code.md"))


def address_of_guide_page(file: str) -> str | None:
    """Return the address of a page of the guide by its file's name, None where the site does not have it."""
    if file in GUIDE_LEFT_OUT or not file.endswith(".md"):
        return None
    return GUIDE_PAGES.get(file, f"guide-{file.removesuffix('.md')}.html")
