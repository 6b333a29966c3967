"""What the tests of DxDispatch's models share."""

from __future__ import annotations

from dxdispatch_cases import folder

__all__ = ["folder"]
