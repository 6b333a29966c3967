"""Reading YAML and JSON in tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from dmlcheck.files import yaml
from dmlcheck.files.document import Document

PROPERTY = settings(deadline=None, max_examples=100)
NESTED = st.recursive(
    st.sampled_from(["", "é", "😀"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xyzé😀"), inner, max_size=4),
    max_leaves=15,
)
PATIENCE = 300  # seconds, for what would never end if it went wrong

# Reads the file that is named in a process of its own, with 2 GB where that can be limited, and prints its rules.
READ = """\
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
except (ImportError, ValueError, OSError):
    pass
from dmlcheck.files import yaml
document = yaml.read(sys.argv[1])
print(json.dumps([problem.rule for problem in document.problems]))
"""


def json_values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Return values that JSON can have, with these texts."""
    numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
        max_leaves=20,
    )


def parse(text: str) -> Document:
    """Read text as a YAML file."""
    return yaml.parse(text.encode(), "case.yaml", is_json=False)


def value_of(text: str) -> Any:
    """Return the value of YAML that has no problems."""
    document = parse(text)
    assert document.problems == []
    return document.value


def refusals(data: bytes) -> list[tuple[str, int | None, int | None]]:
    """Return the rule and the place of each problem of a file that cannot be read."""
    document = yaml.parse(data, "case.yaml", is_json=False)
    assert document.value is None
    return [(problem.rule, problem.line, problem.column) for problem in document.problems]


def rules_in_a_process(path: Path) -> list[str]:
    """Return the rules that a file breaks, read where a crash or an explosion does no harm."""
    command = [sys.executable, "-c", READ, str(path)]
    finished = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", timeout=PATIENCE)
    assert (finished.returncode, finished.stderr) == (0, "")
    rules: list[str] = json.loads(finished.stdout)
    return rules
