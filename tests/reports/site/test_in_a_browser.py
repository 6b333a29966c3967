"""The site in a browser: its search, what axe says of it, and that nothing is wider than a telephone."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe import RUN, axe_script
from html_pages import Browser, chromium
from site_pages import files

pytestmark = pytest.mark.slow

SAMPLE = ("index.html", "gemm.html", "rule-size-mismatch.html", "guide-tutorial.html")
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
MEASURE = """
for (const folded of document.querySelectorAll("details")) folded.open = true;
parent.document.getElementById("found").textContent = JSON.stringify(document.documentElement.scrollWidth);
"""
OUTER = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'


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


def framed(browser: Browser, site: Path, page: str, script: str, *, width: int, is_dark: bool = False) -> Any:
    """Return what a script finds in a page in a frame of a width."""
    inner = (site / page).read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>")
    frame = f'<iframe title="page" width="{width}" height="844" srcdoc="{html.escape(inner)}"></iframe>'
    path = site / "frame.html"
    path.write_text(f'{OUTER}<title>frame</title><main>{frame}<pre id="found"></pre></main>', encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if is_dark else 1}"
    return found(browser, path, f"--window-size={max(width + 40, 500)},900", scheme)


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


@pytest.mark.parametrize("page", SAMPLE)
@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(browser: Browser, site: Path, axe: str, page: str, width: int, is_dark: bool) -> None:
    assert framed(browser, site, page, axe + RUN, width=width, is_dark=is_dark) == []


@pytest.mark.parametrize("page", [*SAMPLE, "multihead_attention1.html"])
def test_no_page_is_wider_than_a_small_telephone(browser: Browser, site: Path, page: str) -> None:
    assert framed(browser, site, page, MEASURE, width=320) <= 320
