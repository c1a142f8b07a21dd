"""Postgres servers for tests: the server of the checkout, and temporary ones with its programs."""

import contextlib
import os
import shutil
import signal
import sys

from . import pg
from .ports import free_port
from .server import Server
from .settings import fail, login_password, read_env, recall, service_variables, with_login
from .signals import exit_on_signals


class Cluster(Server):
    """A server with the commands of an operator."""

    @classmethod
    def of_checkout(cls):
        """Returns the server of the checkout."""
        return cls(recall())

    @classmethod
    def temporary(cls, name, home=None):
        """Returns a new server with a folder and a port of its own. As a context, it is removed at the end."""
        first = Server(recall())
        first.unpack()
        os.environ.pop("KNOWHOW_PG_PORT", None)
        home = home or first.home.with_name(f"{first.home.name}-{name}-{os.getpid()}")
        made = cls({"state": str(home), "port": free_port()})
        made.dist = first.dist
        return made

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    @property
    def port(self):
        """The port that it listens on."""
        return self.memory["port"]

    def make(self, **settings):
        """Creates the files and starts the server with these settings."""
        self.init()
        self.settings(**settings)
        self.start()
        return self

    def settings(self, **values):
        """Appends settings to postgresql.conf."""
        with open(self.cluster / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in values.items())

    def tool(self, name, *arguments, database="postgres", script=""):
        """Runs a program of the server's release as the superuser; returns its output."""
        env = {**self.connection(), "PGDATABASE": database, "BIN": str(self.dist / "bin")}
        done = self.run(self.dist / "bin" / name, *arguments, env=env, input=script)
        if done.returncode:
            fail(f"{name} {' '.join(map(str, arguments))}: {done.stdout.strip()[-2000:]}")
        return done.stdout

    def environment(self, database):
        """Returns the variables of the program for a database."""
        memory = recall()
        owner = self.url(database)
        return {"DATABASE_URL": owner, "KNOWHOW_DATABASE_URL": with_login(owner, login_password(memory)),
                "KNOWHOW_SECRET_KEY": memory["secret_key"]}

    @contextlib.contextmanager
    def database(self, name):
        """Creates a database and drops it at the end; yields the variables of the program for it."""
        self.sql(f"create database {name}")
        try:
            yield self.environment(name)
        finally:
            self.sql(f"drop database if exists {name} with (force)")

    def kill(self):
        """Kills the server; its children notice and end."""
        os.kill(self.pid(), signal.SIGKILL)

    def restart(self, mode="fast"):
        """Restarts the server."""
        done = self.run(self.dist / "bin/pg_ctl", "-D", self.cluster, "-l", self.log, "-m", mode, "-w", "-t", "60", "restart",
                        start_new_session=True)
        if done.returncode:
            fail(f"Postgres did not restart ({mode}): {done.stdout.strip()}")

    def remove(self):
        """Stops the server and removes its files."""
        if self.pid() is not None:
            self.run(self.dist / "bin/pg_ctl", "-D", self.cluster, "-m", "immediate", "-w", "-t", "30", "stop")
        shutil.rmtree(self.home, ignore_errors=True)


def start_beside():
    """Starts the checkout's server, whose programs temporary servers use; ends the program if DATABASE_URL names another server."""
    pg.run_locked(pg.start)
    if is_given(read_env()):
        print("skipped: servers are made of the embedded one, and DATABASE_URL names another")
        sys.exit(0)
    exit_on_signals()


def is_given(known):
    """Whether pg.env describes a server of DATABASE_URL instead of the embedded one."""
    return known["DATABASE_URL"] == known["TEST_DATABASE_URL"]


@contextlib.contextmanager
def fresh_database(name):
    """Starts the checkout's server and yields the variables of a new database; of DATABASE_URL, if that is given."""
    pg.run_locked(pg.start)
    known = read_env()
    if is_given(known):
        yield service_variables(known)
        return
    with Cluster.of_checkout().database(f"knowhow_{name}_{os.getpid()}") as variables:
        yield variables
