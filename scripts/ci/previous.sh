#!/bin/bash
# While a release is rolled out, the program of the release before serves on the new schema. So it is built here, and the commands of its own
# README and tour are pasted against it, on a database that this checkout has migrated. Without a release (a tag v*) there is
# nothing to try; PREVIOUS=<commit> names another one.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

previous=${PREVIOUS:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$previous" ]; then
    echo "there is no release yet, whose program would serve on this schema"
    exit
fi
commit=$(git rev-parse --verify --quiet "$previous^{commit}") || fail "there is no commit $previous"
tree=$root/data/previous programs=$root/data/previous-bin
finish() {
    git worktree remove --force "$tree"
    rm -rf "$programs"
}
git worktree add --quiet --force --detach "$tree" "$commit"
trap finish EXIT
mkdir -p "$programs"
cp "$(build_beside "$tree" dev)" "$programs/knowhow"
KNOWHOW_MODEL_DIR=$(python3 -m tools.model) # the tour asks for what words do not find
export KNOWHOW_MODEL_DIR
KNOWHOW_SERVING_PROGRAM=$programs/knowhow scripts/ci/with_service.sh python3 "$tree/scripts/ci/readme.py"
echo "the program of $previous serves on this schema"
