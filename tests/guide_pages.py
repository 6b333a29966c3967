"""The README and the pages of the guide, for tests: their blocks, the files in them, and what their commands print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from commandline import dmlcheck
from directml_wheel import wheel_or_reason
from dml_graphs import matmul_add
from standin_dxdispatch import installed

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "dmlcheck" / "guide"
INDEX = "guide/README.md"  # the one page of the guide that goes by its folder too: the README has the same name
PATHS = {"README.md": ROOT / "README.md"} | {
    INDEX if path.name == "README.md" else path.name: path for path in sorted(GUIDE.glob("*.md"))
}
PAGES = {name: path.read_text(encoding="utf-8") for name, path in PATHS.items()}
TUTORIAL = "tutorial.md"  # begins in an empty folder, and changes its files on the way
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"(?:#|//) (\S+?):?(?:\s.*)?$")  # the first line of a file: a comment that begins with its name


class Block(NamedTuple):
    """A fenced block of a page: its language and its text."""

    kind: str
    text: str


def blocks(page: str, *kinds: str) -> list[Block]:
    """Return the fenced blocks of a page, of all languages or of some."""
    found = [Block(*parts) for parts in _BLOCK.findall(page)]
    return [block for block in found if not kinds or block.kind in kinds]


def prose(page: str) -> str:
    """Return a page without its fenced blocks."""
    return _BLOCK.sub("", page)


def file_name(block: Block) -> str:
    """Return the name of the file that a block shows, which is in its first line; "" for a piece of code."""
    found = _NAME.match(block.text.split("\n", 1)[0])
    assert found or block.kind == "python", f"no file name in the first line: {block.text[:60]}"
    return found[1] if found else ""


def files(page: str) -> list[tuple[str, str]]:
    """Return the files that a page shows: their names and texts."""
    named = [(file_name(block), block.text) for block in blocks(page, "yaml", "js", "python")]
    return [(name, text) for name, text in named if name]


def section(page: str, heading: str) -> str:
    """Return the part of a page below a heading, up to the next one."""
    return re.split(r"^## ", page.partition(f"## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def packages(page: str) -> list[str]:
    """Return the packages of the map of the code, in their order."""
    rows = section(page, "The packages").split("\n|")[3:]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[0])]


def first_column(page: str, heading: str) -> list[str]:
    """Return what stands in the first column of the table below a heading, without the backticks."""
    rows = re.findall(r"^\| (.*?) \|", section(page, heading), re.MULTILINE)[1:]
    return [cell.replace("`", "") for cell in rows]


def commands(text: str) -> list[str]:
    """Return the lines of a block of commands, each put together where it goes on after a backslash."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [line.partition("    #")[0].strip() for line in lines if not line.startswith("#")]


def inline_commands(page: str) -> list[str]:
    """Return the commands that the sentences of a page name."""
    return [" ".join(text.split()) for text in re.findall(r"`(dmlcheck [^`]*)`", prose(page))]


def workflow_commands(text: str) -> Iterator[str]:
    """Yield the commands of a workflow of GitHub or GitLab, for each shard of its matrix."""
    file = yaml.safe_load(text)
    for job in file.get("jobs", file).values():
        shards = job.get("strategy", {}).get("matrix", {}).get("shard", [1])
        lines = [*job.get("script", ()), *(step.get("run", "") for step in job.get("steps", ()))]
        for shard in shards:
            yield from (line.replace("${{ matrix.shard }}", str(shard)) for line in lines if line)


# ---- what is printed


class Ran(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    text: str


_NUMPY = re.compile(r"NumPy [0-9][^)]*")


def timeless(text: str) -> str:
    """Return a report with its seconds put to 0."""
    return re.sub(r"\d+\.\d\d( s)?$", r"0.00\1", _NUMPY.sub("NumPy 2", text), flags=re.MULTILINE)


def run(command: str) -> Ran:
    """Run a command of a page in the working folder: dmlcheck's in this process, others in one of their own.

    A command that the first one is piped into is the shell's, and left out.
    """
    command, _, target = command.partition(" | ")[0].partition(" > ")
    ran = _run(command)
    if target:
        Path(target).write_text(ran.text, encoding="utf-8")
    return ran


def _run(command: str) -> Ran:
    if command.startswith("dmlcheck "):
        result = dmlcheck(*shlex.split(_for_here(command))[1:])
        return Ran(result.exit_code, result.stdout)
    if command.startswith("python -m pip download "):
        _download(command.partition(" --dest ")[2].split()[0])
    if command.startswith("python -m pip "):
        return Ran(0, "")  # the tests install nothing: what the command names has a test of its own
    words = {"pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"], "python": [sys.executable]}
    first, *rest = shlex.split(_for_here(command))
    done = subprocess.run(
        [*words.get(first, [first]), *rest], capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    return Ran(done.returncode, done.stdout)


def _download(folder: str) -> None:
    """Write the wheel of DirectML into a folder, if there is one."""
    wheel = wheel_or_reason()
    if isinstance(wheel, Path):
        Path(folder).mkdir(exist_ok=True)
        shutil.copy(wheel, folder)


def _for_here(command: str) -> str:
    """Return a command with this system's paths, and with stand-ins for the programs that are not here."""
    if r"dxdispatch.exe" in command:
        program = Path(installed(Path("dxdispatch"))).resolve().as_posix()
        command = command.replace(r"PATH\TO\dxdispatch.exe", program)
    if find_spec("onnxruntime") is None:
        command = command.replace(" --implementation onnxruntime", "")  # the reference engine will do
    script = "models/run.cmd" if sys.platform == "win32" else "sh models/run.sh"
    return command.replace(r"models\run.cmd", script)


def python_output(code: str) -> str:
    """Return what an example in Python prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "an example", "exec"), {})  # noqa: S102 - the pages are ours
    return printed.getvalue()


def lay_out(folder: Path) -> None:
    """Write what the pages use into a folder: the files that they show, a graph, and folders of cases."""
    for page in (text for name, text in PAGES.items() if name != TUTORIAL):
        for name, text in files(page):
            write(folder / name, text)
    (folder / "Partition_0.bin").write_bytes(matmul_add())
    np.arange(25, dtype=np.float32).tofile(folder / "w_0.bin")
    np.savez(folder / "inputs.npz", model_input=np.array([1, 0, 0, 0, 2], dtype=np.float32))
    for name, text in (("cases", "columns"), ("conformance", "columns"), ("conformance", "sum")):
        (folder / name).mkdir(exist_ok=True)
        shutil.copy(folder / f"{text}.yaml", folder / name)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def as_run(page: str) -> tuple[str, list[str]]:
    """Return a page with what its commands print here, and the commands that failed without an output to show it."""
    failed: list[str] = []
    parts, end, code = [], 0, ""
    for found in _BLOCK.finditer(page):
        kind, text = found.groups()
        for name, content in files(found[0]):
            write(Path(name), content)
        if kind == "console":
            text = _session(text)
        elif kind == "text":
            text = python_output(code) if is_possible(code) else text
        elif kind == "sh":
            failed += [line for line in commands(text) if is_possible(line) and run(line).code]
        elif kind == "yaml" and text.startswith("# .git"):
            failed += [line for line in workflow_commands(text) if is_possible(line) and run(line).code]
        code = text if kind == "python" else ""
        parts += [page[end : found.start(2)], text]
        end = found.end(2)
    failed += [line for line in inline_commands(page) if not works(line)]
    return "".join([*parts, page[end:]]), failed


def _session(text: str) -> str:
    """Return a session as it goes here, with the times of the page where nothing else differs."""
    shown = re.findall(r"^(\$ .*\n)((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    parts = []
    for command, output in shown:
        found = run(command[2:].strip()).text if is_possible(command) else output
        parts += [command, output if timeless(found) == timeless(output) else found]
    return "".join(parts)


def works(command: str) -> bool:
    ran = run(command if len(command.split()) > 2 else f"{command} --help")  # a name alone is that of the command
    return ran.code == 0 and ran.text != ""


def is_possible(command: str) -> bool:
    """Whether a command can be run: it may need the package onnx, a parser of JavaScript, or DirectML and a device."""
    if "webnn" in command and find_spec("tree_sitter_javascript") is None:
        return False
    if "--implementation directml" in command or "--library" in command:
        is_asked = "device=none" in command or "--library" in command
        return is_asked and isinstance(wheel_or_reason(), Path)
    needs = any(part in command for part in (" onnx ", ".onnx", "make_model.py", "make_test.py", "from_onnx"))
    return not needs or find_spec("onnx") is not None
