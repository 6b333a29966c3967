"""The table of WebNN's operators, mapped to DirectML's as in Chromium's DirectML backend.

The source is services/webnn/dml/graph_impl_dml.cc of Chromium, at the highest feature level. Copies that it makes (a
transpose for another layout, joined biases) are strides here, or are made in the values.
"""

from __future__ import annotations

from dmlcheck.formats.webnn.operators import elementwise, matrices, movement, normalization, recurrent, windows
from dmlcheck.formats.webnn.operators.row import WebnnRow

OPERATORS: dict[str, WebnnRow] = {
    **elementwise.OPERATORS,
    **matrices.OPERATORS,
    **movement.OPERATORS,
    **normalization.OPERATORS,
    **recurrent.OPERATORS,
    **windows.OPERATORS,
}
# Operators that Chromium builds from several of DirectML's.
OF_SEVERAL = {"notEqual": ("ELEMENT_WISE_LOGICAL_EQUALS", "ELEMENT_WISE_LOGICAL_NOT")}
