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
