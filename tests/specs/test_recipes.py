"""Recipes as files of specs/about have them, and the messages for broken ones."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dmlcheck.specs.about import Recipe, recipes_of, thread_address

WHOLE: dict[str, Any] = {
    "title": "Twice",
    "text": "Add it to itself.",
    "asked": ["a/b-c.d#12"],
    "desc": {"ATensor": {"Sizes": [1]}},
    "outputs": {"OutputTensor": [2]},
}


def test_a_recipe_is_what_its_row_says() -> None:
    (read,) = recipes_of([WHOLE])
    desc, outputs = WHOLE["desc"], WHOLE["outputs"]
    assert read == Recipe("Twice", "Add it to itself.", ("a/b-c.d#12",), desc, {}, outputs)
    (read,) = recipes_of([{**WHOLE, "inputs": {"ATensor": [1]}}])
    assert read.inputs == {"ATensor": [1]}
    assert recipes_of([]) == ()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"titel": "Twice"}, "recipes, Twice: unknown key titel; write one of title, text"),
        ({"title": ""}, "recipes, : title must be a text"),
        ({"text": 3}, "recipes, Twice: text must be a text"),
        ({"text": "Add it"}, "recipes, Twice: text must end with a full stop"),
        ({"asked": []}, "recipes, Twice: asked must name threads as owner/repository#number"),
        ({"asked": ["a forum"]}, "recipes, Twice: asked must name threads"),
        ({"asked": ["a/b#0"]}, "recipes, Twice: asked must name threads"),
        ({"desc": {}}, "recipes, Twice: desc must have fields"),
        ({"outputs": [2]}, "recipes, Twice: outputs must have fields"),
    ],
)
def test_a_broken_recipe_is_refused(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        recipes_of([{**WHOLE, **changed}])


def test_recipes_that_are_no_list_are_refused() -> None:
    with pytest.raises(ValueError, match=r"recipes must be a list, and is \{"):
        recipes_of({"title": "Twice"})


def test_a_thread_has_an_address() -> None:
    assert thread_address("microsoft/DirectML#75") == "https://github.com/microsoft/DirectML/issues/75"
