#!/usr/bin/env python3
"""Tries what is promised of a deployment that goes wrong, on a Postgres, a service and a worker of its own.

    prove.py faults     what is acknowledged stays, and it serves again soon: make test-faults
    prove.py overload   three times what it can serve, and a neighbour who sends too much: make test-overload
    prove.py soak       memory and connections stay as they are: make test-soak
    prove.py migration  others write while a migration waits for its lock: make test-migration
    prove.py sizes      what a user, a request and a job take: for docs/operators/scaling.md

Ends with 1 where something acknowledged is lost, or a goal is missed. docs/operators/reliability.md says what the figures mean.
"""

import argparse
import os
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

sys.dont_write_bytecode = True

from harness.table import commit, machine, markdown_table  # noqa: E402
from proof.migration import try_migration  # noqa: E402
from proof.overload import try_overload  # noqa: E402
from proof.sizes import try_sizes  # noqa: E402
from proof.soak import try_soak  # noqa: E402
from proof.trial import try_faults  # noqa: E402

from tools.signals import exit_on_signals  # noqa: E402

MODES = {"faults": try_faults, "overload": try_overload, "soak": try_soak, "migration": try_migration, "sizes": try_sizes}


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--program", required=True, help="the knowhow binary")
    parser.add_argument("--quick", action="store_true", help="in a bounded time, as CI does it")
    parser.add_argument("--minutes", type=float, default=10, help="of the soak")
    parser.add_argument("--users", type=int, default=8, help="who save, read and talk at once")
    return parser.parse_args()


def say(line):
    """Progress, on standard error; the table goes to standard output."""
    print(line, file=sys.stderr, flush=True)


def main():
    """Runs one mode."""
    options = arguments()
    exit_on_signals()
    began = datetime.now(timezone.utc)
    with tempfile.TemporaryDirectory(prefix="knowhow-proof-") as folder:
        rows, missed = MODES[options.mode](options.program, Path(folder), options, say)
    where = machine()
    print(f"{options.mode}, {began:%Y-%m-%d %H:%M} UTC, commit {commit()}, {where['cores']} cores ({where['cpu']}) shared by Postgres, "
          f"service and clients, load average {os.getloadavg()[0]:.1f} at the end\n")
    print(markdown_table(rows))
    for one in missed:
        print(f"MISSED: {one}", file=sys.stderr)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
