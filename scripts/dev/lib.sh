# Shared by the scripts here (sourced, not run): the checkout's root, tools by name, data/pg.env. Python programs find the package `tools`.

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
[ -d "${HOME:-/nonexistent}/.cargo/bin" ] && PATH=$PATH:$HOME/.cargo/bin
export PYTHONPATH=$root PYTHONDONTWRITEBYTECODE=1

fail() {
    echo "error: $*" >&2
    exit 1
}

need() { # command, what it is for, how to get it
    command -v "$1" >/dev/null 2>&1 || fail "$1 is missing ($2); install it with: $3"
}

# Names every missing tool before anything is fetched, built or started.
check_tools() {
    need python3 "runs the set-up" "apt-get install -y python3"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "python3 is older than 3.9; install a newer one"
    if [ -z "${DATABASE_URL:-}" ]; then
        python3 -m pip --version >/dev/null 2>&1 ||
            fail "pip is missing (fetches the embedded PostgreSQL); install it with: apt-get install -y python3-pip"
    fi
    need cc "compiles the crypto library" "apt-get install -y gcc libc6-dev"
    rust="curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y"
    need cargo "builds the service" "$rust"
    cargo_version=$(cargo --version 2>/dev/null) ||
        fail "the Rust toolchain of rust-toolchain.toml is missing; install it with: rustup toolchain install 1.95.0"
    echo "$cargo_version" | python3 -c '
import sys
sys.exit([int(part) for part in sys.stdin.read().split()[1].split("-")[0].split(".")] < [1, 95])' ||
        fail "$cargo_version is too old (1.95 is needed); install rustup with: $rust"
}

# Builds another checkout into this one's target folder, beside the dependencies that are compiled already; prints the program's path.
build_beside() { # checkout, profile
    built=$(target_folder)
    (cd "$1" && SQLX_OFFLINE=true cargo build --quiet --profile "$2" --bin knowhow --target-dir "$built") >&2 || exit 1
    # The crates of both have the same names there, and cargo compares times of files alone: those here must look changed, or they
    # would not be built again.
    find "$root/services" -name '*.rs' -exec touch {} +
    [ "$2" = dev ] && echo "$built/debug/knowhow" || echo "$built/$2/knowhow"
}

# Starts the embedded server (or takes DATABASE_URL) and reads data/pg.env into this shell.
start_database() {
    python3 -m tools.pg start || exit 1
    set -a
    . ./data/pg.env
    set +a
}

need_corpus() { # sets $corpus, and $sample if it is the sample of this repository
    corpus=$(python3 -m tools.corpus)
    [ -f "$corpus/skills.jsonl.zst" ] || fail "there are no skills and messages at $corpus (RECALL_CORPUS)"
    [ "$corpus" != "$root/corpus" ] || sample=yes
}

target_folder() {
    cargo metadata --no-deps --offline --format-version 1 |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])'
}

# Builds the program, or takes the one that $PROGRAM names; prints its path.
built_program() { # profile of Cargo
    python3 -c 'import sys; from tools.build import test_program; print(test_program(sys.argv[1]))' "$1"
}

http_status() { # of a URL; 000 if there is no answer
    curl --silent --noproxy '*' --max-time 5 --output /dev/null --write-out '%{http_code}' "$1" || true
}

free_port() {
    python3 -c 'from tools.ports import free_port; print(free_port())'
}

make_venv() { # its folder, the file of its packages; where it is not there as wanted
    need python3 "computes the constants" "apt-get install -y python3"
    wanted=$(cat "$2" && python3 --version)
    [ "$(cat "$1/.made-for" 2>/dev/null)" != "$wanted" ] || return 0
    mkdir -p data
    python3 -m venv --clear "$1" ||
        fail "no virtual environment could be made; install what makes them with: apt-get install -y python3-venv"
    # pip's talk matters only where it fails.
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2" >"$1/pip.log" 2>&1 ||
        { cat "$1/pip.log" >&2 && fail "pip could not fetch the packages of $2"; }
    echo "$wanted" >"$1/.made-for"
}

need_fieldsets() { # sets $fieldsets, the public data sets beside the corpus, or ends the script where there are none
    fieldsets=$corpus/../fieldsets
    [ -d "$fieldsets" ] && return
    echo "skipped: there are no data sets at $fieldsets"
    exit 0
}
