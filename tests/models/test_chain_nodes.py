"""Nodes taken into a chain: which arrays it knows, and which nodes give sizes alone."""

from __future__ import annotations

import numpy as np
from run_models import one_input
from whole_models import node

from dmlcheck.models.cases import Loaded, node_cases
from dmlcheck.models.chain import Chain
from dmlcheck.models.chain_nodes import follow_node, is_of_sizes, known_arrays
from dmlcheck.models.node_verdict import Unjudged
from dmlcheck.running.verdict import Limits


def test_arrays_of_types_that_directml_has_are_known() -> None:
    x = np.zeros(2, np.float32)
    assert known_arrays({"x": x, "text": np.array(["a"]), "list": [x]}).keys() == {"x"}


def test_a_node_that_is_not_computed_is_exact_if_it_gives_sizes() -> None:
    made = one_input([node("Shape", "x", "s", "shape"), node("Det", "x", "y", "det")], [2, 2])
    shape, det = node_cases(made, "m", {})
    model = Loaded(made, {}, (shape, det), {})
    x = np.ones((2, 2), np.float32)
    chain = Chain({"x": x}, Limits())
    assert (is_of_sizes(shape), is_of_sizes(det)) == (True, False)
    follow_node(chain, shape, Unjudged("not-mapped", "so"), {"s": np.array([2, 2])}, model)
    follow_node(chain, det, Unjudged("not-mapped", "so"), {"y": np.zeros((), np.float32)}, model)
    assert (chain.lost, chain.taken) == ({"y": "det is not computed: so"}, {})
