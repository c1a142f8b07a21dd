#!/bin/sh
# Puts Debian's promtool under data/tools/promtool and prints where it is; nothing is installed, so no Prometheus starts.
# PROMTOOL names another one, e.g. where there is no apt.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

if [ -n "${PROMTOOL:-}" ] || PROMTOOL=$(command -v promtool); then
    echo "$PROMTOOL"
    exit 0
fi
folder=$root/data/tools/promtool
if ! "$folder/promtool" --version >/dev/null 2>&1; then
    need apt-get "fetches promtool" "a package of Prometheus, and set PROMTOOL to its promtool"
    rm -rf "$folder"
    mkdir -p "$folder/package"
    cd "$folder/package"
    # A new machine has no lists of packages yet, and an old one may name a version that is gone.
    apt-get download prometheus >"$folder/log" 2>&1 ||
        { apt-get update >>"$folder/log" 2>&1 && apt-get download prometheus >>"$folder/log" 2>&1; } ||
        { cat "$folder/log" >&2 && fail "apt-get could not fetch prometheus"; }
    dpkg --fsys-tarfile ./*.deb | tar -x ./usr/bin/promtool
    mv usr/bin/promtool "$folder/promtool"
    cd "$root"
    rm -rf "$folder/package"
    "$folder/promtool" --version >/dev/null || fail "promtool does not run here"
fi
echo "$folder/promtool"
