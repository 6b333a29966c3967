"""Implementations for tests of campaigns: the reference engine with a fault each, or a way to go wrong."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from dmlcheck.descs.write import notation
from dmlcheck.implementations.protocol import Reference
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate
from dmlcheck.values.number_formats import NUMPY_TYPES


class Right(Reference):
    """The reference engine under another name, which refuses descs that are not valid, and keeps its time."""

    name = "right"
    keeps_time = True  # so that it runs in the process of the test
    validates = True

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return what is right, or refuse the desc."""
        _, findings = validate(desc.spec.operator, notation(desc), NEWEST_LEVEL)
        if findings:
            raise ValueError(findings[0].message)
        return super().run(desc, inputs)


class LosesLast(Right):
    """Writes 0 where the last of more than two elements is."""

    name = "loses-last"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return outputs without their last elements."""
        found = super().run(desc, inputs)
        for values in found.values():
            if values.size > 2:
                values.reshape(-1)[-1] = 0
        return found


class IgnoresTransB(Right):
    """Computes as if TransB were NONE, where the sizes allow it."""

    name = "ignores-transb"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the product of the matrices as they are."""
        other = notation(desc)
        other["TransB"] = "NONE"
        made, findings = validate(desc.spec.operator, other, NEWEST_LEVEL)
        return super().run(desc if made is None or findings else made, inputs)


class DropsNan(Right):
    """Gives 0 for NaN."""

    name = "drops-nan"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return outputs without NaN."""
        found = super().run(desc, inputs)
        return {
            name: np.where(np.isnan(x), x.dtype.type(0), x) if x.dtype.kind == "f" else x for name, x in found.items()
        }


class RefusesMany(Right):
    """Refuses descs with more than three dimensions, as if they were not valid."""

    name = "refuses-many"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return what is right of few dimensions."""
        if any(len(part.tensor.sizes) > 3 for part in desc.tensors()):
            raise ValueError("0x80070057: too many dimensions")
        return super().run(desc, inputs)


class TakesAll(Right):
    """Takes every desc, and gives zeros where it is not valid."""

    name = "takes-all"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return something."""
        try:
            return super().run(desc, inputs)
        except ValueError:
            parts = (part for field in desc.spec.outputs for part in desc.parts[field.name])
            return {part.label: np.zeros(part.tensor.sizes, NUMPY_TYPES[part.tensor.data_type]) for part in parts}


class Flaky(Right):
    """Is wrong once, and right ever after."""

    name = "flaky"
    count = 0

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return something that is wrong the first time."""
        found = super().run(desc, inputs)
        Flaky.count += 1
        return {name: values + values.dtype.type(1) for name, values in found.items()} if Flaky.count == 1 else found


class WrongBeyond100(Right):
    """Gives 1 more where a tensor has more than 100 elements."""

    name = "wrong-beyond-100"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return outputs that are right of few elements."""
        found = super().run(desc, inputs)
        is_wrong = max(part.tensor.element_count for part in desc.tensors()) > 100
        return {name: values + values.dtype.type(is_wrong) for name, values in found.items()}


class Crashes(Right):
    """Ends its process where a tensor has more than 100 elements, and sleeps where it has more than 1,000."""

    name = "crashes"
    keeps_time = False

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return what is right of few elements."""
        most = max(part.tensor.element_count for part in desc.tensors())
        if most > 1000:
            time.sleep(600)
        if most > 100:
            os._exit(3)
        return super().run(desc, inputs)


class TakesNothing(Right):
    """Can run nothing."""

    def unsupported(self, desc: Any) -> str | None:  # noqa: ARG002 - as others have it
        """Return why."""
        return "nothing at all"
