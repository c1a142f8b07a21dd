#!/bin/sh
# What a migration would do to a service that is being served (squawk).
set -eu
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/python_tools.sh
scripts/ci/squawk.py data/tools/python/bin/squawk
