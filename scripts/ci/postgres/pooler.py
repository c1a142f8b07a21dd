"""Serves behind PgBouncer in session mode; requires that the service refuses a pooler which mixes up prepared statements."""

import os
import subprocess
import sys
import tempfile
from urllib.parse import unquote, urlsplit

from tools import pg
from tools.build import test_program
from tools.cluster import fresh_database
from tools.model import find_model
from tools.service import environment, run
from tools.settings import fail, read_env
from tools.signals import exit_on_signals
from tools.with_service import at_port

from pgbouncer import Pooler

CONFIG = """\
[databases]
* = host={host} port={database} user={user} password='{password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 40
max_client_conn = 200
"""
MIXES = "mixes up prepared statements"


def database_values(url):
    """Returns the values of the configuration for the server of a URL."""
    parts = urlsplit(url)
    return {"host": parts.hostname, "database": parts.port or 5432, "user": parts.username,
            "password": unquote(parts.password).replace("'", "''")}


def serve_in_session_mode(pooler):
    """Pastes the commands of the pages against a service behind the pooler."""
    model = os.environ.get("KNOWHOW_MODEL_DIR") or str(find_model())
    env = {**os.environ, "KNOWHOW_MODEL_DIR": model, "KNOWHOW_TEST_DATABASE_PORT": str(pooler.port)}
    command = [sys.executable, "-m", "tools.with_service", sys.executable, "scripts/ci/readme.py"]
    if subprocess.run(command, env=env).returncode:
        fail("the service does not serve behind a pooler in session mode")
    print(f"PgBouncer {pooler.version} in session mode: the service serves")


def refuse_transaction_mode(pooler):
    """Requires that the service ends and names the reason."""
    program = test_program()
    with fresh_database("pooler") as variables:
        env = environment(**variables, KNOWHOW_PORT="0")
        run(program, env, "migrate")
        del env["DATABASE_URL"]
        env["KNOWHOW_DATABASE_URL"] = at_port(env["KNOWHOW_DATABASE_URL"], pooler.port)
        done = subprocess.run([program, "serve"], env=env, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 1 or MIXES not in done.stdout:
        fail(f"the service accepts a pooler that {MIXES} ({done.returncode}): {done.stdout}")
    print(f"PgBouncer {pooler.version} in transaction mode: the service refuses to serve, and logs the reason")


def main():
    """Tries both modes."""
    exit_on_signals()
    pg.run_locked(pg.start)
    values = database_values(read_env()["KNOWHOW_DATABASE_URL"])
    with tempfile.TemporaryDirectory() as work:
        pooler = Pooler(work)
        try:
            pooler.start(CONFIG, mode="session", **values)
            serve_in_session_mode(pooler)
            pooler.stop()
            if pooler.carries:
                print(f"PgBouncer {pooler.version} in transaction mode is not tried here: it can carry prepared statements")
            else:
                pooler.start(CONFIG, mode="transaction", **values)
                refuse_transaction_mode(pooler)
        finally:
            pooler.stop()


if __name__ == "__main__":
    main()
