"""The addresses of the site's pages, relative to its folder."""

from __future__ import annotations

from dmlcheck.specs.names import short_operator


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
