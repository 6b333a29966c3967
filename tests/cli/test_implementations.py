"""Implementations on the command line."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner

from dmlcheck.cli import implementations
from dmlcheck.cli.implementations import implementation_option, made
from dmlcheck.implementations import Unavailable


def test_an_implementation_is_there_while_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    implementation = Mock()
    monkeypatch.setattr(implementations, "make", Mock(return_value=implementation))
    with made("mine") as given:
        assert given is implementation
        implementation.close.assert_not_called()
    implementation.close.assert_called_once_with()


def test_an_implementation_is_let_go_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    implementation = Mock()
    monkeypatch.setattr(implementations, "make", Mock(return_value=implementation))
    with pytest.raises(KeyError), made("mine"):
        raise KeyError
    implementation.close.assert_called_once_with()


@pytest.mark.parametrize("name", ["nothing", "reference:3", "python:no_such_module_at_all:X"])
def test_what_cannot_be_had_is_a_mistake_of_the_command_line(name: str) -> None:
    with pytest.raises(click.UsageError, match=r"^--implementation: "), made(name):
        pass


def test_what_turns_out_to_be_unavailable_is_one_too() -> None:
    with pytest.raises(click.UsageError, match=r"^--implementation: not here$"), made("reference"):
        raise Unavailable("not here")


def test_the_option_has_the_reference_as_its_default() -> None:
    found: list[Any] = []
    command = click.command()(
        implementation_option("What runs.")(lambda *, implementation: found.append(implementation))
    )
    runner = CliRunner()
    runner.invoke(command, [])
    runner.invoke(command, ["--implementation", "onnxruntime"])
    assert found == ["reference", "onnxruntime"]
    assert "What runs." in runner.invoke(command, ["--help"]).output
