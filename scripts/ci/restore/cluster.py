"""Dumps, restores and compares databases of two servers of this checkout: its own, and a fresh one for the restore."""

import contextlib
import os
import shutil
import subprocess
import sys
from urllib.parse import urlsplit

from server import Server, free_port
from settings import fail, recall

# Where each sequence is.
SEQUENCES = """
select schemaname || '.' || sequencename, coalesce(last_value, 0), '' from pg_sequences order by 1;
"""
# Of each table how many rows it has, and a digest of them in any order; then the sequences.
FIGURES = r"""
select format('select %L, count(*), coalesce(md5(string_agg(h, '''' order by h collate "C")), '''') '
              'from (select md5(t::text) as h from %s t) x', c.oid::regclass, c.oid::regclass)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)' order by c.oid::regclass::text \gexec
""" + SEQUENCES


class Cluster:
    """A server, with what an operator does to its databases."""

    def __init__(self, server):
        self.server = server

    def tool(self, name, *arguments, database="postgres", script=""):
        """Runs a program of the server's own release; what it said."""
        env = {**self.server.connection(), "PGDATABASE": database, "BIN": str(self.server.dist / "bin")}
        done = self.server.run(self.server.dist / "bin" / name, *arguments, env=env, input=script)
        if done.returncode:
            fail(f"{name} {' '.join(map(str, arguments))}: {done.stdout.strip()[-2000:]}")
        return done.stdout

    def sql(self, statement, database="postgres"):
        """One statement as the superuser; its bare answer."""
        return self.server.sql(statement, database)

    def urls(self, database, login):
        """What a program of the service finds in its environment."""
        parts = urlsplit(login)
        service = parts._replace(path=f"/{database}", netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{self.port}")
        return {"DATABASE_URL": self.server.url(database), "KNOWHOW_DATABASE_URL": service.geturl()}

    @property
    def port(self):
        """Where it listens."""
        return self.server.memory["port"]

    def figures(self, database):
        """Of each table and sequence what `rows` says."""
        return rows(self.tool("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-", database=database, script=FIGURES))

    def dump(self, database, file):
        """Dumps a database that is in use; its figures of the very same moment. A sequence belongs to no snapshot, others move it on
        meanwhile: it is looked at before the dump and after it."""
        script = f"""\
begin isolation level repeatable read read only;
select pg_export_snapshot() as moment \\gset
{SEQUENCES}
\\setenv MOMENT :moment
\\! "$BIN/pg_dump" --format=custom --snapshot="$MOMENT" --file={file}
{FIGURES}
commit;
"""
        said = self.tool("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-", database=database, script=script)
        if not file.exists():
            fail(f"pg_dump wrote nothing: {said[-2000:]}")
        return rows(said)

    def restore(self, file, database):
        """Makes a database of a dump."""
        self.sql(f"create database {database}")
        self.tool("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={database}", file)

    def schema(self, database):
        """What a dump says beside the rows: tables, policies, grants, functions."""
        said = self.tool("pg_dump", "--schema-only", "--restrict-key=same", database=database)
        # The roles of a policy are kept in the order of their numbers, which another server gave in another order.
        said = said.replace("knowhow_admin, knowhow_tenant", "knowhow_tenant, knowhow_admin")
        return sorted(line for line in said.splitlines() if line and not line.startswith("--"))

    def swap(self, old, new):
        """Puts a database in the place of another, under those who are connected to it."""
        self.sql(f"alter database {old} allow_connections false")
        self.sql(f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{old}'")
        self.sql(f"alter database {old} rename to {old}_before")
        self.sql(f"alter database {new} rename to {old}")

    def take_roles(self, other):
        """Roles belong to a server and are in no dump of a database. Passwords stay behind: migrate sets the login's."""
        said = other.tool("pg_dumpall", "--roles-only", "--no-role-passwords", "--restrict-key=same")
        named = [line for line in said.splitlines() if "knowhow" in line]
        self.tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", "-", script="\n".join(named))


def rows(said):
    """Lines of `name|count|digest`: by name each (count, digest) that was seen, in this order."""
    seen = {}
    for line in said.splitlines():
        if line.count("|") == 2:
            name, count, digest = line.split("|")
            seen.setdefault(name, []).append((int(count), digest))
    return seen


def compare(before, after):
    """Ends the program where a table differs from what was dumped, or a sequence lies outside of where it was meanwhile."""
    differ = [f"{name}: {before.get(name)} became {after.get(name)}" for name in sorted({*before, *after})
              if name not in before or name not in after or not before[name][0] <= after[name][0] <= before[name][-1]]
    if differ:
        fail("the restored database differs:\n  " + "\n  ".join(differ))


@contextlib.contextmanager
def clusters(database):
    """The checkout's server with a fresh database, and a second server beside it."""
    first = Server(recall())
    home = first.home.with_name(f"{first.home.name}-restore-{os.getpid()}")
    second = Server({"state": str(home), "port": free_port()})
    second.dist = first.dist
    source, target = Cluster(first), Cluster(second)
    try:
        source.sql(f"create database {database}")
        second.init()
        second.start()
        yield source, target
    finally:
        second.stop()
        shutil.rmtree(home, ignore_errors=True)
        source.sql(f"drop database if exists {database} with (force)")


def run(program, env, *arguments):
    """A command of the service; what it printed."""
    done = subprocess.run([program, *arguments], env=env, text=True, stdout=subprocess.PIPE, timeout=120)
    if done.returncode:
        sys.exit(f"error: knowhow {' '.join(arguments)} ended with {done.returncode}: {done.stdout}")
    return done.stdout.strip()
