"""The answers of the site's search, asked in Node; the questions were written down before it was asked."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from dmlcheck.inspection.operator_record import operator_record
from dmlcheck.reports.site.guide import guide_pages
from dmlcheck.reports.site.lists import messages_values
from dmlcheck.reports.site.search import index_text
from dmlcheck.reports.site.templates import file_text
from dmlcheck.specs.load import load_spec, operator_names

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node here, so nothing has asked the search")
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
}
# A page with the three elements that the search has, and no more.
STUB = """
const made = (name) => ({
  name, children: [], href: "", textContent: "", value: "", hidden: true,
  append(...parts) { this.children.push(...parts); },
  addEventListener() {}, closest() { return made("box"); },
  getAttribute(key) { return this[key]; },
});
const parts = { "#query": made("input"), "#hits": made("ul"), "#said": made("p") };
globalThis.document = {
  querySelector: (name) => parts[name] || null, querySelectorAll: () => [],
  createElement: made, addEventListener() {},
};
globalThis.addEventListener = () => {};
globalThis.location = { hash: "" };
"""
ASK = """
const found = {};
for (const query of QUERIES) {
  parts["#query"].value = query;
  parts["#hits"].children = [];
  parts["#query"].oninput();
  found[query] = parts["#hits"].children.map((item) => item.children[0].href);
}
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    records = [operator_record(load_spec(name)) for name in operator_names()]
    index = index_text(records, list(guide_pages()), messages_values()["messages"])
    asked = [*QUESTIONS, *NOTHING]
    program = [STUB, index, file_text("script.js"), f"const QUERIES = {json.dumps(asked)};", ASK]
    path = tmp_path_factory.mktemp("search") / "asked.js"
    path.write_text("\n".join(program).replace('"use strict";', ""), encoding="utf-8")
    assert NODE is not None
    ran = subprocess.run([NODE, path], capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


NOTHING = ("zzzzqqqq", "xylophone concerto", "DirectX raytracing")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_what_is_meant(question: str, answers: dict[str, list[str]]) -> None:
    page, among = QUESTIONS[question]
    first = answers[question][:among]
    assert page in first or page in [address.partition("#")[0] for address in first]


@pytest.mark.parametrize("question", NOTHING)
def test_no_question_leads_to_an_empty_screen(question: str, answers: dict[str, list[str]]) -> None:
    assert answers[question]
