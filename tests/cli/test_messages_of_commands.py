"""What commands say of files that they cannot use, and of what is needed instead."""

from __future__ import annotations

from pathlib import Path

from commandline import dmlcheck

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.files import yaml
from dmlcheck.inspection.messages import messages


def test_a_folder_is_not_said_to_be_missing() -> None:
    Path("folder").mkdir()
    for words in (["eval", "folder"], ["reduce", "folder", "-o", "a.yaml", "--implementation", "command:x"]):
        found = dmlcheck(*words)
        assert (found.exit_code, found.stdout) == (2, "")
        assert f"folder is a folder; `dmlcheck {words[0]}` takes one file, or one case as PATH::NAME" in found.stderr


def test_a_file_that_is_too_large_is_told_where_its_values_may_be() -> None:
    with Path("big.yaml").open("wb") as file:
        file.truncate(yaml.MAX_BYTES + 1)
    (problem,) = yaml.read("big.yaml").problems
    assert problem.rule == "file-too-large"
    assert problem.help == "put the values into .npy files, which `{file: data/x.npy}` reads, or split the file"


def test_the_code_of_a_refusal_has_every_rule_that_may_be_behind_it() -> None:
    (code,) = (message for message in messages() if message.is_code and "E_INVALIDARG" in message.patterns)
    groups = {"tensor", "feature level", "operator"}
    of_descs = {rule for rule, one in RULES.items() if one.group in groups} - {"known-deviation"}
    assert of_descs <= set(code.rules)
    assert {"missing-field", "excluded-field", "unknown-enum-value"} == set(code.rules) - of_descs
