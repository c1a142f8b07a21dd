#!/bin/sh
# make stop: stops what make run of this checkout serves, then its embedded server.
set -eu
. "$(dirname "$0")/lib.sh"

need python3 "runs the set-up" "apt-get install -y python3"
for pid_file in data/serve-*.pid; do
    [ -f "$pid_file" ] || continue
    if is_ours "$pid_file"; then
        pid=$(cat "$pid_file")
        kill -TERM "$pid"
        seconds=0
        while is_ours "$pid_file"; do
            [ "$seconds" -lt 30 ] || fail "the service (pid $pid) does not stop; end it with: kill -9 $pid"
            sleep 1
            seconds=$((seconds + 1))
        done
        echo "the service (pid $pid) is stopped"
    fi
    rm -f "$pid_file"
done
python3 scripts/dev/pg.py stop
