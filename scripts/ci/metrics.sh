#!/bin/bash
# Metrics of a live process as promtool reads them: names, units, help and labels. Run by with_service.sh with
# KNOWHOW_METRICS_BIND set, whose port it reads from the log.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

promtool=$(scripts/ci/promtool.sh)
auth="Authorization: Bearer $KNOWHOW_TOKEN"
for path in /v1/skills /v1/snapshot /v1/skills/no-such-skill; do
    curl -s -o /dev/null -H "$auth" "$KNOWHOW_URL$path"
done
json="Content-Type: application/json"
session=$(curl -sf -H "$auth" -H "$json" "$KNOWHOW_URL/v1/sessions" -d '{}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
curl -sf -o /dev/null -H "$auth" -H "$json" "$KNOWHOW_URL/v1/sessions/$session/turns" -d '{"message": "what can you do for me?"}'
address=$(sed -n 's/.*"metrics":"\([^"]*\)".*/\1/p' "$KNOWHOW_WORK/log")
curl -sf "http://$address/readyz" >/dev/null
curl -sf "http://$address/metrics" >"$KNOWHOW_WORK/metrics"
PROMTOOL=$promtool python3 scripts/ci/metrics.py - <"$KNOWHOW_WORK/metrics"
# What the service says that it measures, it does; some begin with the first job or question to a model.
"$KNOWHOW_PROGRAM" metrics | sed -n 's/^| `\([a-z_]*\)` | \(counter\|gauge\|histogram\) .*/\1 \2/p' | sort >"$KNOWHOW_WORK/described"
sed -n 's/^# TYPE //p' "$KNOWHOW_WORK/metrics" | sort >"$KNOWHOW_WORK/served"
unknown=$(comm -13 "$KNOWHOW_WORK/described" "$KNOWHOW_WORK/served")
[ -z "$unknown" ] || fail "metrics that docs/reference/metrics.md does not have: $unknown"
echo "$(wc -l <"$KNOWHOW_WORK/served") metrics are as promtool wants them"
