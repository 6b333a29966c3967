"""Cases as DxDispatch models in a folder, with what runs them elsewhere and what tells them apart afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.dxdispatch import writing
from dmlcheck.formats.dxdispatch.writing import ABOUT, EXIT_CODE, LOG, MODEL, OUTPUTS
from dmlcheck.formats.export_folder import Folder
from dmlcheck.formats.exporting import Exported, each, ready

FORM = "dxdispatch"


def export(cases: Iterable[Case], folder: str) -> list[Exported]:
    """Write a model for each distinct operator, desc and inputs among cases, and say what became of each case.

    OSError when the folder cannot be written, Occupied when it holds something else than an earlier export.
    """
    entries: dict[str, dict[str, Any]] = {}
    with Folder(folder, FORM) as place:
        exported = each(cases, lambda case: _exported(case, place, entries))
        place.write("README.md", _README.encode())
        place.write("run.cmd", _CMD.replace("\n", "\r\n").encode())
        place.write("run.sh", _SH.encode())
        left_out = [{"case": one.case, "reason": one.reason} for one in exported if one.reason is not None]
        place.finish(list(entries.values()), left_out)
    return exported


def _exported(case: Case, place: Folder, entries: dict[str, dict[str, Any]]) -> Exported:
    going = ready(case)
    if isinstance(going, Exported):
        return going
    reason = writing.unsupported(going.desc)
    if reason is not None:
        return Exported(case.id, reason=reason)
    digest = writing.digest_of(going.desc, going.inputs)
    if digest not in entries:
        name = writing.folder_name(going.desc, digest)
        for file, data in writing.model_files(going.desc, going.inputs):
            place.write(f"{name}/{file}", data)
        entries[digest] = _entry(name, digest, going.desc)
    entries[digest]["cases"].append(case.id)
    return Exported(case.id, entries[digest]["folder"])


def _entry(name: str, digest: str, desc: OperatorDesc) -> dict[str, Any]:
    outputs = [
        {"name": output.name, "file": output.file, "type": output.data_type, "sizes": list(output.sizes)}
        for output in writing.outputs_of(desc)
    ]
    return {"folder": name, "digest": digest, "operator": desc.spec.operator, "cases": [], "outputs": outputs}


_README = f"""\
# Cases for DxDispatch

Every folder here has a model of DxDispatch (`{MODEL}`) and its inputs. `manifest.json` says which cases it stands for.

On Windows, with dxdispatch.exe from the releases of https://github.com/microsoft/DirectML:

    run.cmd PATH\\TO\\dxdispatch.exe

Options for DxDispatch may follow, such as `-a Intel` for an adapter. `sh run.sh` does the same where there is no
cmd.exe. In each folder this leaves the outputs (`{OUTPUTS}/`), what was printed (`{LOG}`) and the exit code
(`{EXIT_CODE}`). Where that is not 0 the folder's name is printed.

Bring this folder back, and judge what is in it wherever dmlcheck is:

    dmlcheck run CASES --implementation recorded:THIS_FOLDER
"""

# An earlier run's results go first: a program that dies must not leave them to be taken for its own.
_SH = f"""\
#!/bin/sh
# Run every model here: sh run.sh DXDISPATCH [OPTION]...
if [ "$#" -lt 1 ]; then
  echo "usage: sh run.sh DXDISPATCH [OPTION]..." >&2
  exit 2
fi
case "$1" in
  /*) exe=$1 ;;
  */*) exe=$PWD/$1 ;;
  *) exe=$1 ;;
esac
shift
command -v "$exe" >/dev/null 2>&1 || {{ echo "run.sh: $exe: no such program" >&2; exit 2; }}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
"$exe" --help >"$here/{ABOUT}" 2>&1 </dev/null
for model in "$here"/*/{MODEL}; do
  [ -f "$model" ] || continue
  (
    cd "$(dirname "$model")" || exit
    rm -rf {OUTPUTS} {LOG} {EXIT_CODE}
    mkdir {OUTPUTS}
    "$exe" {MODEL} "$@" >{LOG} 2>&1 </dev/null
    code=$?
    echo "$code" >{EXIT_CODE}
    [ "$code" -eq 0 ] || echo "${{model%/*}}: exit code $code"
  )
done
"""

# No parenthesis may enclose a variable: that of a path under "Program Files (x86)" would end it.
_CMD = f"""\
@echo off
rem Run every model here: run.cmd DXDISPATCH.EXE [OPTION]...
setlocal DisableDelayedExpansion
set "HERE=%~dp0"
set "EXE=%~1"
set OPTIONS=
if "%~1"=="" goto usage
if exist "%~f1" set "EXE=%~f1"
:next
shift /1
if "%~1"=="" goto start
set OPTIONS=%OPTIONS% %1
goto next

:start
if exist "%EXE%" goto run
where /q "%EXE%"
if errorlevel 1 goto missing
:run
"%EXE%" --help > "%HERE%{ABOUT}" 2>&1 < nul
for /d %%D in ("%HERE%*") do if exist "%%~D\\{MODEL}" call :one "%%~D"
exit /b 0

:one
pushd "%~1"
if exist {OUTPUTS} rmdir /s /q {OUTPUTS}
if exist {LOG} del /q {LOG}
if exist {EXIT_CODE} del /q {EXIT_CODE}
mkdir {OUTPUTS}
"%EXE%" {MODEL}%OPTIONS% > {LOG} 2>&1 < nul
set CODE=%ERRORLEVEL%
> {EXIT_CODE} echo %CODE%
if not "%CODE%"=="0" echo %~nx1: exit code %CODE%
popd
exit /b 0

:usage
echo usage: run.cmd DXDISPATCH.EXE [OPTION]... 1>&2
exit /b 2

:missing
echo run.cmd: "%EXE%": no such program 1>&2
exit /b 2
"""
