#!/bin/sh
# make bench-recall: how well and how fast real messages find real skills (docs/recall.md). No database, no service.
set -eu
. "$(dirname "$0")/lib.sh"

corpus=${RECALL_CORPUS:-$root/../shared/corpus}
if [ ! -f "$corpus/skills.jsonl.zst" ]; then
    echo "skipped: there are no skills and messages at $corpus (RECALL_CORPUS names another folder)"
    exit 0
fi
need cargo "builds the benchmark" "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y"
model=${KNOWHOW_MODEL_DIR:-}
[ -n "$model" ] || model=$(python3 scripts/dev/model.py) || model=
[ -n "$model" ] || echo "without the embeddings model: words only" >&2
mkdir -p data
cargo build --quiet --release -p knowhow-bench-recall
"$(target_folder)/release/knowhow-bench-recall" --corpus "$corpus" ${model:+--model "$model"} \
    --cache data/recall-vectors.bin --out "${RECALL_OUT:-benches/results/recall.json}"
