#!/bin/bash
# Several places: tenants at two servers, one of them moved while all are used, killed at each step; a move that is given up; a
# place that is away. docs/places.md tells an operator the same steps.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

exec_beside_own_servers scripts/ci/places/main.py
