#!/bin/bash
# A replica beside the primary: catalogues and exports are read there where it shows what the primary shows, and nobody notices where it
# is behind or away. docs/operations.md tells an operator what it is for.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

exec_beside_own_servers scripts/ci/replica/main.py
