"""SkipGroupNorm of ONNX Runtime's own."""

from __future__ import annotations

import numpy as np
import pytest
from node_graphs import computed, float32, graph, node_of

from dmlcheck.onnx.descs.node import Unmapped

RANDOM = np.random.default_rng(7)
X, SKIP = (RANDOM.standard_normal((2, 3, 3, 8)).astype(np.float32) for _ in range(2))
SCALE, SHIFT = (RANDOM.standard_normal(8).astype(np.float32) for _ in range(2))


def test_a_skip_of_vectors_is_added_to_all_pixels() -> None:
    vectors = SKIP[:, 0, 0]
    attributes = {"groups": 2, "activation": 0}
    made, same = (
        computed(node_of("com.microsoft.SkipGroupNorm", [X, SCALE, SHIFT, skip], float32(*X.shape), **attributes))[0]
        for skip in (vectors, np.broadcast_to(vectors[:, None, None], X.shape))
    )
    np.testing.assert_allclose(made, same, rtol=1e-6)


def test_channels_that_are_not_last_are_refused() -> None:
    with pytest.raises(Unmapped, match="whose channels are not the last"):
        graph(node_of("com.microsoft.SkipGroupNorm", [X, SCALE, SHIFT, SKIP], float32(*X.shape), channels_last=0))
