#!/bin/bash
# TLS to Postgres as libpq means it: every sslmode, authorities, client certificates, several hosts, and the words for each failure, by
# all commands and a running service. docs/postgres.md describes them to an operator.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

need openssl "signs certificates" "apt-get install -y openssl"
exec_beside_own_servers scripts/ci/postgres/modes.py
