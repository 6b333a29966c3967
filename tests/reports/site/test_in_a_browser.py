"""The site in a browser: its search, what axe says of it, and that nothing is wider than a telephone."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe import axe_script, findings
from html_pages import Browser, chromium
from site_pages import files

pytestmark = pytest.mark.slow

# Some of each kind.
LISTS = (
    "index",
    "levels",
    "rules",
    "messages",
    "corrections",
    "guide",
    "level-1_0",
    "level-5_1",
    "type-float16",
    "type-int4",
)
RULES = ("rule-size-mismatch", "rule-unsupported-data-type", "rule-output-mismatch")
GUIDE = ("guide-tutorial", "guide-cases", "guide-tolerances")
OPERATORS = (
    *("gemm", "convolution", "max_pooling2", "resample2", "roi_align1", "lstm", "gru", "slice1", "gather", "reduce"),
    *(
        "multihead_attention1",
        "element_wise_add1",
        "activation_softmax",
        "random_generator",
        "batch_normalization_grad",
    ),
)
SAMPLE = tuple(f"{name}.html" for name in (*LISTS, *RULES, *GUIDE, *OPERATORS))
# Written down before the search was: what people type, and the page that they want.
QUERIES = {
    # operators by their own names
    "GEMM": "gemm.html",
    "gemm": "gemm.html",
    "DML_OPERATOR_GEMM": "gemm.html",
    "resample 2": "resample2.html",
    "argmax": "argmax.html",
    "ONE_HOT": "one_hot.html",
    "depth to space": "depth_to_space1.html",
    "multihead attention": "multihead_attention.html",
    "lstm": "lstm.html",
    "top_k": "top_k.html",
    "cumulative product": "cumulative_product.html",
    "element_wise_add": "element_wise_add.html",
    "roi align": "roi_align.html",
    "gather nd": "gather_nd.html",
    # by the names of ONNX and WebNN
    "Conv": "convolution.html",
    "MatMul": "gemm.html",
    "Resize": "resample2.html",
    "ConvTranspose": "convolution.html",
    "LayerNormalization": "mean_variance_normalization1.html",
    "QLinearConv": "quantized_linear_convolution.html",
    "DequantizeLinear": "element_wise_dequantize_linear.html",
    "ScatterElements": "scatter.html",
    "GlobalAveragePool": "average_pooling.html",
    "TopK": "top_k1.html",
    "FastGelu": "activation_gelu.html",
    "LeakyRelu": "activation_leaky_relu.html",
    "conv2d": "convolution.html",
    "hardSwish": "activation_hard_swish.html",
    "instanceNormalization": "mean_variance_normalization1.html",
    "reduceSum": "reduce.html",
    "Where": "element_wise_if.html",
    # slips of the pen
    "convoluton": "convolution.html",
    "GEM": "gemm.html",
    "resampel": "resample.html",
    "quantise linear": "element_wise_quantize_linear.html",
    "argmaks": "argmax.html",
    "sofmax": "activation_softmax.html",
    "LSMT": "lstm.html",
    # fields and enumerations
    "FusedActivation": "batch_normalization.html",
    "ScaleTensor": "batch_normalization.html",
    "InterpolationMode": "resample.html",
    "StartPadding": "average_pooling.html",
    "AxisDirection": "argmax.html",
    "DML_INTERPOLATION_MODE": "resample.html",
    "DML_REDUCE_FUNCTION": "reduce.html",
    "MaskFilterValue": "multihead_attention.html",
    "GroupCount": "convolution.html",
    # rules
    "size-mismatch": "rule-size-mismatch.html",
    "size mismatch": "rule-size-mismatch.html",
    "unsupported-data-type": "rule-unsupported-data-type.html",
    "rank mismatch": "rule-rank-mismatch.html",
    "unlikely-error": "rule-unlikely-error.html",
    # levels and data types
    "4_1": "level-4_1.html",
    "DML_FEATURE_LEVEL_5_0": "level-5_0.html",
    "FLOAT16": "type-float16.html",
    "INT4": "type-int4.html",
    # messages and the guide
    "An invalid dimension count was specified": "messages.html",
    "Mismatched tensor data types": "messages.html",
    "E_INVALIDARG": "guide-invalidarg.html",
    "expectations": "guide-expectations.html",
    "tutorial": "guide-tutorial.html",
}
ASK = """
addEventListener("load", () => {
  const input = document.querySelector("#query"), found = {};
  for (const query of QUERIES) {
    input.value = query;
    input.dispatchEvent(new Event("input"));
    found[query] = [...document.querySelectorAll("#hits a")].slice(0, 3).map((link) => link.getAttribute("href"));
  }
  document.querySelector("#found").textContent = JSON.stringify(found);
});
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return Browser(chromium(), tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("npm"))


def found(browser: Browser, path: Path, *options: str) -> Any:
    done = browser.run("--virtual-time-budget=60000", *options, "--dump-dom", path.as_uri())
    text = re.search(r'<pre id="found"[^>]*>(.*?)</pre>', done.stdout.decode("utf-8"), re.DOTALL)
    assert text
    return json.loads(html.unescape(text[1]))


def test_what_people_look_for_is_among_the_first_three_hits(browser: Browser, site: Path) -> None:
    script = f"<script>const QUERIES = {json.dumps(list(QUERIES))};{ASK}</script></body>"
    page = (site / "index.html").read_text(encoding="utf-8")
    path = site / "asked.html"
    path.write_text(page.replace("</body>", f'<pre id="found"></pre>{script}'), encoding="utf-8")
    hits = found(browser, path)
    assert len(hits) == len(QUERIES) >= 60
    wrong = {
        query: hits[query]
        for query, page in QUERIES.items()
        if page not in [address.partition("#")[0] for address in hits[query]]
    }
    assert wrong == {}


@pytest.mark.parametrize(("widths", "is_dark"), [((320, 390, 1280), False), ((390, 1280), True)])
def test_axe_finds_nothing_and_no_page_is_wider_than_a_small_telephone(
    browser: Browser, site: Path, axe: str, widths: tuple[int, ...], is_dark: bool
) -> None:
    pages = {name: (site / name).read_text(encoding="utf-8") for name in SAMPLE}
    found, count = findings(browser, site, pages, axe, widths, is_dark=is_dark)
    assert found == []
    assert count == len(SAMPLE) >= 30


def test_axe_finds_what_is_wrong(browser: Browser, site: Path, axe: str) -> None:
    page = (site / "rules.html").read_text(encoding="utf-8")
    wrong = '<p style="color: #ddd; background: #fff">pale</p><p><img alt="wide" style="min-width: 500px"></p>'
    pages = {"wrong.html": page.replace("</h1>", f"</h1>{wrong}")}
    found, _ = findings(browser, site, pages, axe, (320, 390), is_dark=False)
    assert [one[:3] for one in found] == [
        ["wrong.html", 320, "overflow"],
        ["wrong.html", 390, "overflow"],
        ["wrong.html", 390, "color-contrast"],
    ]
