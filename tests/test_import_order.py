"""The direction of imports: a module imports only from its own package and from those above it in the guide's map."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

import pytest
from guide_pages import PAGES, packages
from source_trees import PACKAGE, trees

ORDER = packages(PAGES["code.md"])
LOOSE = {"__init__.py", "__main__.py"}
NEEDS_NUMPY = {"files/npy.py", "validation/value_words.py"}  # which validating does not need


def package_of(module: str) -> str:
    """Return the package that a module belongs to; a module next to the packages is one of its own."""
    return module.partition("/")[0].removesuffix(".py")


def inside() -> dict[str, ast.Module]:
    """Return the modules of packages, and those that are one of their own."""
    return {module: tree for module, tree in trees().items() if module not in LOOSE}


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a file imports, inside functions and for types too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "dmlcheck":
            yield from (f"dmlcheck.{alias.name}" for alias in node.names if alias.name != "__version__")
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.slow
def test_a_module_imports_only_from_its_own_package_and_those_above_it() -> None:
    wrong = {
        module: [name for name in imported(tree) if name.startswith("dmlcheck") and not _is_above(name, module)]
        for module, tree in inside().items()
    }
    assert {module: names for module, names in wrong.items() if names} == {}


def _is_above(name: str, module: str) -> bool:
    return name.split(".")[1] in ORDER[: ORDER.index(package_of(module)) + 1]


@pytest.mark.slow
def test_no_modules_import_each_other() -> None:
    """Whatever the way round, also inside functions and for types; the front door looks its names up when asked."""
    own = {_dotted(module): tree for module, tree in inside().items()}
    graph = {name: _reached(tree, own) - {name} for name, tree in own.items()}
    left = dict(graph)
    while ends := [name for name, others in left.items() if not others & left.keys()]:
        for name in ends:
            del left[name]
    assert sorted(left) == []


def _dotted(module: str) -> str:
    return f"dmlcheck.{module.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")


def _reached(tree: ast.Module, names: Container[str]) -> set[str]:
    """Return the modules that a module imports, by the names of what it takes of packages."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {part if part in names else node.module for part in parts}
    return {name for name in found if name in names}


@pytest.mark.slow
def test_what_kernels_are_made_of_knows_none_of_them() -> None:
    users = {
        module
        for module, tree in trees().items()
        if module.startswith(("reference/arrays/", "reference/ball/", "reference/functions/", "reference/tiling/"))
        and any(name.startswith("dmlcheck.reference.kernels") for name in imported(tree))
    }
    assert users == set()


@pytest.mark.slow
def test_only_the_engine_has_tiles() -> None:
    """It computes them for values, and `bounds` computes them again for tolerances."""
    users = {
        module
        for module, tree in trees().items()
        if not module.startswith("reference/tiling/")
        and any(name.startswith("dmlcheck.reference.tiling") for name in imported(tree))
    }
    assert users == {"reference/engine.py", "reference/bounds.py"}


def test_all_code_is_in_a_package_but_for_the_front_door() -> None:
    loose = {path.name for path in PACKAGE.glob("*.py")}
    assert loose == {*LOOSE, "api.py", "pytest_plugin.py"}


@pytest.mark.slow
def test_validation_needs_neither_numpy_nor_rich() -> None:
    reading = {*ORDER[: ORDER.index("validation") + 1], "cases"}
    for module, tree in trees().items():
        if package_of(module) in reading and module not in NEEDS_NUMPY:
            names = {name.split(".")[0] for name in imported(tree)}
            assert not names & {"numpy", "rich", "click"}, module


def test_the_order_is_that_of_the_map() -> None:
    assert ORDER[0] == "diagnostics"
    assert ORDER[-1] == "cli"


@pytest.mark.slow
def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


LONGEST = 36  # lines of a function, without its header and its docstring
LONG = 25


@pytest.mark.slow
def test_functions_fit_in_the_eye() -> None:
    """Those of more than 25 lines are exceptions: at most one in a hundred."""
    lengths = {f"{module}: {name}": lines for module, tree in trees().items() for name, lines in lines_of(tree)}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}
    assert sum(lines > LONG for lines in lengths.values()) * 100 < len(lengths)


def lines_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = node.body[min(1, len(node.body) - 1) if ast.get_docstring(node) else 0]
            yield node.name, (node.end_lineno or 0) - first.lineno + 1
