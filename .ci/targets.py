"""The size of the house, as numbers: `python .ci/targets.py` prints each beside its target.

A module's importers are those that name it in an import, types and imports inside functions included. The run of one
GEMM case is followed call by call, from the command line on: which modules have a function that is called, and how
often a call leads from one package to another.
"""
# ruff: noqa: INP001, T201 - a script, which prints what it counts

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dmlcheck"
CASE = "cases/gemm/values.yaml::product"
COMPREHENSIONS = ("<dictcomp>", "<listcomp>", "<setcomp>")  # from Python 3.12 on parts of their functions
IN_REFERENCE = {"__init__", "engine", "bounds", "bindings", "results", "rows"}


def lines(folder: Path) -> int:
    """Return the lines of the Python files in a folder."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def module_of(path: Path) -> str:
    """Return the name of a file's module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports: modules, and names that may be modules of a package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def with_one_importer(trees: dict[str, ast.Module]) -> list[str]:
    """Return the modules, packages aside, that exactly one other module imports."""
    importers = Counter(name for tree in trees.values() for name in set(imports(tree)))
    packages = {name.rpartition(".")[0] for name in trees}
    return sorted(name for name in trees if importers[name] == 1 and name not in packages)


def bodies(trees: dict[str, ast.Module]) -> list[int]:
    """Return the lines of each function's body, its docstring aside."""
    found = []
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                found.append((body[-1].end_lineno or 0) - body[0].lineno + 1)
    return found


def followed(*words: str) -> tuple[int, int]:
    """Return the modules that a command line goes through, and how often it changes the package."""
    from dmlcheck.cli import main

    modules: set[str] = set()
    changes, last = 0, ""

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal changes, last
        name = str(frame.f_globals.get("__name__", ""))
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # the body of a module or a class is none
        is_part = frame.f_code.co_name in COMPREHENSIONS
        if event != "call" or is_part or not name.startswith("dmlcheck.") or not is_function:
            return
        modules.add(name)
        package = name.split(".")[1]
        changes += package != last
        last = package

    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(note)
        try:
            main(list(words), standalone_mode=False)
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
    return len(modules), changes


def main() -> None:
    """Print the numbers."""
    sys.path.insert(0, str(ROOT))
    trees = {module_of(path): ast.parse(path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py"))}
    modules, changes = followed("run", str(ROOT / CASE))
    loose = [path for path in (PACKAGE / "reference").glob("*.py") if path.stem not in IN_REFERENCE]
    for what, number, target in (
        ("lines in dmlcheck/", lines(PACKAGE), 62_000),
        ("lines in tests/", lines(ROOT / "tests"), 90_000),
        ("modules with exactly one importer", len(with_one_importer(trees)), 40),
        ("modules that `run` of one GEMM case goes through", modules, 80),
        ("changes of package on the way", changes, 110),
        ("modules in reference/ outside its folders, the six aside", len(loose), 0),
    ):
        print(f"{number:>8,}  {what} (target: {target:,})")
    print(f"{statistics.median(bodies(trees)):>8}  lines in the median body of a function (target: about 5)")


if __name__ == "__main__":
    main()
