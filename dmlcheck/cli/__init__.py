"""The command line: it reads arguments and opens consoles and files; nothing else chooses exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from dmlcheck import __version__
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.interrupts import Interrupts
from dmlcheck.diagnostics.wording import visible

_GUIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "guide")
_EPILOG = f"`dmlcheck COMMAND --help` has the options of a command and examples.\n\n\b\nThe guide: {_GUIDE}"
_COMPLETE = "_DMLCHECK_COMPLETE"  # the variable by which a shell's script asks for completions
_NAMES = {"eval": "evaluate", "import": "import_"}  # of modules and functions that have the command's name


def _flush() -> None:
    """Flush the command's output; a full disk is wrong usage."""
    console = sys.modules.get("dmlcheck.cli.console")
    if console is not None:
        streams = console.streams()
        streams.flush()
        ending = sys.exc_info()[1]
        is_interrupted = isinstance(ending, SystemExit) and ending.code == Exit.INTERRUPTED
        if streams.is_output_lost and not is_interrupted:  # whose terminal may have ended
            sys.exit(Exit.WRONG_INPUT)


_UNWRITABLE = (errno.ENOSPC, errno.EPIPE, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG)


def _end_streams() -> None:
    """Flush click's own output; if that fails at the very end, nothing more is tried."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
            if stream is sys.stdout and not isinstance(error, BrokenPipeError):
                sys.exit(Exit.WRONG_INPUT)


@contextmanager
def _shown_errors() -> Iterator[None]:
    """Print errors of usage as plain text, since they repeat words of the command line."""
    try:
        yield
    except getattr(click.exceptions, "NoArgsIsHelpError", ()):  # whose message is a page of help
        raise
    except click.ClickException as error:
        from dmlcheck.cli.console import printable

        message = error.format_message()
        if isinstance(error, click.MissingParameter):
            message = " ".join(message.split())  # click gives each choice a line
        shown = click.UsageError(printable(visible(message)), getattr(error, "ctx", None))
        raise shown from None
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)


class _Commands(click.Group):
    """The commands, each imported only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the commands into the help."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(_WIDTH), summary) for name, summary in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the requested command, or raise an error that suggests one."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(unknown_command(args[0]))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and flush its output while a closed pipe can still be handled."""
        try:
            with _shown_errors(), Interrupts():
                return super().invoke(ctx)
        finally:
            _flush()

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Read the words before the command."""
        with _shown_errors():
            return super().make_context(*args, **more)

    def main(self, *args: Any, **more: Any) -> Any:
        """Read the command line, run the command and exit; a standard stream that cannot be written is wrong usage."""
        if _COMPLETE in os.environ:
            import_module("dmlcheck.cli.completion")  # click does not know every shell
        try:
            return super().main(*args, **more)
        except OSError as error:
            if error.errno not in _UNWRITABLE or error.filename is not None:
                raise
            sys.exit(Exit.WRONG_INPUT)
        finally:
            _end_streams()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        name = _NAMES.get(cmd_name, cmd_name)
        command: click.Command = getattr(import_module(f"dmlcheck.cli.{name}"), name)
        command.short_help = COMMANDS[cmd_name]
        return command


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    """Print the versions of dmlcheck, of NumPy and Python, and of the tables."""
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import version
    from platform import python_version

    from dmlcheck.specs.load import operator_names
    from dmlcheck.specs.names import FEATURE_LEVELS, NEWEST_LEVEL

    directml = FEATURE_LEVELS[NEWEST_LEVEL].directml.removesuffix(".0")
    click.echo(f"dmlcheck, version {__version__}")
    click.echo(f"NumPy {version('numpy')}, Python {python_version()}")
    click.echo(f"tables of DirectML {directml}: {len(operator_names())} operators, feature levels up to {NEWEST_LEVEL}")
    ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the versions of dmlcheck, NumPy and the tables.",
)
def main() -> None:
    """Check DirectML operator descs against the feature-level tables, and results against a NumPy reference."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the stream's encoding lacks is escaped, not an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


# ---- commands


GROUPS = {
    "Check": {
        "validate": "Is a desc valid, and from which feature level on?",
        "run": "Run cases, and report failures.",
        "eval": "Print the reference engine's results for cases.",
        "merge": "Put the reports of a run's shards together.",
        "compare": "The changes between the reports of two runs.",
        "fuzz": "Run random descs, and write failures as reduced cases.",
        "reduce": "The smallest desc and simplest values that still fail.",
        "expectations": "Keep a file of known results up to date.",
    },
    "Look up": {
        "show": "The page of an operator: fields, tables, constraints.",
        "explain": "The meaning of a rule, a constraint or a message of DirectML.",
        "diff": "The additions of one feature level to another.",
        "docs": "The reference as a web site: operators, rules, levels, guide.",
    },
    "Convert": {
        "export": "Write cases as DxDispatch or ONNX models.",
        "import": "Write DxDispatch or ONNX models as case files.",
        "schema": "Print the JSON Schema of case files, or a C++ header.",
    },
    "Other": {
        "coverage": "The parts of the specs that a set of cases exercises.",
        "selfcheck": "Do specs, kernels, bundled cases and rules agree?",
        "completion": "Print a script that completes commands in a shell.",
    },
}
COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
_WIDTH = max(map(len, COMMANDS))


def unknown_command(name: str) -> str:
    """Return the message about a command that does not exist."""
    from dmlcheck.diagnostics.wording import did_you_mean

    return f"there is no command {name!r}; {did_you_mean(name, COMMANDS) or '`dmlcheck --help` lists the commands'}"
