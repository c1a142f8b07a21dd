#!/bin/sh
# make bench-recall: how well and how fast real messages find real skills (docs/internals/recall-fit.md). No database, no service.
# KNOWHOW_MODEL=every-language measures that model. FEATURES=folder writes what the weights are fitted on into that folder
# instead (fit_recall.sh).
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
need cargo "builds the benchmark" "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y"
features=${FEATURES:-}
model=${KNOWHOW_MODEL_DIR:-}
[ -n "$model" ] || model=$(python3 -m tools.model "${KNOWHOW_MODEL:-default}") || model=
if [ -z "$model" ]; then
    # Half of the weights are those of meaning.
    [ -z "$features" ] || fail "the weights are not fitted without the embeddings model (KNOWHOW_MODEL_DIR)"
    echo "without the embeddings model: words only" >&2
fi
[ "${KNOWHOW_MODEL:-}" != every-language ] || every_language=--every-language
mkdir -p data
cargo build --quiet --release -p knowhow-bench-recall
set -- --corpus "$corpus" --starters services/ops/starters ${model:+--model "$model"} ${every_language:-} --cache data/recall-vectors.bin
if [ -n "$features" ]; then
    mkdir -p "$features"
    set -- "$@" --features "$features"
else
    # Figures of the sample do not replace those of the whole corpus.
    set -- "$@" --out "${RECALL_OUT:-$([ "${sample:-}" ] && echo data || echo benches/results)/recall.json}"
fi
if [ -z "$features" ]; then
    echo "## Worlds that were left out of the fit (make fit-recall)"
    echo
    cat benches/results/recall-left-out.md
fi
"$(target_folder)/release/knowhow-bench-recall" "$@"
