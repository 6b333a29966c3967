"""A model as records: what is bound to a dispatch, and where things stand."""

from __future__ import annotations

from dxdispatch_models import ARGMAX, DISPATCH, model_of

from dmlcheck.diagnostics.record import Finding


def test_a_dispatch_has_the_bindings_of_its_dispatchable_and_its_own_before_them() -> None:
    own = {"InputTensor": "out", "OutputTensor": "out"}
    model = model_of(
        dispatchables={"argmax": {**ARGMAX, "bindings": own}},
        commands=[{**DISPATCH, "bindings": {"InputTensor": "in"}}],
    )
    assert model.bindings(model.commands[0]) == {"InputTensor": "in", "OutputTensor": "out"}


def test_findings_stand_in_the_file_of_the_model() -> None:
    found = model_of().origin.diagnostic(Finding("unknown-key", ("commands", 0), {"where": "a", "key": "b"}))
    assert (found.file, found.line, found.pointer) == ("folder/model.json", 1, "commands[0]")
