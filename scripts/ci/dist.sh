#!/bin/bash
# Builds the artefacts of make dist and tries each of them. DIST_PROFILE names the profile of Cargo; dev needs no other build.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

# What builds packages, where root may install it.
if [ "$(id -u)" = 0 ] && ! (command -v dh && command -v umoci && command -v minisign) >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debhelper umoci minisign binutils >/dev/null
fi
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT
minisign -G -W -p "$keys/public" -s "$keys/secret" >/dev/null
DIST_PROFILE=${DIST_PROFILE:-dev} MINISIGN_KEY=$keys/secret scripts/dist/dist.sh
minisign -V -q -p "$keys/public" -m dist/SHA256SUMS
(cd dist && sha256sum --quiet -c SHA256SUMS)
for trial in launchers image deb; do
    python3 scripts/ci/dist/$trial.py
done
