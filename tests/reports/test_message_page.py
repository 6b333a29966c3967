"""The page of a message of DirectML."""

from __future__ import annotations

from dmlcheck.inspection.messages import Explained, Message, MessageSource
from dmlcheck.reports.layout import printed
from dmlcheck.reports.rule_page import message_lines, nearest_lines

MESSAGE = Message(("Oh no {count}",), "a driver", "It broke.", "Mend it.", ("a/b#1",), rules=("size-mismatch",))


def page(*found: Explained) -> list[str]:
    return list(printed(message_lines(found), None))


def test_a_page_says_who_wrote_it_what_it_means_where_it_is_from_and_what_to_do() -> None:
    assert page(Explained(MESSAGE, "Oh no", (MessageSource("GEMM/C3", "BTensor fits."),))) == [
        "Oh no",
        "  from: a driver",
        "",
        "It broke.",
        "",
        "Rules:",
        "  rule           summary",
        "  size-mismatch  a tensor has a size that does not fit the other tensors and the attributes",
        "",
        "It can come from:",
        "  row      text",
        "  GEMM/C3  BTensor fits.",
        "",
        "What to do:",
        "  Mend it.",
        "",
        "Sources:",
        "  a/b#1",
    ]


def test_what_there_is_not_has_no_title() -> None:
    lines = page(Explained(MESSAGE._replace(rules=()), "Oh no", ()))
    assert [line for line in lines if line.endswith(":")] == ["What to do:", "Sources:"]


def test_of_many_rows_the_labels_are_listed_each_once() -> None:
    lines = page(Explained(MESSAGE, "Oh no", tuple(MessageSource(f"A/C{number // 2}", "") for number in range(22))))
    assert "  " + ", ".join(f"A/C{number}" for number in range(11)) in lines


def test_messages_stand_below_each_other() -> None:
    one = Explained(MESSAGE, "Oh no", ())
    assert page(one, one) == [*page(one), "", *page(one)]


def test_an_unknown_message_has_the_nearest_below_it() -> None:
    assert list(printed(nearest_lines(["a", "b"]), None)) == [
        "dmlcheck does not know this message. The nearest are:",
        "  a",
        "  b",
    ]


def test_a_message_that_nothing_is_like_has_no_nearest() -> None:
    (line,) = printed(nearest_lines([]), None)
    assert line == "dmlcheck does not know this message, nor one like it. `dmlcheck explain` lists the rules."
