"""Sets up what the program needs (database, model, migrations, a demo tenant) and becomes the service.

    python3 -m tools.run         serves the program of this checkout (build.py) on 127.0.0.1:$PORT (8080)
    python3 -m tools.run stop    stops the services of this checkout, then its embedded server

The launcher of the Python wheel calls the same functions with the program in the wheel.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import pg
from .caller import status_of
from .model import find_model
from .ports import is_free
from .server import command_line
from .settings import CREDENTIALS, DATA, Failed, fail, make_data, read_env, service_variables, write_private

BANNER = """
  Knowhow       {verb} {url}   (interactive API: {url}/docs/)
  Console       {url}/console   (paste the JWT; for an admin's pages $KNOWHOW_TENANT_ADMIN_TOKEN in {env})
  MCP           {url}/mcp   (docs/users/mcp.md: "Connect an agent")
  JWT           {token}
  API key       {key}   (with the header Knowhow-User: demo-user)
  admin token   $KNOWHOW_ADMIN_TOKEN in {env}, for the endpoints under /v1/admin
  in a script   . {env}
  try           curl -s -H "Authorization: Bearer $KNOWHOW_TOKEN" $KNOWHOW_URL/v1/skills
"""


def read_port():
    """Returns the port to serve on."""
    port = os.environ.get("PORT") or os.environ.get("KNOWHOW_PORT") or "8080"
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        fail(f"PORT must be a number from 1 to 65535, is '{port}'")
    return int(port)


def read_pid(pid_file):
    """Returns the pid of a running service that was started here, or None."""
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return None
    return pid if "/knowhow serve " in command_line(pid) else None


def show(verb, url, credentials):
    """Prints the addresses and credentials."""
    env = os.path.relpath(DATA / "dev.env") if DATA.is_relative_to(Path.cwd()) else DATA / "dev.env"
    print(BANNER.format(verb=verb, url=url, token=credentials["KNOWHOW_TOKEN"], key=credentials["KNOWHOW_API_KEY"], env=env),
          flush=True)


def model_setting():
    """Fetches the embeddings model unless the environment names one. Without it, skills are found by words only."""
    if os.environ.get("KNOWHOW_MODEL_DIR") or os.environ.get("KNOWHOW_EMBEDDINGS_URL"):
        return {}
    try:
        return {"KNOWHOW_MODEL_DIR": str(find_model(os.environ.get("KNOWHOW_MODEL") or "default"))}
    except (Failed, OSError, ValueError) as failure:
        print(f"error: {failure}\nwithout the embeddings model: skills are found by their words only", file=sys.stderr, flush=True)
        return {}


def seed(program, env, dev_env):
    """Creates the demo tenant, or finds it; returns its credentials."""
    existing = read_env(dev_env).get("KNOWHOW_API_KEY")
    # In the environment, because the list of processes shows arguments.
    given = {"KNOWHOW_EXISTING_API_KEY": existing} if existing else {}
    done = subprocess.run([program, "seed-demo"], env={**env, **given}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    credentials = dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("KNOWHOW_"))
    if any(not credentials.get(name) for name in CREDENTIALS):
        fail("knowhow seed-demo did not print its credentials")
    return credentials


def write_dev_env(dev_env, program, url, credentials):
    """Writes the file for clients. It does not name the database, because another checkout would use it."""
    values = {"KNOWHOW_URL": url, **{name: credentials[name] for name in CREDENTIALS}}
    lines = [f"export {name}={quoted(value)}\n" for name, value in values.items()]
    write_private(dev_env, "".join([*lines, f'export PATH={quoted(Path(program).parent)}:"$PATH"\n']))


def quoted(value):
    """Returns a word of a shell in single quotes."""
    return "'" + str(value).replace("'", "'\\''") + "'"


def announce(url, credentials):
    """Prints the banner as soon as the service answers, from a process of its own: this one becomes the service."""
    parent = os.getpid()
    if os.fork():
        return
    # A Ctrl-C is for the service.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.getppid() == parent:
        if status_of(url, "/healthz") == 200:
            show("serves", url, credentials)
            break
        time.sleep(0.2)
    os._exit(0)


def run(find_program):
    """Sets everything up and becomes the service. `find_program` returns the path of the program."""
    port = read_port()
    url = f"http://127.0.0.1:{port}"
    make_data()
    pid_file, dev_env = DATA / f"serve-{port}.pid", DATA / "dev.env"
    if read_pid(pid_file) and status_of(url, "/healthz") == 200:
        show("is already served at", url, read_env(dev_env))
        return
    if not is_free(port):
        fail(f"port {port} is used by another program; choose another one with PORT={port + 1}")
    pg.run_locked(pg.start)
    model = model_setting()
    program = str(Path(find_program()).resolve())
    env = service_variables({**os.environ, **read_env()}) | model
    if migrated := subprocess.run([program, "migrate"], env=env).returncode:
        sys.exit(migrated)
    # The service never has the owner's password.
    del env["DATABASE_URL"]
    credentials = seed(program, env, dev_env)
    write_dev_env(dev_env, program, url, credentials)
    announce(url, credentials)
    # There is no load balancer that needs time to notice a stop.
    env.setdefault("KNOWHOW_DRAIN_S", "0")
    env.setdefault("KNOWHOW_LOG_FORMAT", "pretty")
    pid_file.write_text(f"{os.getpid()}\n")
    os.execve(program, [program, "serve", "--with-worker"], env | {"KNOWHOW_PORT": str(port)})


def stop():
    """Stops the services, then the embedded server."""
    if not DATA.exists():
        print("nothing was started here")
        return
    for pid_file in sorted(DATA.glob("serve-*.pid")):
        pid = read_pid(pid_file)
        if pid:
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + 30
            while read_pid(pid_file):
                if time.monotonic() > end:
                    fail(f"the service (pid {pid}) does not stop; end it with: kill -9 {pid}")
                time.sleep(0.2)
            print(f"the service (pid {pid}) is stopped", flush=True)
        pid_file.unlink(missing_ok=True)
    pg.run_locked(pg.stop)


if __name__ == "__main__":
    if sys.argv[1:] == ["stop"]:
        stop()
    elif len(sys.argv) == 1:
        from .build import find_program  # the wheel of the launcher does not have it

        run(find_program)
    else:
        sys.exit(__doc__)
