"""All pages of the site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dmlcheck.cases.records import Case
from dmlcheck.inspection.about_checks import example
from dmlcheck.inspection.evidence import evidence
from dmlcheck.inspection.operator_record import OperatorRecord, operator_record
from dmlcheck.reports.site.example import example_of
from dmlcheck.reports.site.pages import Subject, file_text, index_page, operator_page, page_name, search_script
from dmlcheck.specs.about import FAMILIES
from dmlcheck.specs.load import load_spec, operator_names


def pages(cases: Mapping[str, Sequence[Case]]) -> Iterator[tuple[str, str]]:
    """Yield the files of the site with their texts; `cases` has the bundled cases by the full name of the operator."""
    records = [operator_record(load_spec(operator)) for operator in operator_names()]
    families = {family: [one for one in records if one.about.family == family] for family in FAMILIES}
    yield "style.css", file_text("style.css")
    yield "script.js", file_text("script.js")
    yield "search.js", search_script(records)
    yield "index.html", index_page(records)
    for record in records:
        own = cases[record.spec.operator]
        yield page_name(record.spec.operator), operator_page(_subject(record, own), families[record.about.family])


def _subject(record: OperatorRecord, cases: Sequence[Case]) -> Subject:
    case = example(record.about, cases)
    if case is None:
        raise ValueError(f"{record.spec.operator} has no example {record.about.example}")
    return Subject(record, example_of(record.spec, case), evidence(record.spec.operator, cases))
