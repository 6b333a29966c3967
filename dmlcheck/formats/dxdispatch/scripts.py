"""Scripts next to exported models: they run the models where dmlcheck is not, and keep the results."""

from __future__ import annotations

from dmlcheck.formats.dxdispatch.descs import OUTPUTS
from dmlcheck.formats.dxdispatch.form import MODEL

LOG = "printed.txt"  # the output of a script's run of the model, and its exit code
EXIT_CODE = "exit-code.txt"
ABOUT = "about.txt"  # the executable's description of itself, next to the folders of the models

README = f"""\
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
RUN_SH = f"""\
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
# No parenthesis may enclose a variable: a path under "Program Files (x86)" would end it.
RUN_CMD = f"""\
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
