"""The pages of the rules, for `explain`, the reports and the guide."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import NamedTuple


class Page(NamedTuple):
    """The page of a rule: a summary, and why the rule exists and how to obey it.

    `wrong` is the smallest file that breaks the rule and `right` the same file corrected; "" if no file can. `table`
    belongs to the end of `why`.
    """

    summary: str
    why: str
    wrong: str = ""
    right: str = ""
    table: str = ""


@cache
def page(rule: str) -> Page:
    """Return the page of a rule of the catalog, from its file in `pages`.

    The file is Markdown: the summary as its title, one paragraph, and code blocks called wrong, right and table.
    """
    with open(os.path.join(_FOLDER, f"{rule}.md"), encoding="utf-8") as file:
        text = file.read()
    title, why = _BLOCK.sub("", text).strip().split("\n\n")
    blocks = dict(_BLOCK.findall(text))
    table = blocks.pop("table", "").rstrip("\n")
    return Page(title.removeprefix("# "), why.replace("\n", " "), table=table, **blocks)


_FOLDER = os.path.join(os.path.dirname(__file__), "pages")
_BLOCK = re.compile(r"^```\w+ (wrong|right|table)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
