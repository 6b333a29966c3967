"""The answers of the search, asked in Python and, as on the site, in Node.

The questions were written down before it was asked.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dmlcheck.inspection.operator_pages import operator_record
from dmlcheck.reports.site.build import SearchEntry, guide_pages, search_script, site_entries
from dmlcheck.reports.site.operators import messages_values
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.ranking import IndexEntry, Search

# The question, the page that is meant, and the number of hits among which it is.
QUESTIONS = {
    # ids that errors print
    "GEMM/C8": ("gemm.html#C8", 1),
    "gemm/c5": ("gemm.html#C5", 1),
    "DML_OPERATOR_GEMM/C8": ("gemm.html#C8", 1),
    "CONVOLUTION C7": ("convolution.html#C7", 1),
    "C37": ("multihead_attention.html#C37", 3),
    # several things at once
    "INT64 ARGMAX": ("argmax.html", 1),
    "ARGMAX INT64": ("argmax.html", 1),
    "GEMM float16": ("gemm.html", 1),
    "E_INVALIDARG fused activation": ("batch_normalization.html#FusedActivation", 3),
    "gemm fused activation": ("gemm.html", 1),
    "softmax fp16": ("activation_softmax.html", 3),
    # questions
    "what does E_INVALIDARG mean": ("guide-invalidarg.html", 3),
    "what is GroupCount": ("convolution.html#GroupCount", 1),
    "how to use expectations": ("guide-expectations.html", 3),
    "why is my size-mismatch": ("rule-size-mismatch.html", 1),
    "which windows has DirectML 1.8": ("level-5_0.html", 12),
    # names
    "torch.nn.Linear": ("gemm.html", 1),
    "tf.nn.softmax": ("activation_softmax1.html", 3),
    "softmx": ("activation_softmax.html", 3),
    "convoltion": ("convolution.html", 1),
    "unsupported value": ("rule-unsupported-value.html", 1),
    "80070057": ("messages.html", 1),
    "The parameter is incorrect": ("messages.html", 1),
    "DML_MATRIX_TRANSFORM": ("gemm.html#TransA", 3),
    "TRANSPOSE": ("gemm.html#TransA", 3),
    "5_1": ("level-5_1.html", 1),
    # operators by their own names
    "GEMM": ("gemm.html", 3),
    "gemm": ("gemm.html", 3),
    "DML_OPERATOR_GEMM": ("gemm.html", 3),
    "resample 2": ("resample2.html", 3),
    "argmax": ("argmax.html", 3),
    "ONE_HOT": ("one_hot.html", 3),
    "depth to space": ("depth_to_space1.html", 3),
    "multihead attention": ("multihead_attention.html", 3),
    "lstm": ("lstm.html", 3),
    "top_k": ("top_k.html", 3),
    "cumulative product": ("cumulative_product.html", 3),
    "element_wise_add": ("element_wise_add.html", 3),
    "roi align": ("roi_align.html", 3),
    "gather nd": ("gather_nd.html", 3),
    # by the names of ONNX and WebNN
    "Conv": ("convolution.html", 3),
    "MatMul": ("gemm.html", 3),
    "Resize": ("resample2.html", 3),
    "ConvTranspose": ("convolution.html", 3),
    "LayerNormalization": ("mean_variance_normalization1.html", 3),
    "QLinearConv": ("quantized_linear_convolution.html", 3),
    "DequantizeLinear": ("element_wise_dequantize_linear.html", 3),
    "ScatterElements": ("scatter.html", 3),
    "GlobalAveragePool": ("average_pooling.html", 3),
    "TopK": ("top_k1.html", 3),
    "Sigmoid": ("activation_sigmoid.html", 3),
    "FastGelu": ("activation_gelu.html", 3),
    "LeakyRelu": ("activation_leaky_relu.html", 3),
    "conv2d": ("convolution.html", 3),
    "hardSwish": ("activation_hard_swish.html", 3),
    "instanceNormalization": ("mean_variance_normalization1.html", 3),
    "reduceSum": ("reduce.html", 3),
    "Where": ("element_wise_if.html", 3),
    # slips of the pen
    "convoluton": ("convolution.html", 3),
    "GEM": ("gemm.html", 3),
    "resampel": ("resample.html", 3),
    "quantise linear": ("element_wise_quantize_linear.html", 3),
    "argmaks": ("argmax.html", 3),
    "sofmax": ("activation_softmax.html", 3),
    "LSMT": ("lstm.html", 3),
    # fields and enumerations
    "FusedActivation": ("batch_normalization.html", 3),
    "ScaleTensor": ("batch_normalization.html", 3),
    "InterpolationMode": ("resample.html", 3),
    "StartPadding": ("average_pooling.html", 3),
    "AxisDirection": ("argmax.html", 3),
    "DML_INTERPOLATION_MODE": ("resample.html", 3),
    "DML_REDUCE_FUNCTION": ("reduce.html", 3),
    "MaskFilterValue": ("multihead_attention.html", 3),
    "GroupCount": ("convolution.html", 3),
    # rules
    "size-mismatch": ("rule-size-mismatch.html", 3),
    "size mismatch": ("rule-size-mismatch.html", 3),
    "unsupported-data-type": ("rule-unsupported-data-type.html", 3),
    "rank mismatch": ("rule-rank-mismatch.html", 3),
    "unlikely-error": ("rule-unlikely-error.html", 3),
    # levels and data types
    "4_1": ("level-4_1.html", 3),
    "DML_FEATURE_LEVEL_5_0": ("level-5_0.html", 3),
    "FLOAT16": ("type-float16.html", 3),
    "INT4": ("type-int4.html", 3),
    "Windows 11 22H2": ("level-4_1.html", 3),
    "1.9.0": ("level-5_1.html", 3),
    # messages, lists and the guide
    "errata": ("corrections.html", 3),
    "known deviations": ("corrections.html", 3),
    "TotalTensorSizeInBytes": ("rule-tensor-too-small.html", 3),
    "An invalid dimension count was specified": ("messages.html", 3),
    "Mismatched tensor data types": ("messages.html", 3),
    "E_INVALIDARG": ("guide-invalidarg.html", 3),
    "expectations": ("guide-expectations.html", 3),
    "tutorial": ("guide-tutorial.html", 3),
}
NOTHING = ("zzzzqqqq", "xylophone concerto", "", "_", "C999")
OTHERS = (
    *("GEMM/E1", "E2", "np.matmul", "np.argmaks", "fp16", "double", "bf16", "relu", "ADD1", "sigmod", "reduze"),
    *(
        "DirectX raytracing",
        "quantise linear",
        "layer_norm",
        "input",
        "axis",
        "tensor sizes",
        "\u0130nput",
        "Windows 11",
    ),
)
ASK = """
const found = {};
for (const query of QUERIES) found[query] = search(query).map(({ name, at, rank }) => [name, at ?? -1, rank ?? 0]);
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def entries() -> list[SearchEntry]:
    records = [operator_record(load_spec(name)) for name in operator_names()]
    return site_entries(records, list(guide_pages()), messages_values()["messages"])


@pytest.fixture(scope="module")
def search(entries: list[SearchEntry]) -> Search:
    return Search(IndexEntry(one.name, one.text, one.names, one.words, one.labels) for one in entries)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_what_is_meant(question: str, search: Search, entries: list[SearchEntry]) -> None:
    page, among = QUESTIONS[question]
    found = search.find(question)[:among]
    addresses = [entries[one.at].address + (f"#{one.label}" if one.label else "") for one in found]
    assert page in addresses or page in [address.partition("#")[0] for address in addresses]


@pytest.mark.slow
@pytest.mark.parametrize("question", NOTHING)
def test_what_nothing_is_called_is_not_found(question: str, search: Search) -> None:
    assert search.find(question) == []


@pytest.mark.slow
def test_the_site_ranks_as_the_commands_do(search: Search, entries: list[SearchEntry], tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node here, so nothing has asked the site's search")
    asked = [*QUESTIONS, *NOTHING, *OTHERS, *(entry.name for entry in entries[::9])]
    program = tmp_path / "asked.js"
    program.write_text(f"{search_script(entries)}\nconst QUERIES = {json.dumps(asked)};\n{ASK}", encoding="utf-8")
    ran = subprocess.run([node, program], capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    answers = json.loads(ran.stdout)
    for question in asked:
        expected = [[one.name, -1 if one.label else one.at, one.rank] for one in search.find(question)]
        assert answers[question] == expected, question
