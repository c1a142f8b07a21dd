#!/bin/bash
# Runs a command against a service of its own (tools/with_service.py). PROGRAM names a compiled program to use.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
exec python3 -m tools.with_service "$@"
