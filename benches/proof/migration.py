"""Others write to a table while a migration waits for its lock behind a long transaction."""

import hashlib
import itertools
import os
import re
import subprocess
import time

from harness.instance import client_program, pg_environment

from tools.settings import ROOT, Failed
from tools.waiting import until

from .load import percentile
from .stage import Stage

GOAL_S, HELD_S, WRITERS, PER_SECOND = 1.0, 3, 8, 200
# Both lock a table against writers: a new column of it, and a foreign key to it.
LOCKS = re.compile(r"^alter table (?:only )?(?:public\.)?(\w+)\s+add column|\breferences (?:public\.)?(\w+)", re.M | re.I)
CREATES = re.compile(r"^create table (?:public\.)?(\w+)", re.M | re.I)
COLUMNS = ("tried", "measured", "goal", "verdict")


def try_migration(program, work, options, say):
    """The rows of the table, and what was missed."""
    stage = Stage(program, work)
    try:
        rows = migrate_under_load(stage, options, say)
    finally:
        stage.stop()
    return rows, [f"{row['tried']}: {row['measured']} ({row['goal']})" for row in rows if row["verdict"] == "missed"]


def newest_lock():
    """The newest migration that locks a table of an earlier migration against writers, the earlier ones, and the table."""
    files = sorted((ROOT / "migrations").glob("[0-9]*.sql"))
    for place in range(len(files) - 1, 0, -1):
        text = re.sub(r"--.*", "", files[place].read_text())
        for table in filter(None, itertools.chain.from_iterable(LOCKS.findall(text))):
            if table not in CREATES.findall(text):
                return files[:place], files[place], table
    raise Failed("no migration locks a table of an earlier one")


def migrate_under_load(stage, options, say):
    """`knowhow migrate` from the schema of before that migration, beside writers."""
    before, migration, table = newest_lock()
    say(f"  {migration.name} locks {table}")
    stage.psql(f"drop database {stage.name} with (force); create database {stage.name}", url=stage.server_url)
    earlier(stage, before)
    script, log = stage.work / "write.sql", stage.work / "writes"
    script.write_text(f"delete from {table} where false;\n")
    program, libraries = client_program("pgbench")
    environment = {**os.environ, **pg_environment(stage.owner_url), **libraries}
    seconds = 6
    writing = subprocess.Popen([program, "-n", "-M", "prepared", "-c", str(WRITERS), "-j", "1", "-R", str(PER_SECOND), "-T", str(seconds),
                                "-l", f"--log-prefix={log}", "-f", str(script)], env=environment, cwd=stage.work,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(1)
    holder = f"begin; lock table {table} in row exclusive mode; select pg_sleep({HELD_S}); commit"
    psql, libraries = client_program("psql")
    holding = subprocess.Popen([psql, "-Xq", "-c", holder], env={**environment, **libraries}, stdout=subprocess.DEVNULL)
    held = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
    until("a session to lock the table", lambda: int(stage.psql(held)) > 0, 5)
    began = time.time()
    stage.knowhow("migrate", DATABASE_URL=stage.owner_url)
    ended = time.time()
    took = ended - began
    if holding.wait():
        raise Failed("whoever holds the table failed")
    said, _ = writing.communicate()
    if writing.returncode:
        raise Failed(f"a writer failed: {said.strip()[-500:]}")
    # client, transaction, microseconds since it was due, script, second and microsecond of its end, how late it began
    lines = [line.split() for path in stage.work.glob("writes.*") for line in path.read_text().splitlines()]
    waits = [int(line[2]) / 1e6 for line in lines if began <= int(line[4]) + int(line[5]) / 1e6 <= ended]
    p99, longest = percentile(waits, 0.99), max(waits)
    say(f"  migrated in {took:.1f} s; {len(waits):,} writes, p99 {1000 * p99:.0f} ms, longest {1000 * longest:.0f} ms")
    what = f"{migration.stem} while a transaction holds `{table}` for {HELD_S} s and {PER_SECOND} writes a second go on"
    return [dict(zip(COLUMNS, row)) for row in (
        (what, f"p99 of the {len(waits):,} writes meanwhile {1000 * p99:.0f} ms, the longest {1000 * longest:.0f} ms",
         f"{1000 * GOAL_S:.0f} ms", "met" if p99 <= GOAL_S else "missed"),
        ("the same: the migration", f"done after {took:.1f} s", "done", "met"))]


def earlier(stage, files):
    """The schema as these migrations leave it, noted as `knowhow migrate` notes it."""
    stage.psql("create table _sqlx_migrations (version bigint primary key, description text not null, "
               "installed_on timestamptz not null default now(), success boolean not null, checksum bytea not null, "
               "execution_time bigint not null)")
    for file in files:
        version, _, description = file.stem.partition("_")
        digest = hashlib.sha384(file.read_bytes()).hexdigest()
        text = file.read_text()
        whole = text if "no-transaction" in text.partition("\n")[0] else f"begin;\n{text}\ncommit;"
        stage.psql(f"{whole}\ninsert into _sqlx_migrations values ({int(version)}, '{description.replace('_', ' ')}', now(), true, "
                   f"'\\x{digest}', 0)")
