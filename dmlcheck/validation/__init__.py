"""A desc against its operator's spec: at one level, at all levels, and the lowest level that accepts it."""

from __future__ import annotations

from dmlcheck.validation.levels import check, minimum_level, validate

__all__ = ["check", "minimum_level", "validate"]
