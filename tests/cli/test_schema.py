"""`schema` on the command line."""

from __future__ import annotations

import json

import jsonschema
import pytest
from commandline import dmlcheck

from dmlcheck.inspection.schema import case_file_schema, header_text


@pytest.mark.slow
def test_the_command_prints_a_valid_schema() -> None:
    printed = json.loads(dmlcheck("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(printed)
    assert printed == case_file_schema()


def test_the_format_may_be_named() -> None:
    assert dmlcheck("schema", "--format", "json").stdout == dmlcheck("schema").stdout
    assert dmlcheck("schema", "--format", "yaml").exit_code == 2


def test_the_cpp_header_is_printed_as_it_is() -> None:
    assert dmlcheck("schema", "--format", "c++").stdout == header_text() + "\n"
