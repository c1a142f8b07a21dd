#!/bin/sh
# Migrations that were released stay as they are: databases have applied them. migrations/released.sha256 lists them; a release
# adds the new ones with --release. Without a release the list is empty, and every migration may still change.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

list=released.sha256
cd migrations
if [ "${1:-}" = "--release" ]; then
    sha256sum --check --quiet "$list" || fail "a released migration was changed; add another one instead"
    sha256sum ./*.sql >"$list"
    echo "migrations/$list lists $(wc -l <"$list") migrations; commit it with the release"
    exit 0
fi
if [ -s "$list" ]; then
    sha256sum --check --quiet "$list" || fail "a released migration was changed; restore it, and add another one instead"
fi
tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
for file in $([ -z "$tag" ] || git ls-tree --name-only "$tag" ./ | grep '\.sql$'); do
    grep -q " \./$file\$" "$list" || fail "$tag released $file, which migrations/$list does not list: scripts/ci/migrations.sh --release"
done
echo "$(wc -l <"$list") released migrations are as they were${tag:+ at $tag}"
