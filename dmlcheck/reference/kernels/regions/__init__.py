"""Regions of images: their formulas, their samples, and their tiles."""

from dmlcheck.reference.kernels.regions.formula import KERNELS

__all__ = ["KERNELS"]
