#!/bin/sh
# make bench-dream: what code finds for dreams before a model is asked (benches/README.md). No database, no service.
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
if [ "${sample:-}" ]; then
    echo "skipped: the labelled pairs of skills are not in the sample of this repository (RECALL_CORPUS names another corpus)"
    exit 0
fi
need cargo "builds the benchmark" "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y"
model=${KNOWHOW_MODEL_DIR:-}
[ -n "$model" ] || model=$(python3 -m tools.model) || model=
[ -n "$model" ] || fail "nothing is measured without the embeddings model (KNOWHOW_MODEL_DIR)"
mkdir -p data
cargo build --quiet --release -p knowhow-bench-recall
"$(target_folder)/release/knowhow-bench-recall" --corpus "$corpus" --starters services/ops/starters --model "$model" \
    --cache data/recall-vectors.bin --dream benches/recall/dream-pairs.tsv --out "${DREAM_OUT:-benches/results/dream.json}"
