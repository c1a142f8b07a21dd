#!/bin/sh
# make fit-model: computes the means and the matrix of the default model (benches/model/fit.py), writes
# services/encoder/data/join.f16 and prints the shares of docs/model.md. If the file changes, give the vectors another name
# (`Encoder::name`): vectors of the same name are compared.
set -eu
. "$(dirname "$0")/lib.sh"

need_corpus
need_fieldsets
model=$(python3 scripts/dev/model.py)
venv=data/model-venv
make_venv "$venv" benches/model/requirements.txt
OPENBLAS_NUM_THREADS=1 "$venv/bin/python" benches/model/fit.py "$corpus" "$fieldsets" "$model" data/model-vectors.sqlite \
    services/encoder/data/join.f16
