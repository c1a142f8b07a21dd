#!/bin/sh
# make fit-model: computes the means and the matrix of the default model (benches/model/fit.py), writes
# services/encoder/data/join.f16 and prints the shares of docs/model.md.
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
fieldsets=${RECALL_FIELDSETS:-$root/../shared/fieldsets}
[ -d "$fieldsets" ] || { echo "skipped: there are no sets at $fieldsets (RECALL_FIELDSETS names another folder)" && exit 0; }
need python3 "computes the constants" "apt-get install -y python3"
model=$(python3 scripts/dev/model.py)
venv=data/model-venv
wanted=$(cat benches/model/requirements.txt && python3 --version)
if [ "$(cat "$venv/.made-for" 2>/dev/null)" != "$wanted" ]; then
    mkdir -p data
    python3 -m venv --clear "$venv" ||
        fail "no virtual environment could be made; install what makes them with: apt-get install -y python3-venv"
    # pip's talk matters only where it fails.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r benches/model/requirements.txt \
        >"$venv/pip.log" 2>&1 || { cat "$venv/pip.log" >&2 && fail "pip could not fetch the packages of benches/model"; }
    echo "$wanted" >"$venv/.made-for"
fi
OPENBLAS_NUM_THREADS=1 "$venv/bin/python" benches/model/fit.py "$corpus" "$fieldsets" "$model" data/model-vectors.sqlite \
    services/encoder/data/join.f16
