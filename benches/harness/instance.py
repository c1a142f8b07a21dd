"""A service on a database of its own: made, started, stopped and dropped here."""

import json
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from tools.service import Service, run
from tools.settings import MEMORY, ROOT, bare_variables, fail


def on_database(url, name):
    """Returns the URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def pg_environment(url):
    """Returns a URL as variables of libpq, so that no list of processes shows the password."""
    parts = urlsplit(url)
    values = {"PGHOST": parts.hostname, "PGPORT": str(parts.port or 5432), "PGUSER": unquote(parts.username or ""),
              "PGPASSWORD": unquote(parts.password or ""), "PGDATABASE": parts.path.lstrip("/")}
    return {key: value for key, value in values.items() if value}


def client_program(name):
    """Returns psql or pgbench with its variables: of the embedded bundle, else of PATH."""
    known = json.loads(MEMORY.read_text()) if MEMORY.exists() else {}
    state = Path(known.get("state") or ROOT / "data/pg")
    bundled = state / "dist/bin" / name
    if os.access(bundled, os.X_OK):
        return str(bundled), {"LD_LIBRARY_PATH": str(state / "dist/lib")}
    return name, {}


class Instance(Service):
    """The service of one run with its database."""

    def __init__(self, program, work, suffix="", **settings):
        for name in ("DATABASE_URL", "KNOWHOW_DATABASE_URL", "KNOWHOW_SECRET_KEY"):
            if not os.environ.get(name):
                fail(f"{name} is not set; run this as: make bench")
        self.work, self.settings = work, settings
        self.server_url = os.environ["DATABASE_URL"]
        self.name = f"knowhow_bench_{os.getpid()}{suffix}"
        self.owner_url = on_database(self.server_url, self.name)
        self.login_url = on_database(os.environ["KNOWHOW_DATABASE_URL"], self.name)
        self.embeds = False  # whether the running service makes vectors of skills
        self.created = False
        self.errors = []
        super().__init__(program, None, work / f"service{suffix}.log")

    def psql(self, sql=None, file=None, url=None, **variables):
        """Runs SQL as the owner; returns the bare output."""
        program, libraries = client_program("psql")
        command = [program, "-XAtq", "-v", "ON_ERROR_STOP=1"]
        for key, value in variables.items():
            command += ["-v", f"{key}={value}"]
        command += ["-f", str(file) if file else "-"]
        done = subprocess.run(command, input=sql, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, **pg_environment(url or self.owner_url), **libraries})
        if done.returncode:
            fail(f"Postgres refused {file or 'a statement'}: {done.stderr.strip()}")
        return done.stdout.strip()

    def environment(self, **more):
        """Returns the variables of the program: the login role, and no settings of the caller."""
        return {**bare_variables(), "KNOWHOW_DATABASE_URL": self.login_url, "KNOWHOW_SECRET_KEY": os.environ["KNOWHOW_SECRET_KEY"],
                **more}

    def knowhow(self, *arguments, **more):
        """Runs a command of the program; returns its output."""
        return run(self.program, self.environment(**more), *arguments)

    def create(self):
        """Creates the database with its schema."""
        self.psql(f"create database {self.name}", url=self.server_url)
        self.created = True
        self.knowhow("migrate", DATABASE_URL=self.owner_url)

    def start(self, *arguments, **settings):
        """Starts the service; returns the seconds until it is ready."""
        self.embeds = "--with-worker" in arguments and "KNOWHOW_MODEL_DIR" in settings
        self.env = self.environment()
        return super().start(*arguments, **{**self.settings, **settings, **extra_settings()})

    def start_to_seed(self, model):
        """Starts the service; with a folder of a model, its worker makes the vectors of seeded skills."""
        return self.start("--with-worker", KNOWHOW_MODEL_DIR=model) if model else self.start()

    def trim_log(self):
        """Empties the log between measurements; collects the errors in it."""
        text = self.log.read_text(errors="replace")
        self.errors += re.findall(r'^.*"level":"ERROR".*$', text, re.M)[:5]
        os.truncate(self.log, 0)

    def restart(self, *arguments, **settings):
        """Starts another process on the same database."""
        self.stop_service()
        return self.start(*arguments, **settings)

    def stop_service(self):
        """Stops the service; safe to call at any time."""
        super().stop()

    def stop(self):
        """Stops the service and drops the database; safe to call at any time."""
        try:
            self.stop_service()
        finally:
            if self.created:
                self.psql(f"drop database if exists {self.name} with (force)", url=self.server_url)
                self.created = False


def extra_settings():
    """Returns the settings in BENCH_SERVICE_ENV="KNOWHOW_WORKERS=2 ..."."""
    return dict(pair.split("=", 1) for pair in os.environ.get("BENCH_SERVICE_ENV", "").split())
