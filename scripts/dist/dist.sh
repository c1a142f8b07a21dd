#!/bin/sh
# make dist: builds the artefacts of a release into dist/.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

check_tools
need objdump "reads which glibc the program needs" "apt-get install -y binutils"
need dh "builds the Debian packages" "apt-get install -y debhelper"
need umoci "builds the image" "apt-get install -y umoci"
need npm "builds the npm packages" "apt-get install -y npm"
exec python3 scripts/dist/dist.py
