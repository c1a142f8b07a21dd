#!/bin/bash
# A replica beside the primary: catalogues and exports are read there where it shows what the primary shows, and nobody notices where it
# is behind or away. docs/scaling.md tells an operator what it is for.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
start_database
if [ "$DATABASE_URL" = "$TEST_DATABASE_URL" ]; then
    echo "skipped: a replica is made of the embedded server, and DATABASE_URL names another"
    exit 0
fi
cargo build --quiet --bin knowhow
export PYTHONDONTWRITEBYTECODE=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PYTHONPATH=$root/scripts/dev:$root/scripts/ci/restore
unset TEST_DATABASE_URL KNOWHOW_LOGIN_PASSWORD PORT KNOWHOW_PG_PORT
unset KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN
exec python3 scripts/ci/replica/main.py "$(target_folder)/debug/knowhow"
