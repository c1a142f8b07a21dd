#!/bin/bash
# A backup, and the way back: a database of several tenants is dumped while it is used, restored on another server and compared
# with what it was; then an older dump is put in place under a running process. docs/backup.md tells an operator the same steps.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
start_database
if [ "$DATABASE_URL" = "$TEST_DATABASE_URL" ]; then
    echo "skipped: a second server is made of the embedded one, and DATABASE_URL names another"
    exit 0
fi
cargo build --quiet --bin knowhow
export PYTHONDONTWRITEBYTECODE=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PYTHONPATH=$root/scripts/dev
unset TEST_DATABASE_URL KNOWHOW_LOGIN_PASSWORD PORT KNOWHOW_PG_PORT
unset KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN
exec python3 scripts/ci/restore/main.py "$(target_folder)/debug/knowhow"
