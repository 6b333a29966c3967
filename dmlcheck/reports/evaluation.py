"""What `dmlcheck eval` prints: the values of outputs and of resources, as YAML."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.files.yaml_text import key
from dmlcheck.formats.dxdispatch.evaluate import Printed
from dmlcheck.running.evaluate import Evaluated
from dmlcheck.values.write import values_text


def evaluated_text(evaluated: Evaluated) -> Iterator[str]:
    """Yield an evaluated case: its name, and under it every output's values, `any` where they are left open."""
    yield f"{key(evaluated.name)}:\n"
    for name, (values, data_type) in evaluated.outputs.items():
        yield f"  {key(name)}: "
        yield from values_text(values, data_type, evaluated.unspecified.get(name))
        yield "\n"


def resource_text(printed: Printed) -> Iterator[str]:
    """Yield a printed resource: its name and its elements, flat."""
    yield f"{key(printed.resource)}: "
    yield from values_text(printed.elements, printed.data_type)
    yield "\n"
