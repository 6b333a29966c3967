"""A desc against the rules: one desc at one level, the lowest level that accepts it."""

from __future__ import annotations

from dmlcheck.validation.levels import applicable, dims_text, minimum_level, row_at, support_table, validate

__all__ = ["applicable", "dims_text", "minimum_level", "row_at", "support_table", "validate"]
