"""Tests mirror the packages: every module that does something has a test file of its name in the folder of its name."""

from __future__ import annotations

import re
from pathlib import Path

from source_trees import paths

TESTS = Path(__file__).parent
# Modules that the tests of their users test: whatever was broken in one failed there.
ELSEWHERE = {
    "__init__.py": "test_api.py",
    "__main__.py": "test_main.py",
    "cli/case_files.py": "cli/test_coverage.py",
    "formats/dxdispatch/model.py": "formats/dxdispatch/test_memory.py",
    **{
        f"onnx/export/{name}.py": "reference/test_crosscheck.py"  # which compares the values of all exported operators
        for name in ("fills_and_diagonals", "matrix_products", "moved_elements", "quantized_operators", "reduction")
    },
    "onnx/operators/fills_and_diagonals.py": "onnx/test_importer.py",
    "onnx/export/records.py": "onnx/test_proto.py",
    "reference/tiling/request.py": "reference/test_engine.py",
}


def with_functions() -> list[str]:
    """Return the modules that have a function: one of records or tables alone is tested with what uses it."""
    found = {name: path.read_text(encoding="utf-8") for name, path in paths().items()}
    return [name for name, text in found.items() if re.search(r"^ *(async )?def ", text, re.MULTILINE)]


def file_of(module: str) -> Path:
    """Return the test file of a module."""
    path = Path(module)
    name = path.parent.name if path.name == "__init__.py" else path.stem.lstrip("_")
    return TESTS / ELSEWHERE.get(module, path.parent / f"test_{name}.py")


def test_every_module_has_a_test_file() -> None:
    assert [module for module in with_functions() if not file_of(module).is_file()] == []


def test_the_modules_are_found() -> None:
    assert len(with_functions()) > 150
    assert ELSEWHERE.keys() <= set(with_functions())
    assert {"api.py", "reference/ball/ball.py", "onnx/export/builder.py"} <= set(with_functions())
