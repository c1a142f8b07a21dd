#!/bin/bash
# What two linters say of the API's document: nothing.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/node_tools.sh
export PATH=$root/data/tools/node/bin:$PATH REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
modules=$root/data/tools/node/node_modules
work=$(mktemp -d "$root/data/lint.XXXXXX")
trap 'rm -rf "$work"' EXIT

lint() { # its name, its command; a warning counts like an error
    name=$1
    shift
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && fail "$name finds faults in openapi/openapi.json"; }
    if grep -qE '[1-9][0-9]* (warning|problem)' "$work/log"; then
        cat "$work/log" >&2
        fail "$name warns of openapi/openapi.json"
    fi
    echo "$name has nothing to say"
}

lint redocly node "$modules/@redocly/cli/bin/cli.js" lint openapi/openapi.json
# OpenAPI 3.1 lets an operation list roles for any security scheme (Security Requirement Object). The rule that is off knows the
# scopes of OAuth alone; redocly checks that each scheme is defined.
printf 'extends: ["spectral:oas"]\nrules:\n  oas3-operation-security-defined: off\n' >"$work/ruleset.yaml"
lint spectral node "$modules/.bin/spectral" lint openapi/openapi.json --ruleset "$work/ruleset.yaml" --fail-severity hint
