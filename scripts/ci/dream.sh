#!/bin/bash
# The example of a week with dreams, on a database and a service of its own, with the embeddings model.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
start_database
cargo build --quiet --bin knowhow
database=
finish() {
    [ -z "$database" ] || python3 scripts/dev/pg.py psql -Xq -c "drop database $database with (force)" || true
}
trap finish EXIT
psql=psql
if [ "$DATABASE_URL" != "$TEST_DATABASE_URL" ]; then # the embedded server
    database=knowhow_dream_$$
    psql="python3 $root/scripts/dev/pg.py psql"
    $psql -Xq -c "create database $database"
    DATABASE_URL=${DATABASE_URL%/*}/$database
    KNOWHOW_DATABASE_URL=${KNOWHOW_DATABASE_URL%/*}/$database
fi
KNOWHOW_MODEL_DIR=${KNOWHOW_MODEL_DIR:-$(python3 scripts/dev/model.py)}
export DATABASE_URL KNOWHOW_DATABASE_URL KNOWHOW_MODEL_DIR PYTHONDONTWRITEBYTECODE=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
python3 deploy/examples/dream.py --program "$(target_folder)/debug/knowhow" --psql "$psql"
