"""`dmlcheck completion`: a script for each shell, which asks dmlcheck to complete the word at the cursor."""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from dmlcheck.cli.console import write
from dmlcheck.cli.options import examples, listed

VARIABLE = "_DMLCHECK_COMPLETE"  # of the environment: the variable that the scripts set
_START_FILES = {
    "~/.bashrc": 'eval "$(dmlcheck completion bash)"',
    "~/.zshrc": 'eval "$(dmlcheck completion zsh)"',
    "config.fish": "dmlcheck completion fish | source",
    "$PROFILE": "dmlcheck completion powershell | Out-String | Invoke-Expression",
}
_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($word, $ast, $cursor)
    $before = $ast.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursor }
    $env:COMP_WORDS = ($before | ForEach-Object { $_.Extent.Text }) -join "`n"
    $env:COMP_CWORD = $word
    $env:%(complete_var)s = "powershell_complete"
    try { $lines = & %(prog_name)s }
    finally { Remove-Item Env:COMP_WORDS, Env:COMP_CWORD, Env:%(complete_var)s -ErrorAction SilentlyContinue }
    foreach ($line in $lines) {
        $type, $value, $help = $line -split "`t", 3
        if ($type -eq "plain") {
            [System.Management.Automation.CompletionResult]::new($value, $value, "ParameterValue", $help)
        } elseif ($type) {
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($word)
        }
    }
}
"""


class PowerShellComplete(ShellComplete):
    """Completion for PowerShell: a line for each completion, its type, value and help with tabs between."""

    name = "powershell"
    source_template = _POWERSHELL

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one at the cursor, and that one; PowerShell drops variables that are empty."""
        words = [word.strip("'\"") for word in os.environ.get("COMP_WORDS", "").split("\n")[1:]]
        last = os.environ.get("COMP_CWORD", "").strip("'\"")
        return (words[:-1] if last and words[-1:] == [last] else words), last

    def format_completion(self, item: CompletionItem) -> str:
        """Return a completion as its line."""
        return "\t".join((item.type, item.value, " ".join((item.help or item.value).split())))


_MAKERS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
    "powershell": add_completion_class(PowerShellComplete),
}


@click.command(
    epilog="\n\n".join((listed("To complete in every session, add to the shell's start file", _START_FILES),
                        examples("completion bash"))),
)  # fmt: skip
@click.argument("shell", type=click.Choice(list(_MAKERS)))
def completion(*, shell: str) -> None:
    """Print a script that lets a shell complete commands, options, names of operators and rules, and files."""
    write(_MAKERS[shell](click.get_current_context().find_root().command, {}, "dmlcheck", VARIABLE).source())
