#!/bin/sh
# make bench: measures a release build beside pgbench, on its own database and port (benches/README.md).
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
need wrk "makes the HTTP load" "apt-get install -y wrk"
start_database
KNOWHOW_MODEL_DIR=${KNOWHOW_MODEL_DIR:-$(python3 scripts/dev/model.py)} ||
    echo "without the embeddings model: turns are measured by words only" >&2
export KNOWHOW_MODEL_DIR
cargo build --quiet --release --bin knowhow
exec python3 benches/run.py --program "$(target_folder)/release/knowhow" "$@"
