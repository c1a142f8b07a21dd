#!/bin/sh
# make openapi: writes openapi/openapi.json and openapi/mcp-tools.json from the code; with --check only says whether
# they are current.
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
mkdir -p data
fresh=data/openapi.json
trap 'rm -f "$fresh"' EXIT

document() { # its file, what makes the program print it
    file=$1
    shift
    cargo run --quiet --bin knowhow -- openapi "$@" >"$fresh"
    if [ "$check" ]; then
        diff -u "$file" "$fresh" || fail "$file differs from the code; refresh it with: make openapi"
        echo "$file is current"
    else
        cp "$fresh" "$file"
        echo "wrote $file"
    fi
}

check=$([ "${1:-}" != --check ] || echo yes)
document openapi/openapi.json
document openapi/mcp-tools.json --mcp

# Names that no skill may have: the fixed segments below /v1/skills/.
reserved=services/domain/src/skills/name/reserved.rs
fresh=data/reserved.rs
python3 scripts/dev/reserved_names.py openapi/openapi.json >"$fresh"
if [ "$check" ]; then
    diff -u "$reserved" "$fresh" || fail "$reserved differs from the routes; refresh it with: make openapi"
else
    cp "$fresh" "$reserved"
fi
