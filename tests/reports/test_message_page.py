"""The page of a message of DirectML."""

from __future__ import annotations

from dmlcheck.inspection.messages import Explained, Message, MessageSource
from dmlcheck.reports.layout import printed
from dmlcheck.reports.rule_page import message_lines

MESSAGE = Message(("Oh no {count}",), "a driver", "It broke.", "Mend it.", ("a/b#1",), rules=("size-mismatch",))


def page(*found: Explained) -> list[str]:
    return list(printed(message_lines(found), None))


def test_of_many_rows_the_labels_are_listed_each_once() -> None:
    lines = page(Explained(MESSAGE, "Oh no", tuple(MessageSource(f"A/C{number // 2}", "") for number in range(22))))
    assert "  " + ", ".join(f"A/C{number}" for number in range(11)) in lines


def test_messages_stand_below_each_other() -> None:
    one = Explained(MESSAGE, "Oh no", ())
    assert page(one, one) == [*page(one), "", *page(one)]
