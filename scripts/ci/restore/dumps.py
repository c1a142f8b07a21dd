"""Dumps, restores and compares databases of two servers."""

from tools.cluster import Cluster
from tools.settings import fail

# Positions of sequences.
SEQUENCES = """
select schemaname || '.' || sequencename, coalesce(last_value, 0), '' from pg_sequences order by 1;
"""
# Count of rows of each table with a digest in any order, then the positions of sequences.
FIGURES = r"""
select format('select %L, count(*), coalesce(md5(string_agg(h, '''' order by h collate "C")), '''') '
              'from (select md5(t::text) as h from %s t) x', c.oid::regclass, c.oid::regclass)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)' order by c.oid::regclass::text \gexec
""" + SEQUENCES


class Dumped(Cluster):
    """A server whose databases are dumped or restored."""

    def figures(self, database):
        """Returns counts and digests of tables and sequences, as `rows` does."""
        return rows(self.tool("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-", database=database, script=FIGURES))

    def dump(self, database, file):
        """Dumps a database that is in use; returns its figures of the same snapshot.

        A sequence belongs to no snapshot: its position is read before the dump and after it.
        """
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
        """Creates a database from a dump."""
        self.sql(f"create database {database}")
        self.tool("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={database}", file)

    def schema(self, database):
        """Returns the schema of a dump: tables, policies, grants, functions."""
        said = self.tool("pg_dump", "--schema-only", "--restrict-key=same", database=database)
        # The roles of a policy are kept in the order of their numbers, which another server gave in another order.
        said = said.replace("knowhow_admin, knowhow_tenant", "knowhow_tenant, knowhow_admin")
        return sorted(line for line in said.splitlines() if line and not line.startswith("--"))

    def swap(self, old, new):
        """Replaces a database that is in use with another one."""
        self.sql(f"alter database {old} allow_connections false")
        self.sql(f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{old}'")
        self.sql(f"alter database {old} rename to {old}_before")
        self.sql(f"alter database {new} rename to {old}")

    def take_roles(self, other):
        """Copies the roles, which no dump of a database has. `knowhow migrate` sets the password of the login role."""
        said = other.tool("pg_dumpall", "--roles-only", "--no-role-passwords", "--restrict-key=same")
        named = [line for line in said.splitlines() if "knowhow" in line]
        self.tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", "-", script="\n".join(named))


def rows(said):
    """Reads lines of `name|count|digest`; returns each (count, digest) by name, in order."""
    seen = {}
    for line in said.splitlines():
        if line.count("|") == 2:
            name, count, digest = line.split("|")
            seen.setdefault(name, []).append((int(count), digest))
    return seen


def compare(before, after):
    """Ends the program if a table differs from the dump, or a sequence is outside of its positions during the dump."""
    differ = [f"{name}: {before.get(name)} became {after.get(name)}" for name in sorted({*before, *after})
              if name not in before or name not in after or not before[name][0] <= after[name][0] <= before[name][-1]]
    if differ:
        fail("the restored database differs:\n  " + "\n  ".join(differ))
