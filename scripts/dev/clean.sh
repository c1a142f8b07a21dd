#!/bin/sh
# make clean: asks, then stops what this checkout runs and removes ./data. YES=1 answers for scripts.
set -eu
. "$(dirname "$0")/lib.sh"

need python3 "runs the set-up" "apt-get install -y python3"
if [ ! -d data ]; then
    echo "nothing was started here"
    exit 0
fi
if [ "${YES:-}" != 1 ]; then
    [ -t 0 ] || fail "this removes ./data with the database and its secrets for good; to do so without a question: YES=1 make clean"
    printf 'This removes ./data with the database and its secrets for good. Go on? [y/N] '
    read -r answer
    case $answer in
        y | Y | yes) ;;
        *) fail "nothing was removed" ;;
    esac
fi
scripts/dev/stop.sh
python3 -m tools.pg clean
