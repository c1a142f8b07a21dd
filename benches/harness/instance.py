"""An own database and an own service: made, started, stopped and dropped here."""

import http.client
import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

ROOT = Path(__file__).resolve().parents[2]


class Failed(Exception):
    """One sentence for whoever runs the benchmark."""


def on_database(url, name):
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def pg_environment(url):
    """A URL as libpq reads it from the environment, so that no password stands in a process list."""
    parts = urlsplit(url)
    values = {"PGHOST": parts.hostname, "PGPORT": str(parts.port or 5432), "PGUSER": unquote(parts.username or ""),
              "PGPASSWORD": unquote(parts.password or ""), "PGDATABASE": parts.path.lstrip("/")}
    return {key: value for key, value in values.items() if value}


def client_program(name):
    """psql or pgbench with its environment: from the embedded bundle, else from PATH."""
    memory = ROOT / "data/pg.json"
    state = Path(json.loads(memory.read_text()).get("state") or ROOT / "data/pg") if memory.exists() else ROOT / "data/pg"
    bundled = state / "dist/bin" / name
    if os.access(bundled, os.X_OK):
        return str(bundled), {"LD_LIBRARY_PATH": str(state / "dist/lib")}
    return name, {}


class Instance:
    """One run's database and service."""

    def __init__(self, program, work, suffix="", **settings):
        for name in ("DATABASE_URL", "KNOWHOW_DATABASE_URL", "KNOWHOW_SECRET_KEY"):
            if not os.environ.get(name):
                raise Failed(f"{name} is not set; run this as: make bench")
        self.program, self.work, self.settings = program, work, settings
        self.server_url = os.environ["DATABASE_URL"]
        self.name = f"knowhow_bench_{os.getpid()}{suffix}"
        self.owner_url = on_database(self.server_url, self.name)
        self.login_url = on_database(os.environ["KNOWHOW_DATABASE_URL"], self.name)
        self.service = None
        self.embeds = False  # whether the service that runs makes vectors of skills
        self.created = False
        self.errors = []
        self.log = work / f"service{suffix}.log"

    def psql(self, sql=None, file=None, url=None, **variables):
        """Runs SQL as the owner; returns its bare answer."""
        program, libraries = client_program("psql")
        command = [program, "-XAtq", "-v", "ON_ERROR_STOP=1"]
        for key, value in variables.items():
            command += ["-v", f"{key}={value}"]
        command += ["-f", str(file) if file else "-"]
        done = subprocess.run(command, input=sql, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, **pg_environment(url or self.owner_url), **libraries})
        if done.returncode:
            raise Failed(f"Postgres refused {file or 'a statement'}: {done.stderr.strip()}")
        return done.stdout.strip()

    def environment(self, **more):
        """What the service's programs are given: the login role only, and nothing of the caller's own settings."""
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith("KNOWHOW_") and key not in ("DATABASE_URL", "TEST_DATABASE_URL", "PORT")}
        return {**kept, "KNOWHOW_DATABASE_URL": self.login_url,
                "KNOWHOW_SECRET_KEY": os.environ["KNOWHOW_SECRET_KEY"], **more}

    def knowhow(self, *arguments, **more):
        """Runs one of the service's commands; returns what it printed."""
        done = subprocess.run([self.program, *arguments], env=self.environment(**more), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed(f"knowhow {arguments[0]} failed: {done.stderr.strip()}")
        return done.stdout.strip()

    def create(self):
        """A fresh database with the schema."""
        self.psql(f"create database {self.name}", url=self.server_url)
        self.created = True
        self.knowhow("migrate", DATABASE_URL=self.owner_url)

    def start(self, *arguments, **settings):
        """Starts the service; returns the seconds from its start to the first ready answer."""
        self.port = self.choose_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.embeds = "--with-worker" in arguments and "KNOWHOW_MODEL_DIR" in settings
        began = time.monotonic()
        with open(self.log, "a") as log:
            # Its own session: Ctrl-C reaches this program alone, which then ends the service in order.
            settings = {"KNOWHOW_PORT": str(self.port), **self.lifted_rates(), **self.settings, **settings, **extra_settings()}
            self.service = subprocess.Popen([self.program, "serve", *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True, env=self.environment(**settings))
        while time.monotonic() - began < 30:
            if self.service.poll() is not None:
                break
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return time.monotonic() - began
            except OSError:
                pass
            time.sleep(0.002)
        raise Failed(f"the service did not become ready:\n{self.log.read_text()[-2000:]}")

    def start_to_seed(self, model):
        """Starts the service; with a folder of a model, its worker makes the vectors of what is seeded."""
        return self.start("--with-worker", KNOWHOW_MODEL_DIR=model) if model else self.start()

    def choose_port(self):
        """A free one for each start."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def lifted_rates(self):
        """Settings that let a caller send as fast as it can. A program of before there were rates does not know them."""
        known = self.knowhow("config")
        names = [f"{of}_requests_per_second" for of in ("tenant", "user", "key", "anonymous")]
        return {f"KNOWHOW_{name.upper()}": "0" for name in names if name in known}

    def ask(self, method, path, token=None, body=None, headers=None):
        """One request on its own connection: status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return ask(connection, method, path, token, body, headers)
        finally:
            connection.close()

    def trim_log(self):
        """Keeps the log small between measurements; errors in it are remembered."""
        text = self.log.read_text(errors="replace")
        self.errors += re.findall(r'^.*"level":"ERROR".*$', text, re.M)[:5]
        os.truncate(self.log, 0)

    def restart(self, *arguments, **settings):
        """Another service on the same database."""
        self.stop_service()
        return self.start(*arguments, **settings)

    def stop_service(self):
        """Ends the service by its pid; safe to call at any time."""
        if self.service and self.service.poll() is None:
            self.service.terminate()
            try:
                self.service.wait(15)
            except subprocess.TimeoutExpired:
                self.service.kill()
                self.service.wait()
        self.service = None

    def stop(self):
        """Ends the service and drops the database; safe to call at any time."""
        self.stop_service()
        if self.created:
            self.psql(f"drop database if exists {self.name} with (force)", url=self.server_url)
            self.created = False


def extra_settings():
    """Settings of the service under test, from BENCH_SERVICE_ENV="KNOWHOW_WORKERS=2 ..."."""
    return dict(pair.split("=", 1) for pair in os.environ.get("BENCH_SERVICE_ENV", "").split())


def ask(connection, method, path, token=None, body=None, headers=None):
    """One request on a kept connection: status, headers, body."""
    headers = dict(headers or {})
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        body = json.dumps(body)
        headers["Content-Type"] = "application/json"
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()
