#!/bin/sh
# make stop: stops what make run of this checkout serves, then its embedded server.
set -eu
. "$(dirname "$0")/lib.sh"

need python3 "runs the set-up" "apt-get install -y python3"
exec python3 -m tools.run stop
