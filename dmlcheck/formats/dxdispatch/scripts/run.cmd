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
"%EXE%" --help > "%HERE%@ABOUT@" 2>&1 < nul
for /d %%D in ("%HERE%*") do if exist "%%~D\@MODEL@" call :one "%%~D"
exit /b 0

:one
pushd "%~1"
if exist @OUTPUTS@ rmdir /s /q @OUTPUTS@
if exist @LOG@ del /q @LOG@
if exist @EXIT_CODE@ del /q @EXIT_CODE@
mkdir @OUTPUTS@
"%EXE%" @MODEL@%OPTIONS% > @LOG@ 2>&1 < nul
set CODE=%ERRORLEVEL%
> @EXIT_CODE@ echo %CODE%
if not "%CODE%"=="0" echo %~nx1: exit code %CODE%
popd
exit /b 0

:usage
echo usage: run.cmd DXDISPATCH.EXE [OPTION]... 1>&2
exit /b 2

:missing
echo run.cmd: "%EXE%": no such program 1>&2
exit /b 2
