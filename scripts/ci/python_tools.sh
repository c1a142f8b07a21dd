#!/bin/sh
# Puts the Python tools of .ci/run under data/tools/python, once for each list and Python; nothing of the system changes.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

python3 -m pip --version >/dev/null 2>&1 ||
    fail "pip is missing (fetches test tools); install it with: apt-get install -y python3-pip"
folder=data/tools/python
wanted=$(cat scripts/ci/requirements.txt && python3 --version)
[ "$(cat "$folder/.made-for" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder"
# --target, and so no virtual environment to be installed first; pip's talk matters only where it fails.
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0
python3 -m pip install --quiet --target "$folder" -r scripts/ci/requirements.txt >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2 && fail "pip could not fetch the test tools"; }
echo "$wanted" >"$folder/.made-for"
