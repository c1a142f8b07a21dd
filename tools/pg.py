"""The database for development: an embedded PostgreSQL 18 with pgvector under ./data.

    python3 -m tools.pg start    fetch, start and set up (harmless when it runs); writes data/pg.env
    python3 -m tools.pg stop     stop the server this checkout started
    python3 -m tools.pg status   say where it is
    python3 -m tools.pg psql ... a shell on it, as its superuser
    python3 -m tools.pg clean    stop it and remove ./data

With DATABASE_URL in the environment nothing is fetched or started; data/pg.env then names that database.
"""

import fcntl
import os
import shutil
import sys
import time
from pathlib import Path

from .server import Server
from .settings import DATA, MEMORY, fail, login_password, make_data, recall, remember, write_env


def given_url(memory):
    """DATABASE_URL, unless it is the embedded server's own (from a sourced data/dev.env)."""
    url = os.environ.get("DATABASE_URL")
    password = Path(memory.get("state") or DATA / "pg") / "password"
    ours = password.exists() and f":{password.read_text().strip()}@127.0.0.1:" in (url or "")
    return None if ours else url


def start():
    """Starts the server, or takes DATABASE_URL; writes data/pg.env."""
    memory = recall()
    if url := given_url(memory):
        write_env(memory, url, url)
        remember(memory)
        print("using the database of DATABASE_URL")
        return
    server = Server(memory)
    began = time.monotonic()
    if running := server.pid():
        print(f"the embedded server already runs on port {memory['port']} (pid {running})")
    else:
        server.unpack()
        server.init()
        server.start()
        print(f"the embedded server runs on port {memory['port']} (pid {server.pid()}, {time.monotonic() - began:.1f} s)")
    server.set_up(login_password(memory))
    remember(memory)
    write_env(memory, server.url("knowhow"), server.url("knowhow_test"))


def known_server():
    """The server of an earlier start, or None."""
    memory = recall()
    return Server(memory) if memory.get("state") and Path(memory["state"]).exists() else None


def stop():
    """Stops the server where it runs."""
    server = known_server()
    print("the embedded server is stopped" if server and server.stop() else "no embedded server runs")


def status():
    """Says where the server is; exit code 3 where none runs."""
    server = known_server()
    pid = server.pid() if server else None
    if pid is None:
        print("no embedded server runs")
        sys.exit(3)
    print(f"pid {pid}, port {server.memory['port']}, files {server.cluster}, programs {server.dist / 'bin'}")


def psql(arguments):
    """Becomes psql on the database knowhow (or PGDATABASE)."""
    server = known_server()
    if server is None or server.pid() is None:
        fail("no embedded server runs; start it with: python3 -m tools.pg start")
    env = {"PGDATABASE": "knowhow", **os.environ, **server.connection(), "LD_LIBRARY_PATH": str(server.dist / "lib")}
    os.execve(server.dist / "bin/psql", ["psql", *arguments], env)


def clean():
    """Stops the server and removes everything under ./data."""
    server = known_server()
    if server:
        server.stop()
        shutil.rmtree(server.home)
    shutil.rmtree(DATA)
    print("removed ./data")


def run_locked(command, *arguments):
    """Runs one command while no other process does."""
    make_data()
    with open(DATA / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command(*arguments)


def main():
    """Runs one command at a time."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    commands = {"start": start, "stop": stop, "status": status, "clean": clean}
    if command not in (*commands, "psql"):
        sys.exit(__doc__)
    if command != "start" and not (DATA if command == "clean" else MEMORY).exists():
        print("nothing was started here")
        sys.exit(3 if command == "status" else 0)
    run_locked(psql, sys.argv[2:]) if command == "psql" else run_locked(commands[command])


if __name__ == "__main__":
    main()
