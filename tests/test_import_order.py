"""The direction of imports: a module imports only from its own package and from those above it in the guide's map."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from pathlib import Path

import pytest
from guide_pages import PAGES, packages

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dmlcheck"
ORDER = packages(PAGES["code.md"])
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "data")
LOOSE = {"__init__.py", "__main__.py"}
NEEDS_NUMPY = {"files/npy.py", "validation/value_words.py"}  # which validating does not need


def package_of(path: Path) -> str:
    """Return the package that a file belongs to; a module beside the packages is one of its own."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a file imports, inside functions and for types too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "dmlcheck":
            yield from (f"dmlcheck.{alias.name}" for alias in node.names if alias.name != "__version__")
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.relative_to(PACKAGE).as_posix() not in LOOSE],
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_a_module_imports_only_from_its_own_package_and_those_above_it(path: Path) -> None:
    allowed = ORDER[: ORDER.index(package_of(path)) + 1]
    names = imported(ast.parse(path.read_text(encoding="utf-8")))
    assert [name for name in names if name.startswith("dmlcheck") and name.split(".")[1] not in allowed] == []


def test_no_modules_import_each_other() -> None:
    """Whatever the way round, also inside functions and for types; the front door looks its names up when asked."""
    own = [path for path in FILES if path.relative_to(PACKAGE).as_posix() not in LOOSE]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in own}
    graph = {name: _reached(path, names) - {name} for name, path in names.items()}
    left = dict(graph)
    while ends := [name for name, others in left.items() if not others & left.keys()]:
        for name in ends:
            del left[name]
    assert sorted(left) == []


def _reached(path: Path, names: Container[str]) -> set[str]:
    """Return the modules that a file imports, by the names of what it takes of packages."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {part if part in names else node.module for part in parts}
    return {name for name in found if name in names}


def test_only_the_engine_has_tiles() -> None:
    """It computes them for values, and `bounds` computes them again for tolerances."""
    tiling = PACKAGE / "reference" / "tiling"
    users = {
        path.relative_to(PACKAGE).with_suffix("").as_posix()
        for path in FILES
        if tiling not in path.parents
        and any(name.startswith("dmlcheck.reference.tiling") for name in imported(ast.parse(path.read_text("utf-8"))))
    }
    assert users == {"reference/engine", "reference/bounds"}


def test_all_code_is_in_a_package_but_for_the_front_door() -> None:
    loose = {path.name for path in PACKAGE.glob("*.py")}
    assert loose == {*LOOSE, "api.py", "pytest_plugin.py"}


def test_validation_needs_neither_numpy_nor_rich() -> None:
    reading = {*ORDER[: ORDER.index("validation") + 1], "cases"}
    for path in FILES:
        if package_of(path) in reading and path.relative_to(PACKAGE).as_posix() not in NEEDS_NUMPY:
            names = {name.split(".")[0] for name in imported(ast.parse(path.read_text(encoding="utf-8")))}
            assert not names & {"numpy", "rich", "click"}, path


def test_the_order_is_that_of_the_map() -> None:
    assert ORDER[0] == "diagnostics"
    assert ORDER[-1] == "cli"


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


LONGEST = 36  # lines of a function, without its header and its docstring
LONG = 25


def test_functions_fit_in_the_eye() -> None:
    """Those of more than 25 lines are exceptions: at most one in a hundred."""
    lengths = {f"{path.stem}.{name}": lines for path in FILES for name, lines in lines_of_functions(path)}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}
    assert sum(lines > LONG for lines in lengths.values()) * 100 < len(lengths)


def lines_of_functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            first = node.body[min(1, len(node.body) - 1) if ast.get_docstring(node) else 0]
            yield node.name, (node.end_lineno or 0) - first.lineno + 1
