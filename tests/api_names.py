"""Which names of PyTorch and TensorFlow in specs/about their packages have: `python tests/api_names.py WHEEL...`.

The wheels of torch, torchvision, tensorflow and keras are read and not installed, of any platform. The names that they
have go to tests/specs/api_names.txt with the versions; `test_api_names.py` compares them with the specs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from zipfile import ZipFile

from dmlcheck.specs.about import LIBRARIES, load_about
from dmlcheck.specs.load import operator_names

LIST = Path(__file__).parent / "specs" / "api_names.txt"
# By the beginning of a name: the package, and the files that may define or import what a module of it has.
FILES = {
    "torch.Tensor": ("torch", ("torch/_C/__init__.pyi",)),
    "torch": ("torch", ("torch/{}.py", "torch/{}/__init__.py", "torch/{}/modules/__init__.py")),
    "torchvision": ("torchvision", ("torchvision/{}/__init__.py",)),
    "tf.keras": ("keras", ("keras/{}/__init__.py",)),
    "tf": ("tensorflow", ("tensorflow/_api/v2/{}/__init__.py",)),
}
# The files of names that are in no module.
ALONE = {
    "torch": ("torch/_C/_VariableFunctions.pyi", "torch/functional.py", "torch/__init__.py"),
    "tf": ("tensorflow/_api/v2/v2.py",),
}


def names() -> list[str]:
    """Return the names of PyTorch and TensorFlow in specs/about, sorted."""
    texts = (load_about(operator).names for operator in operator_names())
    return sorted({name for found in texts for library in LIBRARIES for name in found.get(library, ())})


def beginning(name: str) -> str:
    """Return the longest key of FILES that a name begins with."""
    return max((key for key in FILES if name.startswith(f"{key}.")), key=len)


def has(wheel: str, name: str) -> bool:
    """Return whether a file of a wheel defines or imports a name."""
    key = beginning(name)
    *modules, last = name.removeprefix(f"{key}.").split(".")
    forms = FILES[key][1] if modules or "{}" not in FILES[key][1][0] else ALONE[key]
    return any(last in defined(wheel, form.format("/".join(modules))) for form in forms)


@cache
def defined(wheel: str, file: str) -> frozenset[str]:
    """Return the names that a file of a wheel defines or imports, those of methods too; nothing without the file."""
    with ZipFile(wheel) as opened:
        if file not in opened.namelist():
            return frozenset()
        return frozenset(_defined(ast.parse(opened.read(file))))


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def found(wheels: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that a wheel of its package has, with the package and its version."""
    parts = {Path(wheel).name.split("-")[0]: (wheel, Path(wheel).name.split("-")[1]) for wheel in wheels}
    for name in names():
        package = FILES[beginning(name)][0]
        wheel, version = parts[package]
        if has(wheel, name):
            yield name, f"{package} {version}"


if __name__ == "__main__":
    rows = list(found(sys.argv[1:]))
    LIST.write_text("".join(f"{name} {source}\n" for name, source in rows), encoding="utf-8", newline="\n")
    missing = sorted({*names()} - {name for name, _ in rows})
    sys.stdout.write(f"{len(rows)} names found; not found: {' '.join(missing) or 'none'}\n")
