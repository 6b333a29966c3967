"""The output of `dmlcheck eval`: the values of outputs and of resources, as YAML."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.files.yaml_text import key
from dmlcheck.running.evaluate import Evaluated
from dmlcheck.values.write import values_text


def evaluated_text(evaluated: Evaluated) -> Iterator[str]:
    """Yield the values of every output, `any` for undefined elements, under the name of the case or command, if any."""
    indent = ""
    if evaluated.name is not None:
        yield f"{key(evaluated.name)}:\n"
        indent = "  "
    for name, (values, data_type) in evaluated.outputs.items():
        yield f"{indent}{key(name)}: "
        yield from values_text(values, data_type, evaluated.undefined.get(name))
        yield "\n"
