#!/bin/bash
# Property tests against a served instance (run it through with_service.sh), from the document that the instance serves.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/python_tools.sh
export PYTHONPATH=$root/data/tools/python
cd "$KNOWHOW_WORK" # its caches and reports belong to this run
python3 "$PYTHONPATH/bin/schemathesis" --config-file "$root/scripts/ci/schemathesis.toml" \
    run "$KNOWHOW_URL/openapi.json" --checks all --no-color "$@"
