#!/bin/sh
# make sqlx-prepare: describes every query of the store against the migrations as they are, into the committed .sqlx; with
# --check only says whether the descriptions are current.
set -eu
. "$(dirname "$0")/lib.sh"

check=$([ "${1:-}" != --check ] || echo yes)

check_tools
start_database
if [ "$DATABASE_URL" != "$TEST_DATABASE_URL" ]; then
    # A scratch database: the service that could migrate it does not compile while a query's description is missing.
    psql="python3 -m tools.pg psql -Xq -v ON_ERROR_STOP=1"
    export PGOPTIONS="-c client_min_messages=warning"
    $psql -c "drop database if exists knowhow_sqlx with (force)" \
        -c "create database knowhow_sqlx"
    for migration in migrations/*.sql; do
        PGDATABASE=knowhow_sqlx $psql -1 -f "$migration" >/dev/null
    done
    DATABASE_URL=${DATABASE_URL%/*}/knowhow_sqlx
fi # a given DATABASE_URL is taken as it is, and must be migrated

fresh=$root/data/sqlx
rm -rf "$fresh"
mkdir "$fresh"
# The macros run again only for what is compiled again. A check gives the files their times back afterwards, so that no other
# build takes them for changed.
roots="services/store/src/lib.rs services/store/tests/store/main.rs"
times=$(mktemp -d)
trap 'rm -rf "$times"' EXIT
for file in $roots; do
    touch -r "$file" "$times/$(basename "$file")"
    touch "$file"
done
SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$fresh DATABASE_URL=$DATABASE_URL cargo check --package knowhow-store --tests
if [ "$check" ]; then
    for file in $roots; do
        touch -r "$times/$(basename "$file")" "$file"
    done
fi
count=$(find "$fresh" -name 'query-*.json' | wc -l)
[ "$count" -gt 0 ] || fail "no query was described; .sqlx stays as it was"
if [ "$check" ]; then
    diff -r .sqlx "$fresh" >/dev/null || fail ".sqlx differs from the queries; refresh it with: make sqlx-prepare"
    echo ".sqlx describes all $count queries"
else
    rm -rf .sqlx
    mv "$fresh" .sqlx
    echo ".sqlx describes $count queries"
fi
if [ "${psql:-}" ]; then
    $psql -c "drop database knowhow_sqlx with (force)"
fi
