#!/bin/bash
# What watches the service: promtool reads the rules and tries each alert both ways; dashboards, runbook, collector and
# deploy/compose.yaml are held against each other, without an engine.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/chart_tools.sh
PROMTOOL=$(scripts/ci/promtool.sh)
export PROMTOOL
cd deploy/observability
"$PROMTOOL" check rules rules/*.yaml
"$PROMTOOL" check config --syntax-only prometheus.yaml
"$PROMTOOL" test rules tests/*.yaml
cd "$root"
PYTHONPATH=$root/data/tools/chart/python python3 -m pytest -q -p no:cacheprovider deploy/tests
