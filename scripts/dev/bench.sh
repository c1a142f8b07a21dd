#!/bin/sh
# make bench: knowhow bench against what make run serves.
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
[ -f data/dev.env ] || fail "nothing is served yet; start it in another terminal with: make run"
. ./data/dev.env
[ "$(http_status "$KNOWHOW_URL/healthz")" = 200 ] ||
    fail "$KNOWHOW_URL does not answer; start it in another terminal with: make run"
cargo build --quiet --release --bin knowhow
exec "$(target_folder)/release/knowhow" bench --url "$KNOWHOW_URL" --token "$KNOWHOW_TOKEN" "$@"
