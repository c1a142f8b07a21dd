#!/bin/bash
# A backup, and the way back: a database of several tenants is dumped while it is used, restored on another server and compared
# with what it was; then an older dump is put in place under a running process. docs/backup.md tells an operator the same steps.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

exec_beside_own_servers scripts/ci/restore/main.py
