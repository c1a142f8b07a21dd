#!/bin/bash
# The service behind PgBouncer: it serves where the pooler keeps sessions, and says so where one mixes up prepared statements,
# as PgBouncer does in transaction mode before 1.21. A pooler is fetched through apt where none is installed; no root is needed.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

check_tools
start_database
work=$(mktemp -d "${TMPDIR:-/tmp}/knowhow-pooler.XXXXXX")
pooler=

finish() {
    [ -z "$pooler" ] || kill -INT "$pooler" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

if ! pgbouncer=$(command -v pgbouncer); then
    command -v apt-get >/dev/null || fail "pgbouncer is missing (stands between service and database); install it"
    cd "$work"
    apt-cache show pgbouncer >/dev/null 2>&1 || apt-get update -q >/dev/null || true
    # The names of these libraries change with the release of Debian.
    libraries=$(apt-cache depends pgbouncer | sed -nE 's/^ *Depends: (lib(event|c-?ares)[^ ]*)$/\1/p')
    # shellcheck disable=SC2086
    apt-get download -q pgbouncer $libraries >/dev/null 2>&1 ||
        fail "pgbouncer could not be fetched; install it with: apt-get install -y pgbouncer"
    for package in ./*.deb; do dpkg -x "$package" files; done
    cd "$root"
    pgbouncer=$work/files/usr/sbin/pgbouncer
    LD_LIBRARY_PATH=$(echo "$work"/files/usr/lib/*-linux-gnu)
    export LD_LIBRARY_PATH
fi

# Starts it with a mode, as another user where we are root: it refuses to run as root.
start_pooler() {
    port=$(free_port)
    python3 - "$KNOWHOW_DATABASE_URL" >"$work/pooler.ini" <<END
import sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
password = urllib.parse.unquote(url.password).replace("'", "''")
print(f"""[databases]
* = host={url.hostname} port={url.port or 5432} user={url.username} password='{password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = $1
default_pool_size = 40
max_client_conn = 200
""")
END
    chmod 755 "$work"
    chmod 644 "$work/pooler.ini"
    local as=()
    [ "$(id -u)" != 0 ] || as=(-u nobody)
    "$pgbouncer" -q "${as[@]}" "$work/pooler.ini" &
    pooler=$!
    for _ in $(seq 50); do
        ! python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null || return 0
        sleep 0.1
    done
    fail "the pooler does not listen"
}

stop_pooler() {
    kill -INT "$pooler"
    wait "$pooler" 2>/dev/null || true
    pooler=
}

version=$("$pgbouncer" --version | sed -n 's/^PgBouncer //p')
start_pooler session
KNOWHOW_MODEL_DIR=$(python3 scripts/dev/model.py) KNOWHOW_TEST_DATABASE_PORT=$port \
    scripts/ci/with_service.sh python3 scripts/ci/readme.py
echo "PgBouncer $version in session mode: the service serves"
stop_pooler

start_pooler transaction
program=$(target_folder)/debug/knowhow
"$program" migrate
outcome=0
said=$(env -u DATABASE_URL KNOWHOW_PORT=0 KNOWHOW_DATABASE_URL="$(at_port "$KNOWHOW_DATABASE_URL" "$port")" \
    timeout 60 "$program" serve 2>&1) || outcome=$?
case "$version" in
1.[0-9].* | 1.1[0-9].* | 1.20.*)
    [ "$outcome" = 1 ] && grep -q "mixes up prepared statements" <<<"$said" ||
        { echo "$said" >&2 && fail "the service took a pooler that mixes up prepared statements ($outcome)"; }
    echo "PgBouncer $version in transaction mode: the service refuses to serve, and says why"
    ;;
*) echo "PgBouncer $version in transaction mode is not tried here: it can carry prepared statements" ;;
esac
