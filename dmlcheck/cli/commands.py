"""The commands in groups, as the help lists them; none is imported for that."""

from __future__ import annotations

import click

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


def write_groups(formatter: click.HelpFormatter) -> None:
    """Write the summary of each command, group by group."""
    for title, commands in GROUPS.items():
        with formatter.section(title):
            formatter.write_dl([(name.ljust(_WIDTH), summary) for name, summary in commands.items()])


def unknown_command(name: str) -> str:
    """Return the message about a command that does not exist."""
    from dmlcheck.diagnostics.wording import did_you_mean

    return f"there is no command {name!r}; {did_you_mean(name, COMMANDS) or '`dmlcheck --help` lists the commands'}"
