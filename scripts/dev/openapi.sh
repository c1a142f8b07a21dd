#!/bin/sh
# make openapi: writes openapi/openapi.json from the code; with --check only says whether it is current.
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
mkdir -p data
fresh=data/openapi.json
trap 'rm -f "$fresh"' EXIT
cargo run --quiet --bin knowhow -- openapi >"$fresh"
if [ "${1:-}" = --check ]; then
    diff -u openapi/openapi.json "$fresh" || fail "openapi/openapi.json differs from the code; refresh it with: make openapi"
    echo "openapi/openapi.json is current"
else
    cp "$fresh" openapi/openapi.json
    echo "wrote openapi/openapi.json"
fi
