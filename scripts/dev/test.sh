#!/bin/sh
# make test: every test of the workspace, against the embedded server's database knowhow_test (or DATABASE_URL).
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
start_database
KNOWHOW_TEST_MODEL_DIR=${KNOWHOW_TEST_MODEL_DIR:-$(python3 -m tools.model)}
KNOWHOW_TEST_REDIS=${KNOWHOW_TEST_REDIS:-$(python3 -m tools.redis_server)}
export KNOWHOW_TEST_MODEL_DIR KNOWHOW_TEST_REDIS
export DATABASE_URL="$TEST_DATABASE_URL" SQLX_OFFLINE=true
# Most tests wait most of the time, for a process, a job or a cut line, and leave the cores to others.
[ "$(getconf _NPROCESSORS_ONLN)" -ge 4 ] || export RUST_TEST_THREADS="${RUST_TEST_THREADS:-4}"
unset KNOWHOW_MODEL_DIR TEST_DATABASE_URL KNOWHOW_DATABASE_URL KNOWHOW_SECRET_KEY KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN KNOWHOW_TENANT_ADMIN_TOKEN
exec cargo test --workspace "$@"
