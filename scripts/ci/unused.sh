#!/bin/sh
# No crate names a dependency that it does not use; builds cargo-machete into data/tools where it is not installed.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

version=0.9.2
is_there() {
    [ "$(cargo-machete --version 2>/dev/null)" = "$version" ]
}

is_there || PATH=$root/data/tools/bin:$PATH
if ! is_there; then
    mkdir -p data/tools
    cargo install "cargo-machete@$version" --quiet --locked --debug --config profile.dev.debug=false \
        --root data/tools --target-dir data/tools/build
    rm -rf data/tools/build
fi
cargo-machete --with-metadata services benches
