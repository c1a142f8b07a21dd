#!/bin/sh
# make doctor: knowhow doctor with the settings that make run serves with.
set -eu
. "$(dirname "$0")/lib.sh"

[ -f data/pg.env ] || fail "nothing is set up here yet; begin with: make run"
[ -f data/dev.env ] || fail "make run has not served here yet"
program=$(. ./data/dev.env && command -v knowhow) || fail "the program is gone; begin with: make run"
set -a
. ./data/pg.env
set +a
if [ -z "${KNOWHOW_MODEL_DIR:-}${KNOWHOW_EMBEDDINGS_URL:-}" ] && [ -d data/models/minilm-muse-384 ]; then
    export KNOWHOW_MODEL_DIR=$root/data/models/minilm-muse-384
fi
unset DATABASE_URL TEST_DATABASE_URL
exec "$program" doctor
