"""The pages of the site: the values that fill their templates."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from dmlcheck import __version__
from dmlcheck.inspection.evidence import KINDS, Evidence
from dmlcheck.inspection.operator_pages import operator_dict
from dmlcheck.inspection.operator_record import OperatorRecord
from dmlcheck.reports.conditions import constraint_text
from dmlcheck.reports.operator_page import general_texts, tolerance_lines
from dmlcheck.reports.site.example import Example
from dmlcheck.reports.site.levels import matrices
from dmlcheck.reports.site.mathml import mathml
from dmlcheck.specs.about import FAMILIES
from dmlcheck.specs.c_types import c_type
from dmlcheck.specs.names import FEATURE_LEVELS, LEVELS, first_windows, short_operator
from dmlcheck.specs.undefined import undefined


class Subject(NamedTuple):
    """The sources of an operator's page: its record, its example, and the evidence for its results."""

    record: OperatorRecord
    example: Example
    evidence: Evidence


def operator_page(subject: Subject, family: Sequence[OperatorRecord]) -> str:
    """Return the page of an operator; `family` has the records of its family, in the order in which they are listed."""
    record = subject.record
    spec = record.spec
    windows = first_windows(spec.introduced)
    return _template("operator.html").render(
        **_common(),
        record=record,
        json=operator_dict(record),
        example=subject.example,
        evidence=subject.evidence,
        kinds=[(KINDS[kind], count) for kind, count in subject.evidence.kinds.items() if count],
        family=family,
        level=FEATURE_LEVELS[spec.introduced],
        windows=windows,
        equations=[Markup(mathml(equation)) for equation in record.about.equations],  # noqa: S704 - made of a spec
        symbols=[(Markup(mathml(symbol, "inline")), text) for symbol, text in record.about.where.items()],  # noqa: S704
        matrices=matrices(spec),
        constraints=[(row.id, constraint_text(row)) for row in spec.constraints],
        general=[undefined(text) for text in general_texts(spec)],
        tolerances=[(line.lead.strip(), line.text) for line in tolerance_lines(spec)],
    )


def index_page(records: Sequence[OperatorRecord]) -> str:
    """Return the page that lists all operators by family."""
    families = {
        title: [record for record in records if record.about.family == family] for family, title in FAMILIES.items()
    }
    return _template("index.html").render(**_common(), families=families, records=records)


def search_script(records: Sequence[OperatorRecord]) -> str:
    """Return the index of the search as a script, so that it is read without a server."""
    import json

    rows = [
        [record.spec.short, record.about.purpose, page_name(record.spec.operator), _words(record)] for record in records
    ]
    return "const INDEX = " + json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + ";\n"


def _words(record: OperatorRecord) -> str:
    """Return the words for which the search finds an operator besides its name: counterparts, keywords and fields."""
    bare = (each.name.rpartition(".")[2] for each in record.counterparts)
    return " ".join(dict.fromkeys([*bare, *record.about.keywords, *record.spec.fields]))


def page_name(operator: str) -> str:
    """Return the file of an operator's page."""
    return short_operator(operator).lower() + ".html"


def file_text(name: str) -> str:
    """Return a file that stands beside the templates as it is: the style sheet or the script."""
    with open(os.path.join(_folder(), name), encoding="utf-8") as file:
        return file.read()


def _common() -> Mapping[str, Any]:
    return {"tool_version": __version__, "levels": LEVELS, "families_by_id": FAMILIES}


def _folder() -> str:
    return os.path.join(os.path.dirname(__file__), "templates")


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_folder()),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["page"] = page_name
    environment.filters["short"] = short_operator
    environment.filters["c_type"] = c_type
    return environment.get_template(name)
