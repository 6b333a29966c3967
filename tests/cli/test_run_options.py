"""Numbers of processes, shards, times and other numbers, as `run` takes them."""

from __future__ import annotations

from typing import Any

import click
import pytest

from dmlcheck.cli.run_options import Dimension, Jobs, Memory, Number, Seconds, Shard
from dmlcheck.values import memory


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (Jobs(), "3", 3),
        (Shard(), "2/5", (2, 5)),
        (Seconds(), "0.5", 0.5),
        (Seconds(), "1e9", 7 * 24 * 3600.0),
        (Number(), "2.5", 2.5),
        (Number(1), "1", 1.0),
        (Dimension(), "batch=4", ("batch", 4)),
        (Dimension(), "a=b=0", ("a=b", 0)),
        (Dimension(), "x:0:1=5", ("x:0:1", 5)),
        (Dimension(2**63 - 1), f"batch={2**63 - 1}", ("batch", 2**63 - 1)),
        (Memory(), "512MiB", 512 * 2**20),
        (Memory(), "2 gib", 2**31),
        (Memory(), "1GB", 10**9),
        (Memory(), "4096", 4096),
    ],
)
def test_what_makes_sense_is_taken(kind: click.ParamType, given: str, value: Any) -> None:  # type: ignore[type-arg]
    assert kind.convert(given, None, None) == value


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Jobs(), "0", "is not a number of processes; write 1 or more, or auto"),
        (Jobs(), "many", "is not a number of processes"),
        (Shard(), "4/3", "is not a shard; write 1/3, 2/3 or 3/3 for three"),
        (Shard(), "1", "is not a shard"),
        (Seconds(), "-0.5", "is not a time; write a number of seconds, or 0 for no limit"),
        (Seconds(), "nan", "is not a time"),
        (Number(), "-1", "not in the range"),
        (Number(), "inf", "is not a finite number"),
        (Number(), "nan", "is not a finite number"),
        (Number(1), "1.5", "not in the range"),
        (Dimension(), "batch", "is not NAME=SIZE"),
        (Dimension(), "batch=-1", "is not NAME=SIZE"),
        (Memory(), "0", "is not an amount of memory"),
        (Memory(), "-1GiB", "is not an amount of memory"),
    ],
)
def test_what_does_not_is_refused_with_what_would(
    kind: click.ParamType,  # type: ignore[type-arg]
    given: str,
    words: str,
) -> None:
    with pytest.raises(click.BadParameter, match=words):
        kind.convert(given, None, None)


def test_auto_is_as_many_processes_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "cores", lambda: 7)
    assert Jobs().convert("auto", None, None) == 7
