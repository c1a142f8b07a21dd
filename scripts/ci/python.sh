#!/bin/bash
# Runs a Python program of scripts/ci after a check of the machine's tools. PROGRAM names a compiled program to use.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
exec python3 "scripts/ci/$1"
