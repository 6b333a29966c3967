"""What `validate` reads and says."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest
from commandline import DESC, GOOD, dmlcheck, write


@pytest.mark.slow
def test_validation_starts_without_numpy_and_rich() -> None:
    write("a.yaml", DESC)
    code = (
        "import sys\nfrom dmlcheck.cli import main\n"
        "try:\n    main(['validate', 'a.yaml'])\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        "assert not {'numpy', 'rich'} & sys.modules.keys()\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


def test_what_is_legal_is_said_without_making_the_values() -> None:
    write("a.yaml", GOOD.replace("Sizes: [3]", "Sizes: [4294967295]").replace("[1, 2, 3]", "{fill: 1}"))
    tracemalloc.start()
    try:
        result = dmlcheck("validate", "a.yaml")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0
    assert most < 2**26


def test_a_negative_case_about_values_is_left_to_a_run() -> None:
    write("a.yaml", DESC + "invalid: [missing-tensor]\n")
    assert dmlcheck("validate", "a.yaml").exit_code == 0
    assert dmlcheck("run", "a.yaml").exit_code == 0
