"""Runs a command against a service of its own: a free port, a fresh database, a demo tenant.

    python3 -m tools.with_service COMMAND ...

The command finds KNOWHOW_URL, KNOWHOW_PROGRAM, KNOWHOW_WORK (a temporary folder with the service's log) and the credentials
of `knowhow seed-demo`. The service must stop cleanly and log no error.

PROGRAM names a compiled program. KNOWHOW_SERVING_PROGRAM names another one that serves on the schema of this one.
KNOWHOW_TEST_DATABASE_PORT names the port of a pooler.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from .build import test_program
from .cluster import fresh_database
from .service import Service, run
from .settings import CREDENTIALS, DATA, fail, make_data, service_variables
from .signals import exit_on_signals

# For the database that is given beside this list, and for the scripts.
OWN = ("DATABASE_URL", "KNOWHOW_DATABASE_URL", "KNOWHOW_SECRET_KEY", "KNOWHOW_SERVING_PROGRAM", "KNOWHOW_TEST_DATABASE_PORT")


def at_port(url, port):
    """Returns the URL with another port of this machine."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{port}").geturl()


def variables_of(database):
    """Returns the variables of the service."""
    given = {name: value for name, value in service_variables(os.environ).items() if name not in OWN}
    return {**given, **database, "KNOWHOW_LOG_FORMAT": "json"}


def seed(program, env):
    """Migrates the database and creates the demo tenant; returns its credentials. From then on, `env` is that of a service."""
    run(program, env, "migrate")
    del env["DATABASE_URL"]
    if port := os.environ.get("KNOWHOW_TEST_DATABASE_PORT"):
        env["KNOWHOW_DATABASE_URL"] = at_port(env["KNOWHOW_DATABASE_URL"], port)
    said = run(program, env, "seed-demo")
    credentials = dict(re.findall(r"^(KNOWHOW_[A-Z_]+)=(.*)$", said, re.M))
    if missing := set(CREDENTIALS) - set(credentials):
        fail(f"knowhow seed-demo did not print {', '.join(sorted(missing))}")
    return credentials


def use(service, command, variables):
    """Runs the command while the service runs; returns its exit code."""
    service.start()
    try:
        known = {name: value for name, value in service_variables(os.environ).items() if name not in OWN}
        outcome = subprocess.run(command, env={**known, **variables, "KNOWHOW_URL": service.url, "NO_PROXY": "127.0.0.1"}).returncode
        if service.process.poll() is not None:
            fail(f"the service ended while it was used:\n{service.tail()}")
    finally:
        code = service.stop()
    if code:
        fail(f"the service stopped with exit code {code}:\n{service.tail()}")
    if errors := re.findall(r'^.*"level":"ERROR".*$', service.log.read_text(errors="replace"), re.M):
        fail("the service logged errors:\n" + "\n".join(errors))
    print("the service stopped cleanly", flush=True)
    return outcome


def main():
    """Runs the command; ends with its exit code."""
    if not sys.argv[1:]:
        sys.exit(__doc__)
    exit_on_signals()
    make_data()
    program = test_program()
    serving = os.environ.get("KNOWHOW_SERVING_PROGRAM") or program
    with fresh_database("ci") as database, tempfile.TemporaryDirectory(prefix="ci.", dir=DATA) as work:
        env = variables_of(database)
        credentials = seed(program, env)
        service = Service(serving, env, Path(work) / "log")
        outcome = use(service, sys.argv[1:], {**credentials, "KNOWHOW_PROGRAM": serving, "KNOWHOW_WORK": work})
    sys.exit(outcome)


if __name__ == "__main__":
    main()
