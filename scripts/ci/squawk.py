#!/usr/bin/env python3
"""Holds migrations against what would block or break a service that is being served (squawk). A migration that has to break a
rule says so in the line before: -- squawk-ignore <rule>, and why."""

import json
import subprocess
import sys
from pathlib import Path

# Rules that say nothing here, and why.
EVERYWHERE = {
    "require-lock-timeout": "knowhow migrate sets lock_timeout for each migration, and tries again",
    "require-statement-timeout": "a migration that carries rows takes as long as they do; its locks are bounded by lock_timeout",
    "prefer-bigint-over-int": "counts, days and sizes are bounded far below; ids are uuids",
    "prefer-bigint-over-smallint": "the same",
    "adding-field-with-default": "a constant default rewrites nothing; Postgres keeps it with the column",
}


def findings(squawk, files):
    command = [squawk, "--pg-version", "18.0", "--assume-in-transaction", "--reporter", "json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"error: squawk said nothing that can be read: {done.stderr.strip() or done.stdout.strip()}")


def main(squawk):
    files = sorted(Path("migrations").glob("*.sql"))
    left = [finding for finding in findings(squawk, files) if finding["rule_name"] not in EVERYWHERE]
    for finding in left:
        print(f"{finding['file']}:{finding['line'] + 1}: {finding['rule_name']}: {finding['message']}", file=sys.stderr)
    if left:
        sys.exit("error: do it in a way that others can be served meanwhile, or excuse the line: migrations/README.md")
    print(f"{len(files)} migrations keep nobody from being served")


if __name__ == "__main__":
    main(sys.argv[1])
