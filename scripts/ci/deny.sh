#!/bin/sh
# The dependency rules of deny.toml; builds cargo-deny into data/tools where it is not installed (about a minute).
set -eu
. "$(dirname "$0")/../dev/lib.sh"

version=0.20.2
is_there() {
    [ "$(cargo-deny --version 2>/dev/null)" = "cargo-deny $version" ]
}

is_there || PATH=$root/data/tools/bin:$PATH
if ! is_there; then
    need cc "compiles cargo-deny" "apt-get install -y gcc libc6-dev"
    mkdir -p data/tools
    # An unoptimised build is made in a fraction of the time, and checks this tree in two seconds.
    cargo install "cargo-deny@$version" --quiet --locked --debug --config profile.dev.debug=false \
        --root data/tools --target-dir data/tools/build
    rm -rf data/tools/build
fi
# Advisories need a database that may be out of reach: cargo deny check advisories
cargo-deny check bans licenses sources
