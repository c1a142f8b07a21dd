"""Runs the service of this wheel: `knowhow-server` starts it with an embedded PostgreSQL, `knowhow-server stop` stops it."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

USAGE = """\
usage: knowhow-server [stop]

Starts an embedded PostgreSQL and the service on http://127.0.0.1:8080, or stops both.
KNOWHOW_HOME names the folder of the data, PORT another port, DATABASE_URL another PostgreSQL 18 with pgvector."""


def find_program():
    """Returns the path of the program that was installed with this package, or the one that the npm package names."""
    if given := os.environ.pop("KNOWHOW_PROGRAM", None):
        return given
    beside = Path(sysconfig.get_path("scripts")) / "knowhow"
    found = str(beside) if beside.exists() else shutil.which("knowhow")
    if found is None:
        sys.exit("error: the program 'knowhow' of this package is missing; install the package again")
    return found


def main():
    """Starts or stops the service."""
    wishes = sys.argv[1:]
    if wishes not in ([], ["stop"]):
        is_asked = wishes in (["-h"], ["--help"])
        print(USAGE, file=sys.stdout if is_asked else sys.stderr)
        sys.exit(0 if is_asked else 2)
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    home = Path(os.environ.setdefault("KNOWHOW_HOME", str(data / "knowhow")))
    home.parent.mkdir(parents=True, exist_ok=True)
    from .tools import run  # it reads KNOWHOW_HOME; a checkout has the same package at its root

    run.stop() if wishes else run.run(find_program)
