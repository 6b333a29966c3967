"""An invented operator, added to a copy of the project by the files that CONTRIBUTING names, and by nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PLACES = ["specs/<operator>.yaml", "dmlcheck/reference/kernels/<family>.py", "cases/<operator>/"]
SPEC = """\
operator: DML_OPERATOR_INVENTED_PARABOLA
number: 178
introduced: "6_4"
in_place: true
supersedes: []
page: {folder: ai/directml/api, file: ns-directml-dml_invented_parabola_operator_desc.md, date: "2026-11-29"}
names: {}
kernel: activation

fields:
  InputTensor: {kind: input_tensor, about: The elements x.}
  OutputTensor: {kind: output_tensor, about: "For each element x, Bend * x^2 - 1."}
  Bend: {type: FLOAT, about: The factor of the square.}

support:
  - levels:
      "6_4":
        InputTensor: {dims: 1..8, types: [FLOAT32]}
        OutputTensor: {dims: 1..8, types: [FLOAT32]}

constraints:
  - id: C1
    text: OutputTensor has InputTensor's sizes.
    same_sizes: [InputTensor, OutputTensor]
"""
ABOUT = """\
purpose: Bends a line into a parabola.
family: activations
keywords: [throwing a ball]
names: {PyTorch: [torch.nn.Parabola]}
equations: ["y = Bend \\\\cdot x^2 - 1"]
symbols: [x, y]
example: values.yaml::values
typical: {Bend: 1}
"""
FORMULA = '''\
def invented_parabola(input: Any, *, bend: Any) -> Any:
    """Bend * x^2 - 1."""
    return bend * input**2 - 1


'''
ROW = '    "INVENTED_PARABOLA": elementwise(invented_parabola),\n'
VALUES = """\
operator: DML_OPERATOR_INVENTED_PARABOLA
source: by hand
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [3]}
  Bend: 0.5
cases:
  - name: values
    inputs: {InputTensor: [-2, 0, 4]}
    outputs: {OutputTensor: [1, -1, 7]}
  - name: dimensions
    matrix:
      Sizes:
        - [2, 1]
        - [1, 2, 1]
        - [1, 1, 2, 1]
        - [1, 1, 1, 1, 2]
        - [1, 1, 1, 1, 1, 2]
        - [1, 1, 1, 1, 1, 1, 2]
        - [1, 1, 1, 1, 1, 1, 1, 2]
    desc:
      InputTensor: {DataType: FLOAT32, Sizes: "${Sizes}"}
      OutputTensor: {DataType: FLOAT32, Sizes: "${Sizes}"}
    inputs: {InputTensor: [2, -6]}
    outputs: {OutputTensor: [1, 17]}
  - name: before-6_4
    feature_level: "6_3"
    invalid: [operator-unavailable]
  - name: too-many-dimensions
    desc:
      InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1, 1, 1, 1, 1, 2]}
      OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1, 1, 1, 1, 1, 2]}
    invalid: [unsupported-dimension-count]
  - name: sizes-differ
    source: constraint C1
    desc: {OutputTensor: {DataType: FLOAT32, Sizes: [4]}}
    invalid: [INVENTED_PARABOLA/C1]
"""
RANDOM = """\
operator: DML_OPERATOR_INVENTED_PARABOLA
source: compared with the reference engine
cases:
  - name: several-sizes
    matrix: {Sizes: [[1033], [17, 65]]}
    desc:
      InputTensor: {DataType: FLOAT32, Sizes: "${Sizes}"}
      OutputTensor: {DataType: FLOAT32, Sizes: "${Sizes}"}
      Bend: -0.7
    inputs: {InputTensor: {random: {seed: 1, low: -4, high: 4}}}
"""
PARABOLA = """\
class Parabola:
    def run(self, desc, inputs):
        values = inputs["InputTensor"]
        return {"OutputTensor": values.dtype.type(desc.values["Bend"]) * values * values - 1}
"""
TOLD = ["OutputTensor.Sizes[0] is 3; it must be 2"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the project, and add the operator."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("dmlcheck", "specs", "cases"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "specs" / "invented_parabola.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "specs" / "about" / "invented_parabola.yaml").write_text(ABOUT, encoding="utf-8")
    family = folder / "dmlcheck" / "reference" / "kernels" / "activation.py"
    table = "KERNELS: dict[str, Kernel] = {\n"
    text = family.read_text(encoding="utf-8").replace(table, FORMULA + table + ROW)
    family.write_text(text, encoding="utf-8")
    (folder / "cases" / "invented_parabola").mkdir()
    for name, text in (("values", VALUES), ("random", RANDOM)):
        (folder / "cases" / "invented_parabola" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def dmlcheck(copy: Path, *words: str, code: int = 0) -> str:
    """Return the output of a command of the copy, after it has ended as expected."""
    command = [sys.executable, "-m", "dmlcheck", *words]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, encoding="utf-8", check=False, timeout=300
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize(
    ("page", "heading"),
    [(".github/CONTRIBUTING.md", "## Add an operator"), ("dmlcheck/guide/code.md", "## Adding an operator")],
)
def test_the_pages_name_these_places(page: str, heading: str) -> None:
    part = (ROOT / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    assert re.findall(r"^(?:\*\*)?\d\. `(.+?)`", part, re.MULTILINE) == PLACES


@pytest.mark.slow
def test_validate_checks_its_descs(copy: Path) -> None:
    desc = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}, "Bend": 2}
    path = copy / "desc.json"
    for sizes, code in (([2], 0), ([3], 1)):
        output = {"DataType": "FLOAT32", "Sizes": sizes}
        path.write_text(json.dumps({"operator": "INVENTED_PARABOLA", "desc": {**desc, "OutputTensor": output}}))
        report = json.loads(dmlcheck(copy, "validate", "desc.json", "--format", "json", code=code))
        (read,) = report["descs"]
        assert (read["valid"], read["minimum_feature_level"]) == ((True, "6_4") if code == 0 else (False, None))
        assert [each["message"] for each in read["diagnostics"]] == TOLD[:code]


@pytest.mark.slow
def test_run_computes_its_cases(copy: Path) -> None:
    assert "8 passed, 3 descs checked" in dmlcheck(copy, "run", "cases/invented_parabola")


@pytest.mark.slow
def test_show_prints_its_formula(copy: Path) -> None:
    assert "Bend * x^2 - 1." in dmlcheck(copy, "show", "torch.nn.Parabola")


@pytest.mark.slow
def test_run_and_fuzz_ask_an_implementation_about_it(copy: Path) -> None:
    (copy / "parabola.py").write_text(PARABOLA, encoding="utf-8")
    words = ("--implementation", "python:parabola:Parabola")
    assert " passed" in dmlcheck(copy, "run", "cases/invented_parabola", *words)
    assert " 0 findings" in dmlcheck(copy, "fuzz", "INVENTED_PARABOLA", *words, "--examples", "5")


@pytest.mark.slow
def test_selfcheck_finds_nothing(copy: Path) -> None:
    """Neither of the operator nor of what is shipped."""
    assert "all agree" in dmlcheck(copy, "selfcheck")
