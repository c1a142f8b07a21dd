#!/bin/sh
# make run: database, model, program, migrations, a demo tenant, then the service in the foreground on 127.0.0.1:$PORT (8080).
set -eu
. "$(dirname "$0")/lib.sh"

check_tools
exec python3 -m tools.run
