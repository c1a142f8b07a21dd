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
# Migrations up to this one are of before the first release: no service had rows when they ran, and none ran beside them.
BEFORE_RELEASE = "0050"
# What these may do, for that reason.
ONCE = {
    "adding-foreign-key-constraint",
    "adding-not-nullable-field",
    "adding-serial-primary-key-field",
    "ban-drop-column",
    "ban-drop-constraint",
    "ban-drop-default",
    "ban-drop-not-null",
    "ban-drop-table",
    "constraint-missing-not-valid",
    "renaming-object",
    "renaming-table",
    "require-concurrent-index-creation",
    "require-concurrent-index-deletion",
}


def findings(squawk, files):
    command = [squawk, "--pg-version", "18.0", "--assume-in-transaction", "--reporter", "json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"error: squawk said nothing that can be read: {done.stderr.strip() or done.stdout.strip()}")


def is_excused(finding):
    rule, number = finding["rule_name"], Path(finding["file"]).name[:4]
    return rule in EVERYWHERE or (number <= BEFORE_RELEASE and rule in ONCE)


def main(squawk):
    files = sorted(Path("migrations").glob("*.sql"))
    left = [finding for finding in findings(squawk, files) if not is_excused(finding)]
    for finding in left:
        print(f"{finding['file']}:{finding['line'] + 1}: {finding['rule_name']}: {finding['message']}", file=sys.stderr)
    if left:
        sys.exit("error: do it in a way that others can be served meanwhile, or excuse the line: migrations/README.md")
    print(f"{len(files)} migrations keep nobody from being served")


if __name__ == "__main__":
    main(sys.argv[1])
