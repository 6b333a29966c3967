"""`dmlcheck run MODEL.onnx`: the options that are for models, and the run of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.implementations import made
from dmlcheck.cli.options import complete_files
from dmlcheck.cli.run_options import as_memory, dim_option, no_model_has, rounded_or_given_inputs, seed_option
from dmlcheck.files.document import Document
from dmlcheck.formats.find import Target, split_case
from dmlcheck.formats.registry import binary_format, read_file

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case
    from dmlcheck.models.run import ModelExecution
    from dmlcheck.running.events import Plan, Running

_KEEP_MEMORY = 2 * 2**30


class ModelOptions(NamedTuple):
    """The options of a model's run."""

    dims: tuple[tuple[str, int], ...] = ()
    seed: int = 0
    inputs: str | None = None
    whole: bool = False
    optimized: bool = False
    keep_memory: int = _KEEP_MEMORY
    headroom: bool = False
    output: str | None = None
    bisect: bool = False

    def words(self) -> Iterator[str]:
        """Yield the options again, as the command that runs a node again has to have them."""
        for name, size in self.dims:
            yield from ("--dim", f"{name}={size}")
        if self.seed:
            yield from ("--seed", str(self.seed))
        if self.inputs is not None:
            yield from ("--inputs", self.inputs)
        yield from (f"--{name}" for name in ("whole", "optimized") if getattr(self, name))

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        fields = zip(self._fields, self, self._field_defaults.values(), strict=True)
        return [_SPELT.get(name, f"--{name.replace('_', '-')}") for name, value, default in fields if value != default]


_SPELT = {"dims": "--dim", "output": "-o"}


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for ONNX models to a command, which gets their values as `asked`."""

    @wraps(command)
    def with_model(**given: Any) -> None:
        inputs_as, given["inputs"] = given.pop("inputs"), given.pop("model_inputs")
        asked = ModelOptions(**{name: given.pop(name) for name in ModelOptions._fields})
        command(asked=asked, inputs_as=inputs_as, **given)

    for option in reversed(_OPTIONS):
        with_model = option(with_model)
    return with_model


_OPTIONS: list[Callable[[Any], Any]] = [
    dim_option,
    rounded_or_given_inputs,
    seed_option,
    click.option("--whole", is_flag=True, help="Models: run the whole model and keep its tensors, not node by node."),
    click.option(
        "--optimized", is_flag=True, help="Models: run the model as ONNX Runtime optimizes it, with its fused nodes."
    ),
    click.option(
        "--keep-memory",
        type=as_memory,
        metavar="SIZE",
        default=_KEEP_MEMORY,
        help="Models: with --whole or --bisect, the memory for kept tensors; --whole keeps more by more runs. "
        "Default: 2GiB.",
    ),
    click.option(
        "--bisect",
        is_flag=True,
        help="Models: where no single node is wrong, find the smallest group of nodes that is wrong when run together.",
    ),
    click.option("--headroom", is_flag=True, help="Models: list the FLOAT16 tensors that are close to overflow."),
    click.option(
        "-o",
        "--output",
        metavar="DIR",
        shell_complete=complete_files,
        help="Models: write each node that fails as a case file, and as a model of one node with its inputs. "
        "With --bisect write nodes that are wrong together as one model.",
    ),
]


def model_of(paths: Sequence[str], asked: ModelOptions) -> Target | None:
    """Return the ONNX model of a command line, None without one; a usage error for any other path with it.

    One run cannot have both models and cases.
    """
    models = []
    for given in paths:
        path, case = split_case(given)
        form = binary_format(path)
        if form is not None and form.judged:
            models.append((path, case))
    if not models:
        if asked.inputs is not None:
            raise no_model_has(asked.inputs)
        if asked.given:
            raise click.UsageError(f"{', '.join(asked.given)}: only for an ONNX model, and no path is one")
        return None
    if len(paths) > 1:
        raise click.UsageError("a model is run by itself: name one, and nothing else")
    _leave_cores_to_nodes()
    from dmlcheck.folders.export_folder import MissingRequirement
    from dmlcheck.onnx.exporter import require

    try:
        require()
    except MissingRequirement as error:
        raise click.UsageError(str(error)) from None
    ((path, case),) = models
    return Target(path, path.replace("\\", "/") if sys.platform == "win32" else path, case)


def _leave_cores_to_nodes() -> None:
    """Import NumPy so that each of its products takes one thread, unless the environment says otherwise.

    The implementation, the verdicts and the chain through the model run in parallel. Products in several threads
    would wait for cores that these have, and take many times as long.
    """
    name = "OPENBLAS_NUM_THREADS"  # which the library reads once, when it is loaded
    if name in os.environ:
        return
    os.environ[name] = "1"
    try:
        import numpy as np  # noqa: F401
    finally:
        del os.environ[name]  # the implementation's process has its own


def models_that_run(found: list[Target], plan: Plan, *, is_elsewhere: bool) -> list[Target]:
    """Return the models of findings that run along with cases: all, or none, and why is printed for each.

    `is_elsewhere` says that the cases run on the workers of a cluster.
    """
    why = _why_no_models(plan, is_elsewhere=is_elsewhere) if found else None
    if why is None:
        return found
    for target in found:
        say(f"dmlcheck: {target.name} is not run: {why}", to_errors=True)
    return []


def _why_no_models(plan: Plan, *, is_elsewhere: bool) -> str | None:
    """Return why models do not run along with cases, None if they do."""
    from dmlcheck.folders.export_folder import MissingRequirement
    from dmlcheck.onnx.exporter import require

    if is_elsewhere or plan.shard is not None or not plan.selection.is_all:
        return "models run whole and here; leave out --executor, --shard and what selects cases"
    try:
        require()
    except MissingRequirement as error:
        return str(error)
    with made(plan.implementation) as implementation:
        is_able = plan.implementation == "reference" or implementation.run_model is not None
    return None if is_able else f"{plan.implementation} runs no ONNX models"


def execution_of(target: Target, plan: Plan, asked: ModelOptions, *, is_listing: bool = False) -> ModelExecution:
    """Return the run of a model that was read with its inputs; a usage error if the options do not fit it."""
    from dmlcheck.implementations import Unavailable
    from dmlcheck.models.cases import ModelRequest, unknown_size

    _check_way(plan.implementation, asked)
    if asked.bisect and not (plan.selection.is_all and plan.shard is None and target.case is None):
        raise click.UsageError("--bisect is for all nodes of a model: leave out -k, --failed, --shard and ::NODE")
    if plan.selection.types or plan.selection.tags:
        raise click.UsageError("--type and --tag are for cases; select nodes with -k or MODEL.onnx::NODE")
    more = ModelRequest(
        dict(asked.dims),
        asked.seed,
        asked.inputs,
        asked.whole,
        asked.keep_memory,
        asked.optimized,
        asked.headroom,
        is_listing,
        asked.bisect,
    )
    form = binary_format(target.file)
    assert form is not None  # noqa: S101 - it is that of a model
    try:
        execution: ModelExecution = form.call("judged", target, plan, more)
    except Unavailable as error:
        raise click.UsageError(str(error)) from None
    unknown = unknown_size(more.sizes, execution.model.symbols)
    if unknown is not None:
        execution.implementation.close()
        raise click.UsageError(unknown)
    if asked.output is not None and not is_listing:
        from dmlcheck.cli.folder import written
        from dmlcheck.models.node_files import FORM, NodeFiles

        folder = asked.output
        execution.files = written(folder, FORM, lambda: NodeFiles(folder, target.name))
    return execution


def _check_way(implementation: str, asked: ModelOptions) -> None:
    """Raise a usage error for a way to run a model that the implementation does not offer."""
    kind = implementation.partition(":")[0]
    if asked.optimized and kind != "onnxruntime":
        raise click.UsageError("--optimized is for --implementation onnxruntime, which optimizes the model")
    if kind == "recorded":
        for name in ("whole", "bisect"):
            if getattr(asked, name):
                raise click.UsageError(f"--{name}: nothing is run, the tensors are recorded")


def cases_of(execution: Running) -> Callable[[str, str], Iterable[Case]]:
    """Return the function that returns the cases of a file of a run: for a model its nodes."""
    nodes = getattr(execution, "nodes", None)
    if nodes is None:
        return lambda file, name: read_file(file, name).cases
    return lambda *_: [*(node.case for node in nodes), *getattr(execution, "output_cases", ())]


def judged_by(execution: ModelExecution) -> str:
    """Return how the nodes of a model are judged, in words, "" if it does not run."""
    if not execution.nodes:
        return ""
    directml = execution.run.directml
    way = "by ONNX's meaning" if directml is None else "by the descs of ONNX Runtime's DirectML provider"
    return f"each judged {way}"


def print_nodes(execution: ModelExecution) -> Exit:
    """Print the ids of the nodes that would run, or the diagnostics of the model."""
    from dmlcheck.models.cases import UnusableModel

    if isinstance(execution.model, UnusableModel):
        Console().problems(execution.model.diagnostics, Document(execution.target.name, ""))
        return Exit.WRONG_INPUT
    for case in (*(node.case for node in execution.nodes), *execution.output_cases):
        if case.name in execution.chosen:
            say(case.id)
    return Exit.GOOD if execution.chosen else Exit.NOTHING_CHECKED
