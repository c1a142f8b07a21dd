#!/bin/bash
# The examples' client behind a failing proxy, and the example workers before a served instance (run it through
# with_service.sh): they end with an error where sessions and turns are not as documented.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

python3 scripts/ci/examples_client.py
for worker in sms voice; do
    python3 "deploy/examples/${worker}_worker.py" --script "deploy/examples/$worker.tsv" ||
        fail "the $worker worker was not served as promised"
done
