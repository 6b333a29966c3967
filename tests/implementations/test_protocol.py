"""Objects of users as implementations: what they lack is filled in, what they have is theirs."""

from __future__ import annotations

import ast
import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from source_trees import trees

from dmlcheck import __version__
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations.protocol import Adapted, Implementation, Reference, adapted


class RunsAlone:
    """What the guide asks for, and no more."""

    def run(self, _: Any, inputs: Any) -> Any:
        return {"OutputTensor": inputs}


def test_an_object_with_run_alone_has_all_members() -> None:
    made = adapted(RunsAlone())
    assert made.name == "RunsAlone"
    members = {name for name, _ in inspect.getmembers(Implementation) if not name.startswith("_")}
    for name in members - {"run", "name", "about"}:
        own, default = getattr(made, name), getattr(Implementation(), name)
        assert own == default or callable(own), name
    assert made.unsupported(None) is None  # type: ignore[arg-type]
    assert made.optimizing() is made
    assert made.about == ("", "", "")
    assert made.run(None, {"a": 1}) == {"OutputTensor": {"a": 1}}  # type: ignore[arg-type]
    made.close()


def test_an_implementation_stays_as_it_is() -> None:
    reference = Reference()
    assert adapted(reference) is reference


def test_members_are_of_their_types_and_asked_for_when_they_are_used() -> None:
    given = SimpleNamespace(version=2, validates=1, is_directml=0, errors=b"lost", run_model="no method")
    made = adapted(given)
    assert (made.version, made.validates, made.is_directml) == ("2", True, False)
    assert (made.errors, made.run_model, made.device) == ("", None, "")
    given.errors, given.version = "lost", None
    assert (made.errors, made.version) == ("lost", "")


def test_only_directml_is_asked_and_only_what_lists_tensors_gives_them() -> None:
    given = SimpleNamespace(create_operator=min, tensor=max)
    assert (adapted(given).create_operator, adapted(given).tensor) == (None, None)
    given.is_directml, given.tensor_names = True, {"x"}
    assert (adapted(given).create_operator, adapted(given).tensor) == (min, max)


def test_an_object_that_runs_no_descs_says_so_after_its_own_reason() -> None:
    made = adapted(SimpleNamespace(name="it", run_model=max))
    assert made.unsupported(None) == "it has no method run: it runs models, and no descs"  # type: ignore[arg-type]
    made = adapted(SimpleNamespace(unsupported=lambda _: "never"))
    assert made.unsupported(None) == "never"  # type: ignore[arg-type]


def test_a_class_of_implementations_without_run_of_its_own_runs_no_descs() -> None:
    assert not Adapted(type("Models", (Implementation,), {"run_model": max})()).runs_descs
    assert Adapted(Reference()).runs_descs


def test_a_method_that_takes_something_else_is_found_before_it_is_called() -> None:
    made = Adapted(type("Mine", (), {"run": lambda self, desc: {self: desc}})())
    problem = made.wrong_call("mine")
    assert problem is not None
    assert problem.startswith("mine is called with run(desc, inputs), and its method is run(desc): ")
    assert Adapted(RunsAlone()).wrong_call("mine") is None


@pytest.mark.slow
def test_nothing_else_asks_what_an_implementation_has() -> None:
    """The members of implementations are asked for as attributes: what they lack is filled in here."""
    members = {name for name, _ in inspect.getmembers(Implementation) if not name.startswith("_")}
    found = []
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("getattr", "hasattr")
            ):
                of, name = node.args[0], node.args[1]
                is_member = isinstance(name, ast.Constant) and name.value in members
                if is_member or "implementation" in ast.unparse(of):
                    found.append(module)
    assert set(found) == {"implementations/protocol.py", "implementations/__init__.py"}
    assert found.count("implementations/__init__.py") == 1  # the class of an implementation, in its module


# ---- the reference engine as an implementation


def described(operator: str, fields: dict[str, Any]) -> OperatorDesc:
    desc = read_desc(operator, fields).desc
    assert desc is not None
    return desc


TENSOR = {"DataType": "FLOAT16", "Sizes": [2]}


def test_it_computes_what_has_a_kernel() -> None:
    desc = described("ACTIVATION_RELU", {"InputTensor": TENSOR, "OutputTensor": TENSOR})
    assert Reference().unsupported(desc) is None
    found = Reference().run(desc, {"InputTensor": np.array([-1, 3], np.float16)})
    assert found.keys() == {"OutputTensor"}
    assert found["OutputTensor"].dtype == np.float16
    assert found["OutputTensor"].tolist() == [0, 3]


def test_it_says_which_version_it_is_and_what_it_runs_on() -> None:
    assert Reference().about == (__version__, f"NumPy {np.__version__}", "")
    assert Reference().name == "reference"
