"""The names of PyTorch and TensorFlow in specs/about: each is in a package, whose version is on file."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from api_names import LIST, beginning, defined, has, names

from dmlcheck.specs.about import FOUND_IN, LIBRARIES, load_about
from dmlcheck.specs.load import operator_names

ROWS = dict(line.split(" ", 1) for line in LIST.read_text(encoding="utf-8").splitlines())


def test_every_name_was_found_in_a_package() -> None:
    assert len(names()) > 250
    assert list(ROWS) == names(), "run tests/api_names.py with the wheels of the packages"


def test_the_packages_are_those_that_the_pages_name() -> None:
    assert set(ROWS.values()) == {package for packages in FOUND_IN.values() for package in packages}
    for operator in operator_names():
        for library in LIBRARIES:
            own = load_about(operator).names.get(library, ())
            assert {ROWS[name] for name in own} <= {*FOUND_IN[library]}, operator


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.add", True),
        ("torch.split", True),
        ("torch.nn.ReLU", True),
        ("torch.nn.functional.pad", True),
        ("torch.nn.functional.pda", False),
        ("torch.Tensor.to", True),
        ("torch.Tensor.form", False),
        ("torch.nn.RELU", False),
        ("torch.subtract_all", False),
    ],
)
def test_a_name_is_looked_up_in_the_files_of_a_wheel(tmp_path: Path, name: str, expected: bool) -> None:
    path = str(tmp_path / "torch-1.0-py3-none-any.whl")
    with ZipFile(path, "w") as wheel:
        wheel.writestr("torch/_C/_VariableFunctions.pyi", "def add(a): ...\n")
        wheel.writestr("torch/_C/__init__.pyi", "class Tensor:\n    def to(self): ...\n")
        wheel.writestr("torch/functional.py", "def split(x):\n    return x\n")
        wheel.writestr("torch/nn/modules/__init__.py", "from .activation import (\n    ReLU,\n)\n")
        wheel.writestr("torch/nn/functional.py", "pad = object()\n")
    assert has(path, name) is expected


def test_a_file_that_a_wheel_does_not_have_defines_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "keras-1.0-py3-none-any.whl")
    ZipFile(path, "w").close()
    assert defined(path, "keras/__init__.py") == frozenset()
    assert (beginning("tf.keras.layers.GRU"), beginning("tf.nn.relu")) == ("tf.keras", "tf")
