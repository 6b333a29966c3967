"""Shipped cases of several right results: an implementation that gives either passes, one that is between fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from judged import like_reference, result_of
from shipped import cases_in

from dmlcheck.cases.records import Case
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import ALTERNATIVES

NAN, INF = float("nan"), float("inf")

# By case, output and row-major position: the other right results of some elements, worked out by hand or by programs in
# fractions and mpmath, none of which is the kernel.
OTHERS: dict[str, list[tuple[str, dict[int, float]]]] = {
    "average_pooling/values.yaml::rounded-up-and-padded-with-padding": [
        ("OutputTensor", {10: 1 / 16, 11: 1 / 16}),
    ],
    "average_pooling1/values.yaml::rounded-up-with-dilations-with-padding": [("OutputTensor", {2: 1, 5: 1})],
    "average_pooling_grad/edges.yaml::places-rounded-up-with-padding": [("OutputGradientTensor", {4: -8})],
    "average_pooling_grad/edges.yaml::places-rounded-up-and-overlapping": [
        ("OutputGradientTensor", {4: -2.5, 5: -4.5}),
    ],
    "convolution/special.yaml::output-padding-forward": [("OutputTensor", {3: 4})],
    "convolution/special.yaml::output-padding-forward-with-a-bias": [("OutputTensor", {4: -4})],
    "convolution/special.yaml::output-padding-forward-with-padding-and-a-bias": [("OutputTensor", {5: 0.5})],
    "convolution/special.yaml::output-padding-of-two-dimensions": [("OutputTensor", {1: 2, 3: 4})],
    "convolution/special.yaml::output-padding-backward": [("OutputTensor", {5: 200})],
    "convolution/special.yaml::output-padding-backward-with-padding-at-the-start": [("OutputTensor", {4: 30})],
    "convolution/special.yaml::output-padding-forward-with-a-stride": [("OutputTensor", {2: 5})],
    "element_wise_add1/values.yaml::fused-linear-of-an-infinite-sum-in-float16": [("OutputTensor", {0: INF, 2: -INF})],
    "gemm/values.yaml::fused-linear-of-an-infinite-sum-in-float16": [("OutputTensor", {0: INF, 1: -INF})],
    "element_wise_constant_pow/values.yaml::negative-infinity-in-two-readings": [("OutputTensor", {0: NAN})],
    "element_wise_constant_pow/values.yaml::negative-infinity-beside-0": [("OutputTensor", {0: NAN})],
    "element_wise_constant_pow/values.yaml::non-finite-to-0-in-two-readings": [
        ("OutputTensor", {0: NAN, 1: NAN, 2: NAN}),
    ],
    "element_wise_pow/values.yaml::floats-in-two-readings": [("OutputTensor", dict.fromkeys(range(2, 9), NAN))],
    "fill_value_sequence/values.yaml::product-overflows": [("OutputTensor", {2: INF, 3: INF})],
    "fill_value_sequence/values.yaml::infinite-delta": [("OutputTensor", {0: 1})],
    "gemm/values.yaml::c-of-infinity-and-nan-with-a-beta-of-0": [("OutputTensor", {0: 1, 1: 2, 2: 3})],
    "gemm/values.yaml::infinity-and-nan-with-an-alpha-of-0": [("OutputTensor", dict.fromkeys(range(1, 6), 0))],
    "rnn/special.yaml::overflow-of-a-state": [("OutputSingleTensor", {0: INF})],
    "lp_pooling/values.yaml::odd-order-of-negative-elements": [
        ("OutputTensor", {0: (-1 + 8 + 64 + 1 / 64) ** (1 / 3)}),
    ],
    "lp_pooling1/values.yaml::first-order-of-negative-elements": [("OutputTensor", {1: 6.5})],
    "lp_pooling/values.yaml::zeros-beside-negative-elements": [("OutputTensor", {0: -1})],
    "multihead_attention/edges.yaml::hidden-keys-of-different-products": [("OutputTensor", {0: 12, 2: 12})],
    "multihead_attention/edges.yaml::a-hidden-key-of-great-weight": [("OutputTensor", {0: 28 / 3, 2: 28 / 3})],
    "multihead_attention/edges.yaml::a-filter-above-the-products": [("OutputTensor", {0: 20, 2: 20})],
    "multihead_attention/edges.yaml::a-filter-far-above-the-products": [
        ("OutputTensor", {0: 20, 1: 200, 2: 20, 3: 200}),
    ],
    "multihead_attention/edges.yaml::a-filter-between-the-products": [("OutputTensor", {0: 20})],
    "multihead_attention/edges.yaml::a-filter-a-little-below-the-products": [
        # (4 + 8 + 16 + 20 / e^4) / (3 + 1 / e^4), and ten times that.
        ("OutputTensor", {0: 9.39806043221458, 1: 93.9806043221458, 2: 9.39806043221458, 3: 93.9806043221458}),
    ],
    "multihead_attention/edges.yaml::products-beyond-float16": [("OutputTensor", {0: NAN})],
    "multihead_attention/edges.yaml::products-a-little-below-all-float16-numbers": [("OutputTensor", {0: 44 / 3})],
    "multihead_attention1/edges.yaml::hidden-keys-of-different-products": [("OutputTensor", {0: 12, 2: 12})],
    "multihead_attention1/edges.yaml::a-hidden-key-of-great-weight": [("OutputTensor", {0: 28 / 3, 2: 28 / 3})],
    "multihead_attention1/edges.yaml::a-filter-above-the-products": [("OutputTensor", {0: 20, 2: 20})],
    "multihead_attention1/edges.yaml::a-filter-far-above-the-products": [
        ("OutputTensor", {0: 20, 1: 200, 2: 20, 3: 200}),
    ],
    "multihead_attention1/edges.yaml::a-filter-between-the-products": [("OutputTensor", {0: 20})],
    "multihead_attention1/edges.yaml::products-beyond-float16": [("OutputTensor", {0: NAN})],
    "multihead_attention1/edges.yaml::products-a-little-below-all-float16-numbers": [("OutputTensor", {0: 44 / 3})],
    "quantized_linear_average_pooling/values.yaml::rounded-up-with-dilations-with-padding": [
        ("OutputTensor", {2: 32, 5: 42}),
    ],
    # Infinities of weight 0: their product with it is NaN. Rounding may also make it a weight above 0.
    "resample/values.yaml::linear-a-weight-of-0-for-infinity": [
        ("OutputTensor", {1: NAN}), ("OutputTensor", {1: INF}),
    ],
    "resample1/values.yaml::linear-an-infinity-beside": [
        ("OutputTensor", dict.fromkeys((0, 2, 3, 4, 6, 7), NAN)),
    ],
    "resample2/values.yaml::linear-an-infinity-below": [
        ("OutputTensor", dict.fromkeys((0, 1, 8, 9), NAN)),
    ],
    "resample3/values.yaml::antialiased-half-beside-an-infinity": [("OutputTensor", {1: NAN})],
    "resample_grad/values.yaml::linear-a-weight-of-0-for-an-infinity": [("OutputGradientTensor", {2: NAN})],
    "resample_grad1/values.yaml::linear-a-weight-of-0-for-an-infinity": [("OutputGradientTensor", {2: NAN})],
    "roi_align/values.yaml::a-weight-of-0-for-an-infinity": [("OutputTensor", {0: NAN})],
    "roi_align1/values.yaml::a-weight-of-0-for-an-infinity": [("OutputTensor", {0: NAN})],
    "upsample_2d/values.yaml::factors-of-1-of-an-infinity": [("OutputTensor", {5: NAN})],
    # Elements with a sample that the rounding of its place may put on either side of a limit are left out.
    "roi_align/values.yaml::average-beyond-the-edges": [
        ("OutputTensor", {5: 4.5, 7: -7}),
    ],
    "roi_align/values.yaml::max-beyond-the-edges": [("OutputTensor", {7: 20, 11: 20})],
    "roi_align/values.yaml::nearest": [("OutputTensor", {13: 112, 16: 122, 19: 212, 22: 222})],
    "roi_align1/values.yaml::average-beyond-the-edges": [
        ("OutputTensor", {5: 4.5, 7: -7}),
    ],
    "roi_align1/values.yaml::max-beyond-the-edges": [("OutputTensor", {7: 20, 11: 20})],
    "roi_align1/values.yaml::nearest": [("OutputTensor", {13: 112, 16: 122, 19: 212, 22: 222})],
    "top_k/values.yaml::zeros": [("OutputIndexTensor", {10: 2, 11: 1})],
    "top_k1/values.yaml::zeros": [("OutputIndexTensor", {10: 2, 11: 1})],
    "top_k1/values.yaml::zeros-increasing": [("OutputIndexTensor", {1: 1, 2: 0})],
    "roi_pooling/values.yaml::halves": [("OutputTensor", {4: 27, 6: 29})],
    "roi_pooling/values.yaml::double-scale": [("OutputTensor", {0: 47, 1: 48, 6: 16, 7: 50})],
    "roi_pooling/values.yaml::beside-halves": [("OutputTensor", {0: 7, 1: 7})],
    "roi_pooling/values.yaml::a-corner-that-rounding-may-decide": [("OutputTensor", {0: 8})],
    "roi_pooling/values.yaml::a-corner-that-rounding-to-float16-may-decide": [("OutputTensor", {0: 10})],
}  # fmt: skip


def cases_of(path: str) -> list[Case]:
    folder, _, wanted = path.partition("/")
    return [case for case in cases_in(folder) if case.id.partition(f"/{folder}/")[2].partition("[")[0] == wanted]


def outcome(case: Case, output: str, elements: dict[int, float]) -> str:
    def change(outputs: dict[str, Any]) -> dict[str, Any]:
        np.put(outputs[output], list(elements), list(elements.values()))
        return outputs

    return result_of(case, like_reference(change, is_directml=False)).outcome


@pytest.mark.slow
@pytest.mark.parametrize("path", OTHERS)
def test_either_result_passes_and_what_is_between_fails(path: str) -> None:
    cases = cases_of(path)
    assert cases
    for case in cases:
        for output, elements in OTHERS[path]:
            assert outcome(case, output, elements) == "passed", (case.id, elements)
            for at, value in elements.items():
                expected = first(case, output, at)
                if value == expected:
                    continue
                has_between = np.isfinite(expected + value) and "Index" not in output
                wrong = (expected + value) / 2 if has_between else 123.0
                assert outcome(case, output, {at: wrong}) == "failed", (case.id, at, wrong)


def first(case: Case, output: str, at: int) -> float:
    """Return what the reference gives for an element."""
    given: list[float] = []

    def change(outputs: dict[str, Any]) -> dict[str, Any]:
        given.append(float(outputs[output].reshape(-1)[at]))
        return outputs

    assert result_of(case, like_reference(change, is_directml=False)).outcome == "passed"
    return given[0]


def test_the_specs_have_the_alternatives_of_these_cases() -> None:
    having = {name for name in operator_names() if any(r.kind == ALTERNATIVES for r in load_spec(name).undefined)}
    assert {f"DML_OPERATOR_{case.partition('/')[0].upper()}" for case in OTHERS} <= having


def test_every_operator_with_alternatives_says_what_the_reference_takes() -> None:
    rows = [row for name in operator_names() for row in load_spec(name).undefined if row.kind == ALTERNATIVES]
    assert len(rows) > 40
    assert all(row.reference.startswith("The reference ") for row in rows)
