#!/bin/sh
# make test-faults, test-overload, test-soak, test-migration: what is promised of a deployment that goes wrong, tried on a Postgres,
# a service and a worker of its own (benches/prove.py, docs/operators/reliability.md). PROFILE=release takes longer to build, and gives the
# figures of the image.
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
python3 -m tools.pg start >/dev/null # for its programs; no test touches this server
KNOWHOW_MODEL_DIR=${KNOWHOW_MODEL_DIR:-$(python3 -m tools.model)} ||
    echo "without the embeddings model: the worker has less to do" >&2
export KNOWHOW_MODEL_DIR
mode=$1
shift
exec python3 benches/prove.py "$mode" --program "$(built_program "${PROFILE:-quick}")" "$@"
