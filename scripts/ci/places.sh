#!/bin/bash
# Several places: tenants at two servers, one of them moved while all are used, killed at each step; a move that is given up; a
# place that is away. docs/scaling.md tells an operator the same steps.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
start_database
if [ "$DATABASE_URL" = "$TEST_DATABASE_URL" ]; then
    echo "skipped: the servers are made of the embedded one, and DATABASE_URL names another"
    exit 0
fi
cargo build --quiet --bin knowhow
export PYTHONDONTWRITEBYTECODE=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PYTHONPATH=$root/scripts/dev:$root/scripts/ci/restore
unset TEST_DATABASE_URL KNOWHOW_LOGIN_PASSWORD PORT KNOWHOW_PG_PORT
unset KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN
exec python3 scripts/ci/places/main.py "$(target_folder)/debug/knowhow"
