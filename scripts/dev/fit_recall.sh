#!/bin/sh
# make fit-recall: fits the weights of recall anew (benches/recall/fit.py) and writes services/domain/src/recall/fitted.rs.
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
need python3 "fits the weights" "apt-get install -y python3"
venv=data/fit-venv
wanted=$(cat benches/recall/requirements.txt && python3 --version)
if [ "$(cat "$venv/.made-for" 2>/dev/null)" != "$wanted" ]; then
    mkdir -p data
    python3 -m venv --clear "$venv" ||
        fail "no virtual environment could be made; install what makes them with: apt-get install -y python3-venv"
    # pip's talk matters only where it fails.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r benches/recall/requirements.txt \
        >"$venv/pip.log" 2>&1 || { cat "$venv/pip.log" >&2 && fail "pip could not fetch numpy and scipy"; }
    echo "$wanted" >"$venv/.made-for"
fi
FEATURES=data/recall-features scripts/dev/bench_recall.sh
[ -d "$corpus/../fieldsets" ] || fail "the weights are not fitted without the public data sets (fieldsets, beside the corpus)"
"$venv/bin/python" benches/recall/fit.py data/recall-features services/domain/src/recall/fitted.rs benches/results/recall-left-out.md
