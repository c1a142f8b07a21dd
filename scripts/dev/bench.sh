#!/bin/sh
# make bench: measures a release build beside pgbench, on its own database and port (benches/README.md). With --base COMMIT
# it builds that commit too, and measures both in turns.
set -eu
. "$(dirname "$0")/lib.sh"

base_of() { # the value of --base among the arguments
    while [ $# -gt 0 ]; do
        case $1 in
            --base) echo "${2:-}" && return ;;
            --base=*) echo "${1#--base=}" && return ;;
        esac
        shift
    done
}

# Builds a commit in a worktree of its own; prints the program's path.
build_base() { # commit
    commit=$(git rev-parse --verify --quiet "$1^{commit}") || fail "there is no commit $1"
    program=$root/data/bench-base/knowhow-$commit
    if [ ! -x "$program" ]; then
        tree=$root/data/bench-base/tree-$commit
        git worktree add --quiet --force --detach "$tree" "$commit"
        trap 'git worktree remove --force "$tree"' EXIT
        cp "$(build_beside "$tree" release)" "$program"
    fi
    git show "$commit:benches/sql/copy.sql" >"$program.copy.sql" # users are copied as its schema has them
    echo "$program"
}

check_tools
need wrk "makes the HTTP load" "apt-get install -y wrk"
start_database
KNOWHOW_MODEL_DIR=${KNOWHOW_MODEL_DIR:-$(python3 -m tools.model)} ||
    echo "without the embeddings model: turns are measured by words only" >&2
export KNOWHOW_MODEL_DIR
base=$(base_of "$@")
if [ -n "$base" ]; then
    mkdir -p data/bench-base
    base_program=$(build_base "$base")
    set -- "$@" --base-program "$base_program"
fi
exec python3 benches/run.py --program "$(built_program release)" "$@"
