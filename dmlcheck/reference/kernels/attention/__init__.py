"""Attention: its formula, the heads of its tensors, and its tiles."""

from dmlcheck.reference.kernels.attention.formula import KERNELS

__all__ = ["KERNELS"]
