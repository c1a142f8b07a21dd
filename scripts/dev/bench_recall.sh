#!/bin/sh
# make bench-recall: how well and how fast real messages find real skills (docs/recall.md). No database, no service.
# FEATURES=folder writes what the weights are fitted on into that folder instead (fit_recall.sh).
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
need cargo "builds the benchmark" "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y"
features=${FEATURES:-}
model=${KNOWHOW_MODEL_DIR:-}
[ -n "$model" ] || model=$(python3 scripts/dev/model.py) || model=
if [ -z "$model" ]; then
    # Half of the weights are those of meaning.
    [ -z "$features" ] || fail "the weights are not fitted without the embeddings model (KNOWHOW_MODEL_DIR)"
    echo "without the embeddings model: words only" >&2
fi
mkdir -p data
cargo build --quiet --release -p knowhow-bench-recall
set -- --corpus "$corpus" --starters services/ops/starters ${model:+--model "$model"} --cache data/recall-vectors.bin
if [ -n "$features" ]; then
    mkdir -p "$features"
    set -- "$@" --features "$features"
else
    set -- "$@" --out "${RECALL_OUT:-benches/results/recall.json}"
fi
if [ -z "$features" ]; then
    echo "## Worlds that were left out of the fit (make fit-recall)"
    echo
    cat benches/results/recall-left-out.md
fi
"$(target_folder)/release/knowhow-bench-recall" "$@"
