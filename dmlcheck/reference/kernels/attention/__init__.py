"""MULTIHEAD_ATTENTION: for each query a mean of the values, weighted by the softmax of its products with the keys.

Query, key and value are {batch, key heads, query heads for each key head, length, size}: if key and value have fewer
heads, consecutive heads of the query share one. The scores have a row for each query and a column for each key; they
are computed tile by tile, never as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.arrays.shapes import Batch, Floats, Group, Integers, Key, One, Query, Share, Size
from dmlcheck.reference.kernels.attention.bodies import (
    hidden_keys,
    masked,
    of_all_heads,
    plus_position,
    scaled_scores,
    softmax_times,
)
from dmlcheck.reference.kernels.attention.tiles import STARTS, attention
from dmlcheck.reference.results import AsMeasured
from dmlcheck.reference.rows import PRODUCTS, Kernel, same_parameters


def multihead_attention(
    q: list[Floats[Batch, Group, Share, Query, Size] | None],
    k: list[Floats[Batch, Group, One, Key, Size] | None],
    v: list[Floats[Batch, Group, One, Key, Size] | None],
    position: Floats[Batch, Group, Share, Query, Key] | None,
    masking: Integers[Batch, Group, Share, Query, Key] | None,
    last: Integers[One, One, One, Query, One] | None,
    *,
    scale: Any,
    mask_filter_value: Any,
    mask_type: str,
    output_type: str,
) -> AsMeasured:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys.
    """

    def of_heads(q: Any, k: list[Any], v: list[Any]) -> list[Any]:
        scores = plus_position(scaled_scores(q, k, scale, output_type), position, output_type)
        hidden = hidden_keys(masking, mask_type, last, scores[0].shape[-1])
        instead = mask_filter_value if last is None else -np.inf
        ways = masked(scores, hidden, mask_filter_value, instead, output_type)
        return [softmax_times(way, v, output_type) for way in ways]

    found = of_all_heads(of_heads, (q, k, v), output_type)
    return found._replace(where=True) if mask_type == STARTS else found


@same_parameters(multihead_attention)
def multihead_attention1(*tensors: Any, **fields: Any) -> AsMeasured:
    """softmax(Scale * q @ k^T + RelativePositionBias + Mask) @ v of each head, the softmax over the keys; and k and v.

    q, k and v are Query, Key and Value with their bias; PastKey and PastValue precede k and v. Mask is MaskFilterValue
    for masked keys. Query head h uses head h // (QueryHeadCount / KeyValueHeadCount) of key and value. With
    PastSequenceLengths of 0, the keys after s are masked for query s.
    """
    return multihead_attention(*tensors, **fields)


KERNELS: dict[str, Kernel] = {
    "MULTIHEAD_ATTENTION": Kernel(multihead_attention, attention, sums=PRODUCTS),
    "MULTIHEAD_ATTENTION1": Kernel(multihead_attention1, attention, sums=PRODUCTS),
}
