#!/bin/bash
# The console in Chromium, with and without JavaScript (run it through with_service.sh). CHROMIUM names another browser.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

find_browser() {
    command -v chromium-headless-shell || command -v chromium || command -v google-chrome
}

if [ -z "${CHROMIUM:-}" ] && ! CHROMIUM=$(find_browser); then
    # Only as root, and only where apt is.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        (apt-get update && apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core) >data/chromium.log 2>&1 || true
    fi
    if ! CHROMIUM=$(find_browser); then
        missing="the console in a browser (no Chromium; install it with: apt-get install -y chromium-headless-shell)"
        # CI must not pass without a browser.
        [ "${CI:-}" != true ] || fail "CI cannot check $missing"
        echo "skipped: $missing"
        exit 0
    fi
fi
scripts/ci/python_tools.sh
export CHROMIUM PYTHONPATH=$root:$root/data/tools/python
exec python3 scripts/ci/console/browser.py
