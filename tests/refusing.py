"""Implementations that say that they refuse descs that are not valid, for the tests of runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.values.number_formats import NUMPY_TYPES


class Refusing:
    """An implementation that refuses every desc."""

    name = "refusing"
    validates = True

    def unsupported(self, _: Any) -> str | None:
        return None

    def run(self, _: Any, __: Any) -> Any:
        raise ValueError("E_INVALIDARG")


class Taking(Refusing):
    """An implementation that takes every desc, and gives zeros."""

    def run(self, desc: Any, _: Any) -> Any:
        outputs = (part for field in desc.spec.outputs for part in desc.parts[field.name])
        return {part.label: np.zeros(part.tensor.sizes, NUMPY_TYPES[part.tensor.data_type]) for part in outputs}


class Unable(Refusing):
    """An implementation that can run nothing."""

    def unsupported(self, _: Any) -> str | None:
        return "nothing at all"
