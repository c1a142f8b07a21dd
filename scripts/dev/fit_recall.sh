#!/bin/sh
# make fit-recall: fits the weights of recall anew (benches/recall/fit.py), writes services/domain/src/recall/fitted.rs and
# benches/results/recall-left-out.md.
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
need_fieldsets
venv=data/fit-venv
make_venv "$venv" benches/recall/requirements.txt
FEATURES=data/recall-features scripts/dev/bench_recall.sh
"$venv/bin/python" benches/recall/fit.py data/recall-features services/domain/src/recall/fitted.rs benches/results/recall-left-out.md
