#!/bin/sh
# make run: database, build, migrations, a demo tenant, then the service in the foreground on 127.0.0.1:$PORT (8080).
set -eu
. "$(dirname "$0")/lib.sh"

port=${PORT:-${KNOWHOW_PORT:-8080}}
profile=${RUN_PROFILE:-quick} # release takes longer to build and serves faster; dev serves slowly
url=http://127.0.0.1:$port
pid_file=data/serve-$port.pid

show() {
    cat <<TXT

  Knowhow       $1 $url   (interactive API: $url/docs/)
  MCP           $url/mcp   (docs/mcp.md: "Connect an agent")
  JWT           $KNOWHOW_TOKEN
  API key       $KNOWHOW_API_KEY   (with the header Knowhow-User: demo-user)
  admin token   \$KNOWHOW_ADMIN_TOKEN in data/dev.env, for the endpoints under /v1/admin
  in a script   . data/dev.env
  try           curl -s -H "Authorization: Bearer \$KNOWHOW_TOKEN" \$KNOWHOW_URL/v1/skills

TXT
}

export_line() { # name, value
    printf "export %s='%s'\n" "$1" "$(printf %s "$2" | sed "s/'/'\\\\''/g")"
}

check_tools
case $port in
    '' | *[!0-9]* | ??????*) fail "PORT must be a number from 1 to 65535, is '$port'" ;;
esac
[ "$port" -ge 1 ] && [ "$port" -le 65535 ] || fail "PORT must be a number from 1 to 65535, is '$port'"
if is_ours "$pid_file" && [ "$(http_status "$url/healthz")" = 200 ]; then
    . ./data/dev.env
    show "is already served at"
    exit 0
fi
port_is_free "$port" || fail "port $port is used by another program; choose another one: PORT=$((port + 1)) make run"

start_database
if [ -z "${KNOWHOW_MODEL_DIR:-}${KNOWHOW_EMBEDDINGS_URL:-}" ]; then
    KNOWHOW_MODEL_DIR=$(python3 scripts/dev/model.py) ||
        echo "without the embeddings model: skills are found by their words only" >&2
    export KNOWHOW_MODEL_DIR
fi
cargo build --profile "$profile" --bin knowhow
program=$(built_program "$profile")

existing=$(if [ -f data/dev.env ]; then . ./data/dev.env && printf %s "${KNOWHOW_API_KEY:-}"; fi)
# From a sourced data/dev.env or pg.env: for clients and tests, not for the service.
unset KNOWHOW_URL KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN KNOWHOW_LOGIN_PASSWORD PORT
"$program" migrate
unset DATABASE_URL TEST_DATABASE_URL # the service never holds the owner's password
# In the environment, as arguments show in the list of processes.
seed=$(if [ -n "$existing" ]; then export KNOWHOW_EXISTING_API_KEY="$existing"; fi && "$program" seed-demo)
eval "$(printf '%s\n' "$seed" | grep '^KNOWHOW_[A-Z_]*=')"
[ -n "${KNOWHOW_TOKEN:-}" ] && [ -n "${KNOWHOW_API_KEY:-}" ] && [ -n "${KNOWHOW_ADMIN_TOKEN:-}" ] ||
    fail "knowhow seed-demo did not print its three credentials"

umask 077
{
    export_line KNOWHOW_URL "$url"
    export_line KNOWHOW_TOKEN "$KNOWHOW_TOKEN"
    export_line KNOWHOW_API_KEY "$KNOWHOW_API_KEY"
    export_line KNOWHOW_ADMIN_TOKEN "$KNOWHOW_ADMIN_TOKEN"
    # So that `knowhow` is a command. Nothing of the database: another checkout would take it for its own.
    printf 'export PATH=%s:"$PATH"\n' "'$(dirname "$program")'"
} >data/dev.env.$$
mv data/dev.env.$$ data/dev.env
umask 022

# Tells where it serves as soon as it does, from a process of its own: this one becomes the service.
announce() {
    while kill -0 $$ 2>/dev/null; do
        if [ "$(http_status "$url/healthz")" = 200 ]; then
            show "serves"
            return
        fi
        sleep 0.2
    done
}
(announce &)
unset KNOWHOW_TOKEN KNOWHOW_API_KEY KNOWHOW_ADMIN_TOKEN
# No load balancer needs a moment to notice that this one goes.
export KNOWHOW_DRAIN_S="${KNOWHOW_DRAIN_S:-0}"
export KNOWHOW_PORT="$port" KNOWHOW_LOG_FORMAT="${KNOWHOW_LOG_FORMAT:-pretty}"
echo $$ >"$pid_file"
exec "$program" serve --with-worker
