#!/bin/sh
# make doctor: knowhow doctor with the settings that make run serves with.
set -eu
. "$(dirname "$0")/lib.sh"

[ -f data/pg.env ] || fail "nothing is set up here yet; begin with: make run"
program=$(built_program "${RUN_PROFILE:-quick}")
[ -x "$program" ] || fail "$program is not built yet; begin with: make run"
set -a
. ./data/pg.env
set +a
if [ -z "${KNOWHOW_MODEL_DIR:-}${KNOWHOW_EMBEDDINGS_URL:-}" ] && [ -d data/models/minilm-muse-384 ]; then
    export KNOWHOW_MODEL_DIR=$root/data/models/minilm-muse-384
fi
unset DATABASE_URL TEST_DATABASE_URL
exec "$program" doctor
