"""Where the outputs of a case stand in it."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.running.places import path_in_case


@pytest.mark.parametrize(
    ("name", "given", "element", "path"),
    [
        ("Out", {"Out": [[1, 2], [3, 4]]}, (1, 0), ("outputs", "Out", 1, 0)),
        ("Out", {"Out": [1, 2, 3, 4]}, (1, 0), ("outputs", "Out", 2)),
        ("Out", {"Out": {"fill": 1}}, (1, 0), ("outputs", "Out")),
        ("Out", {"Out": [1, 2, 3, 4]}, None, ("outputs", "Out")),
        ("Out", {}, (1, 0), ("desc", "Out")),
        ("Outs[1]", {"Outs": [[1], [1, 2, 3, 4]]}, (0, 1), ("outputs", "Outs", 1, 1)),
        ("Outs[1]", {}, (0, 1), ("desc", "Outs", 1)),
    ],
)
def test_an_element_is_found_as_the_case_writes_it(name: str, given: Any, element: Any, path: Any) -> None:
    assert path_in_case(name, given, (2, 2), element) == path
