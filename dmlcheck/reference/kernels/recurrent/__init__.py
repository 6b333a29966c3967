"""Recurrent networks: their formulas, and their gates."""

from dmlcheck.reference.kernels.recurrent.formula import KERNELS

__all__ = ["KERNELS"]
