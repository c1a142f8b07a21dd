#!/bin/sh
# make fit-model: computes the means and the matrix of the default model and of every-language (benches/model/fit.py), writes
# services/encoder/data/join.f16 and join-e5.f16, and prints the shares of docs/operators/model.md. If a file changes, give its vectors
# another name (join.rs): vectors of the same name are compared.
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
need_fieldsets
model=$(python3 -m tools.model)
venv=data/model-venv
make_venv "$venv" benches/model/requirements.txt
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
fit() {
    "$venv/bin/python" benches/model/fit.py "$corpus" "$fieldsets" "$model" data/model-vectors.sqlite "$1" "$2"
}
fit minilm services/encoder/data/join.f16
fit e5 services/encoder/data/join-e5.f16
