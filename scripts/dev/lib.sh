# Shared by the scripts here (sourced, not run): the checkout's root, tools by name, data/pg.env, small probes.

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
[ -d "${HOME:-/nonexistent}/.cargo/bin" ] && PATH=$PATH:$HOME/.cargo/bin

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
    built_program "$2"
}

# Starts the embedded server (or takes DATABASE_URL) and reads data/pg.env into this shell.
start_database() {
    python3 scripts/dev/pg.py start || exit 1
    set -a
    . ./data/pg.env
    set +a
}

need_corpus() { # sets $corpus, or ends the script where there is none: it is no part of this repository
    corpus=${RECALL_CORPUS:-$root/../shared/corpus}
    [ -f "$corpus/skills.jsonl.zst" ] && return
    echo "skipped: there are no skills and messages at $corpus (RECALL_CORPUS names another folder)"
    exit 0
}

# Runs a program of scripts/ci that makes servers of its own beside the embedded one, with the service built; not beside a given
# DATABASE_URL, which names a server that is somebody's.
exec_beside_own_servers() { # its path
    check_tools
    start_database
    if [ "$DATABASE_URL" = "$TEST_DATABASE_URL" ]; then
        echo "skipped: servers are made of the embedded one, and DATABASE_URL names another"
        exit 0
    fi
    cargo build --quiet --bin knowhow
    export PYTHONDONTWRITEBYTECODE=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PYTHONPATH=$root/scripts/dev:$root/scripts/ci/restore
    unset TEST_DATABASE_URL KNOWHOW_LOGIN_PASSWORD PORT KNOWHOW_PG_PORT
    unset KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN
    exec python3 "$1" "$(target_folder)/debug/knowhow"
}

target_folder() {
    cargo metadata --no-deps --offline --format-version 1 |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])'
}

built_program() { # of a profile of Cargo
    case $1 in
        dev) echo "$(target_folder)/debug/knowhow" ;;
        *) echo "$(target_folder)/$1/knowhow" ;;
    esac
}

command_line() { # of a pid; nothing for a process that is gone
    if [ -d /proc/self ]; then
        tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" || true
    else
        ps -o command= -p "$1" 2>/dev/null || true
    fi
}

is_ours() { # whether the pid in a file is a service this checkout serves
    [ -f "$1" ] || return 1
    case $(command_line "$(cat "$1")") in
        *"/knowhow serve "*) return 0 ;;
        *) return 1 ;;
    esac
}

http_status() { # of a URL; 000 where nobody answers
    python3 - "$1" <<'PY'
import sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    print(opener.open(sys.argv[1], timeout=5).status)
except urllib.error.HTTPError as error:
    print(error.code)
except Exception:
    print("000")
PY
}

port_is_free() {
    python3 - "$1" <<'PY'
import socket, sys
with socket.socket() as probe:
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind(("127.0.0.1", int(sys.argv[1])))
    except OSError:
        sys.exit(1)
PY
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

at_port() { # a URL, with another port of 127.0.0.1
    python3 - "$1" "$2" <<'PY'
import sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
print(url._replace(netloc=f"{url.netloc.rpartition('@')[0]}@127.0.0.1:{sys.argv[2]}").geturl())
PY
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
