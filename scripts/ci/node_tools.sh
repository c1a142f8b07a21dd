#!/bin/sh
# Puts the Node.js tools of .ci/run, and the Node.js they need, under data/tools/node, once for each list and machine.
# For other versions, change package.json and write the list of all that they need with
# npm install --package-lock-only --omit-lockfile-registry-resolved
set -eu
. "$(dirname "$0")/../dev/lib.sh"

need npm "fetches test tools" "apt-get install -y npm"
folder=data/tools/node
wanted=$(cat scripts/ci/package.json scripts/ci/package-lock.json && uname -sm)
[ "$(cat "$folder/.made-for" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/bin"
cp scripts/ci/package.json scripts/ci/package-lock.json "$folder"
# No package's own scripts are run; npm's talk (its Node.js is older than these tools want) matters only where it fails.
(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund) >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2 && fail "npm could not fetch the test tools"; }
for program in "$root/$folder"/node_modules/node-*/bin/node; do
    ln -sf "$program" "$folder/bin/node"
done
for program in "$root/$folder"/node_modules/node20-*/bin/node; do
    ln -sf "$program" "$folder/bin/node20"
done
"$folder/bin/node" --version >/dev/null || fail "there is no Node.js among the packages for $(uname -sm)"
echo "$wanted" >"$folder/.made-for"
