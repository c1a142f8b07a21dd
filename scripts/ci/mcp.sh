#!/bin/bash
# The MCP face of a served instance (run it through with_service.sh) before the official tools: conformance suite,
# inspector, a client of each revision. On skills made by hand and some of the sample skills.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/python_tools.sh
scripts/ci/node_tools.sh
export PYTHONPATH=$root:$root/data/tools/python NODE_PATH=$root/data/tools/node/node_modules

import_folder() {
    "$KNOWHOW_PROGRAM" import "$1" --url "$KNOWHOW_URL" --token "$KNOWHOW_TOKEN" >"$KNOWHOW_WORK/import.log" 2>&1
}

python3 scripts/ci/mcp/seed.py "$KNOWHOW_WORK/made"
import_folder "$KNOWHOW_WORK/made" ||
    { cat "$KNOWHOW_WORK/import.log" >&2 && fail "the skills made by hand are not all imported"; }
python3 scripts/ci/skills.py unpack "$(python3 -m tools.corpus)/sample-skills.tar.zst" "$KNOWHOW_WORK/samples"
python3 scripts/ci/mcp/seed.py "$KNOWHOW_WORK/chosen" --samples "$KNOWHOW_WORK/samples"
import_folder "$KNOWHOW_WORK/chosen" || tail -n 20 "$KNOWHOW_WORK/import.log" # says which are no valid skills

outcome=0
# Neither changes a skill; the clients do.
python3 scripts/ci/mcp/conformance.py &
conformance=$!
python3 scripts/ci/mcp/inspector.py || outcome=1
wait $conformance || outcome=1
python3 scripts/ci/mcp/client.py || outcome=1
data/tools/node/bin/node scripts/ci/mcp/older_client.js || outcome=1
exit $outcome
