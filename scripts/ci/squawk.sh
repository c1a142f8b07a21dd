#!/bin/sh
# What a migration would do to a service that is being served (squawk).
set -eu
. "$(dirname "$0")/../dev/lib.sh"

version=2.70.0
folder=$root/data/tools/squawk-$version
if [ ! -x "$folder/bin/squawk" ]; then
    mkdir -p "$root/data/tools"
    python3 -m pip install --quiet --no-deps --target "$folder" "squawk-cli==$version" >"$folder.log" 2>&1 ||
        { cat "$folder.log" >&2 && fail "pip could not fetch squawk-cli (reads migrations)"; }
fi
scripts/ci/squawk.py "$folder/bin/squawk"
