"""A model as records: what is bound to a dispatch, and where things stand."""

from __future__ import annotations

from dxdispatch_models import ARGMAX, DISPATCH, model_of

from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.dxdispatch.model import BoundResource


def test_a_dispatch_has_the_bindings_of_its_dispatchable_and_its_own_before_them() -> None:
    own = {"InputTensor": "out", "OutputTensor": "out"}
    other = {"InputTensor": {"name": "in", "elementOffset": 2, "elementSizeInBytes": 8}}
    model = model_of(
        dispatchables={"argmax": {**ARGMAX, "bindings": own}},
        commands=[{**DISPATCH, "bindings": other}],
    )
    bindings = model.commands[0].bindings
    assert bindings["InputTensor"].source(0) == BoundResource("in", ("commands", 0, "bindings", "InputTensor"), 2, 8)
    assert bindings["InputTensor"].source(1) is None
    assert bindings["OutputTensor"].source(0) == BoundResource(
        "out", ("dispatchables", "argmax", "bindings", "OutputTensor"), 0, None
    )


def test_findings_stand_in_the_file_of_the_model() -> None:
    found = model_of().origin.diagnostic(Finding("unknown-key", ("commands", 0), {"where": "a", "key": "b"}))
    assert (found.file, found.line, found.pointer) == ("folder/model.json", 1, "commands[0]")
