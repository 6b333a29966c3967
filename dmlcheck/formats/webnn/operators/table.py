"""The operators of WebNN and what they become of DirectML's, as Chromium's DirectML backend maps them.

The source is services/webnn/dml/graph_impl_dml.cc of Chromium, at the highest feature level: what copies elements there
(a transpose for another layout, biases that are joined) is made by strides, or beforehand.
"""

from __future__ import annotations

from dmlcheck.formats.webnn.operators import elementwise, matrices, movement, normalization, recurrent, windows
from dmlcheck.formats.webnn.operators.row import Row

OPERATORS: dict[str, Row] = {
    **elementwise.OPERATORS,
    **matrices.OPERATORS,
    **movement.OPERATORS,
    **normalization.OPERATORS,
    **recurrent.OPERATORS,
    **windows.OPERATORS,
}
# Operators that Chromium builds from several of DirectML's.
OF_SEVERAL = {"notEqual": ("ELEMENT_WISE_LOGICAL_EQUALS", "ELEMENT_WISE_LOGICAL_NOT")}
