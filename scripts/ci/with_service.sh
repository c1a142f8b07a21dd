#!/bin/bash
# Runs a command against an own instance of the service: free port, fresh database, demo tenant. Ends it by its pid and
# holds it to a clean shutdown. The command finds KNOWHOW_URL, KNOWHOW_TOKEN, KNOWHOW_API_KEY and KNOWHOW_ADMIN_TOKEN.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

# A test sends as fast as it can, and mostly as one user.
lift_rates() {
    for of in TENANT USER KEY ANONYMOUS; do
        export "KNOWHOW_${of}_REQUESTS_PER_SECOND=0"
    done
}

check_tools
start_database
cargo build --quiet --bin knowhow
program=$(target_folder)/debug/knowhow
# Another program that serves on the schema of this one.
serving=${KNOWHOW_SERVING_PROGRAM:-$program}
unset KNOWHOW_SERVING_PROGRAM
work=$(mktemp -d "$root/data/ci.XXXXXX")
database=
service=

finish() {
    [ -z "$service" ] || kill -KILL "$service" 2>/dev/null || true
    [ -z "$database" ] || python3 scripts/dev/pg.py psql -Xq -c "drop database $database with (force)" || true
    rm -rf "$work"
}
trap finish EXIT

if [ "$DATABASE_URL" != "$TEST_DATABASE_URL" ]; then # the embedded server
    database=knowhow_ci_$$
    python3 scripts/dev/pg.py psql -Xq -c "create database $database"
    DATABASE_URL=${DATABASE_URL%/*}/$database
    KNOWHOW_DATABASE_URL=${KNOWHOW_DATABASE_URL%/*}/$database
fi
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
unset TEST_DATABASE_URL KNOWHOW_LOGIN_PASSWORD PORT
unset KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN
"$program" migrate
unset DATABASE_URL
# Through a pooler, where one is given.
[ -z "${KNOWHOW_TEST_DATABASE_PORT:-}" ] || KNOWHOW_DATABASE_URL=$(at_port "$KNOWHOW_DATABASE_URL" "$KNOWHOW_TEST_DATABASE_PORT")
unset KNOWHOW_TEST_DATABASE_PORT
"$program" seed-demo | grep '^KNOWHOW_[A-Z_]*=' >"$work/seed"
port=$(free_port)
lift_rates
KNOWHOW_PORT=$port KNOWHOW_LOG_FORMAT=json "$serving" serve >"$work/log" 2>&1 &
service=$!

unset KNOWHOW_DATABASE_URL KNOWHOW_SECRET_KEY
for _ in $(seq 60); do
    [ "$(http_status "http://127.0.0.1:$port/readyz")" != 200 ] || break
    kill -0 "$service" 2>/dev/null || break
    sleep 0.5
done
if [ "$(http_status "http://127.0.0.1:$port/readyz")" != 200 ]; then
    cat "$work/log" >&2
    fail "the service did not become ready"
fi

set -a
. "$work/seed"
KNOWHOW_URL=http://127.0.0.1:$port
KNOWHOW_PROGRAM=$serving
KNOWHOW_WORK=$work
set +a
outcome=0
"$@" || outcome=$?

kill -0 "$service" 2>/dev/null || { tail -n 50 "$work/log" >&2 && fail "the service died while it was used"; }
kill -TERM "$service"
for _ in $(seq 60); do
    kill -0 "$service" 2>/dev/null || break
    sleep 0.5
done
if kill -0 "$service" 2>/dev/null; then
    tail -n 50 "$work/log" >&2
    fail "the service did not stop within 30 s of SIGTERM"
fi
stopped=0
wait "$service" || stopped=$?
service=
[ "$stopped" = 0 ] || { tail -n 50 "$work/log" >&2 && fail "the service stopped with exit code $stopped"; }
if grep '"level":"ERROR"' "$work/log" >&2; then
    fail "the service logged errors"
fi
echo "the service stopped cleanly"
exit "$outcome"
