#!/bin/bash
# make run as a user does it (in the dev profile, on a free port): twice, data/dev.env in a script, and a clean end.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
PORT=$(free_port)
export PORT RUN_PROFILE=dev
mkdir -p data
log=$root/data/smoke.log
kept=$root/data/smoke.env
service=
if [ -f data/dev.env ]; then cp -p data/dev.env "$kept"; fi

finish() {
    [ -z "$service" ] || kill -KILL "$service" 2>/dev/null || true
    if [ -f "$kept" ]; then mv "$kept" data/dev.env; fi
    rm -f "$log" "data/serve-$PORT.pid"
}
trap finish EXIT

refused=$(PORT=70000 scripts/dev/run.sh 2>&1) && fail "make run took PORT=70000"
[ "$refused" = "error: PORT must be a number from 1 to 65535, is '70000'" ] || fail "PORT=70000 is not told: $refused"

scripts/dev/run.sh >"$log" 2>&1 &
service=$!
for _ in $(seq 300); do
    [ "$(http_status "http://127.0.0.1:$PORT/healthz")" != 200 ] || break
    kill -0 "$service" 2>/dev/null || { cat "$log" >&2 && fail "make run ended"; }
    sleep 1
done
for _ in $(seq 50); do # the banner comes once the port answers
    ! grep -q "Knowhow *serves http" "$log" || break
    sleep 0.2
done
grep -q "Knowhow *serves http://127.0.0.1:$PORT" "$log" || { cat "$log" >&2 && fail "make run has shown no banner"; }
! grep -q DATABASE_URL data/dev.env || fail "data/dev.env names the database, which another checkout would take"
. ./data/dev.env
[ "$(command -v knowhow)" = "$(built_program dev)" ] || fail "data/dev.env does not make knowhow a command"
first_key=$KNOWHOW_API_KEY
knowhow config >/dev/null || fail "the variables of data/dev.env are no settings and not ignored"
curl="curl --silent --show-error --fail --noproxy * --output /dev/null"
set -f
$curl -H "Authorization: Bearer $KNOWHOW_TOKEN" "$KNOWHOW_URL/v1/skills"
$curl -H "Authorization: Bearer $KNOWHOW_API_KEY" -H "Knowhow-User: demo-user" "$KNOWHOW_URL/v1/skills"
set +f
scripts/dev/doctor.sh | grep "settings are correct" || { scripts/dev/doctor.sh && fail "make doctor finds something wrong"; }
kept_data=$(ls data)
asked=$(YES= scripts/dev/clean.sh </dev/null 2>&1) && fail "make clean went on without an answer"
[[ $asked == *"YES=1 make clean"* ]] || fail "make clean did not ask: $asked"
[ "$(ls data)" = "$kept_data" ] || fail "make clean removed something without an answer"
scripts/dev/run.sh | grep "is already served at http://127.0.0.1:$PORT"
stopped=0
kill -TERM "$service"
wait "$service" || stopped=$?
service=
[ "$stopped" = 0 ] || { tail -n 50 "$log" >&2 && fail "make run stopped with exit code $stopped"; }

scripts/dev/run.sh >"$log" 2>&1 &
service=$!
for _ in $(seq 60); do
    [ "$(http_status "http://127.0.0.1:$PORT/healthz")" != 200 ] || break
    sleep 0.5
done
. ./data/dev.env
[ "$KNOWHOW_API_KEY" = "$first_key" ] || fail "the API key changed with the second run"
kill -TERM "$service"
wait "$service" || fail "make run did not stop cleanly the second time"
service=
echo "make run serves, twice, with the same key, and stops cleanly"
