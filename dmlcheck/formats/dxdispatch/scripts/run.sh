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
command -v "$exe" >/dev/null 2>&1 || { echo "run.sh: $exe: no such program" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) || exit 2
"$exe" --help >"$here/@ABOUT@" 2>&1 </dev/null
for model in "$here"/*/@MODEL@; do
  [ -f "$model" ] || continue
  (
    cd "$(dirname "$model")" || exit
    rm -rf @OUTPUTS@ @LOG@ @EXIT_CODE@
    mkdir @OUTPUTS@
    "$exe" @MODEL@ "$@" >@LOG@ 2>&1 </dev/null
    code=$?
    echo "$code" >@EXIT_CODE@
    [ "$code" -eq 0 ] || echo "${model%/*}: exit code $code"
  )
done
