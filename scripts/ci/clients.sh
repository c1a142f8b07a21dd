#!/bin/bash
# Clients that three generators make of the API's document: none of them warns, and what they make imports, reads, exports
# and deletes skills at a served instance (run it through with_service.sh).
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/python_tools.sh
scripts/ci/node_tools.sh
export PATH=$root/data/tools/node/bin:$PATH
modules=$root/data/tools/node/node_modules
cp scripts/ci/clients/* "$KNOWHOW_WORK"
cd "$KNOWHOW_WORK"
"$KNOWHOW_PROGRAM" openapi >openapi.json
python3 zips.py . client-python client-fetch client-hey
ln -s "$modules" node_modules

generate() { # what it is called, its command: it succeeds and has nothing to warn of
    name=$1
    shift
    "$@" >"$name.log" 2>&1 || { cat "$name.log" >&2 && fail "$name makes no client of the document"; }
    if grep -qiE 'warn|error|skip|unable|unsupported' "$name.log"; then
        cat "$name.log" >&2
        fail "$name warns of the document"
    fi
}

# Its own formatting of what it made wants a program that is not needed to use it.
printf 'post_hooks: []\n' >python.yaml
PYTHONPATH=$root/data/tools/python generate openapi-python-client python3 -m openapi_python_client generate \
    --path openapi.json --config python.yaml --meta none --output-path knowhow_client
PYTHONPATH=$root/data/tools/python:$PWD python3 round_trip.py

generate openapi-typescript node "$modules/openapi-typescript/bin/cli.js" openapi.json --output schema.ts
generate openapi-ts node "$modules/@hey-api/openapi-ts/bin/run.js" --input openapi.json --output hey
node "$modules/typescript/bin/tsc" --project tsconfig.json || fail "the generated clients do not compile"
node out/openapi_fetch.js
node out/hey_api.js
"$root/scripts/ci/clients_typescript.sh"
