"""Installs what helm/examples describes, without a cluster; see ../cnpg.sh."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.settings import ROOT

sys.path[:0] = [str(ROOT / "helm/tests"), str(ROOT / "data/tools/chart/python")]

import yaml  # noqa: E402

from tools.build import test_program  # noqa: E402
from tools.caller import Caller, status_of  # noqa: E402
from tools.cluster import start_beside  # noqa: E402
from tools.ports import free_port  # noqa: E402
from tools.service import skill  # noqa: E402
from tools.settings import fail  # noqa: E402
from tools.waiting import until  # noqa: E402

from authority import Authority  # noqa: E402
from charts import container, environment, files, find, render  # noqa: E402
from encrypted import Encrypted  # noqa: E402
from pgbouncer import Pooler  # noqa: E402

CLUSTER, POOLER = yaml.safe_load_all((ROOT / "helm/examples/cnpg.yaml").read_text())
INITDB = CLUSTER["spec"]["bootstrap"]["initdb"]
# PgBouncer with TLS on both sides.
POOLER_CONFIG = """\
[databases]
* = host=localhost port={database} auth_user=cnpg_pooler_pgbouncer
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = {mode}
auth_type = scram-sha-256
auth_file = {folder}/users.txt
auth_query = select usename, passwd from public.user_search($1)
ignore_startup_parameters = extra_float_digits,options
default_pool_size = 40
max_client_conn = 200
client_tls_sslmode = require
client_tls_cert_file = {folder}/pooler.crt
client_tls_key_file = {folder}/pooler.key
server_tls_sslmode = verify-ca
server_tls_ca_file = {folder}/ours.crt
server_tls_cert_file = {folder}/cnpg.crt
server_tls_key_file = {folder}/cnpg.key
"""
# As CloudNativePG writes it, but for the superuser of this program.
RULES = (
    "hostssl all cnpg_pooler_pgbouncer all cert",
    "host all all all scram-sha-256",
)
# What the operator makes for a pooler; a newer PgBouncer would ask for it in the database postgres.
POOLER_SQL = """
create role cnpg_pooler_pgbouncer login;
create function public.user_search(uname text) returns table (usename name, passwd text) language sql security definer
    set search_path = pg_catalog as 'select usename, passwd from pg_shadow where usename = $1';
revoke all on function public.user_search(text) from public;
grant execute on function public.user_search(text) to cnpg_pooler_pgbouncer;
"""
# Connections without TLS.
PLAIN = "select count(*) from pg_stat_ssl join pg_stat_activity using (pid) where not ssl and usename like 'knowhow%'"
# Roles that nothing of the release may have made.
OUTSIDERS = "select string_agg(rolname, ' ' order by rolname) from pg_roles where rolsuper and rolname <> 'postgres'"


def bootstrap(cluster, owner, password, statements=None):
    """Makes the database as the operator does: the owner, the database, then the SQL of the example as superuser."""
    database = INITDB["database"]
    cluster.sql(f"create role {owner} login password '{password}'")
    cluster.sql(f"create database {database} owner {owner}")
    for statement in INITDB["postInitApplicationSQL"] if statements is None else statements:
        cluster.sql(statement, database)


class Deployment:
    """The containers of values-production.yaml, with their variables, on files of this machine."""

    def __init__(self, folder, secrets):
        self.objects, self.folder, self.secrets, self.running = render("values-production"), folder, secrets, []
        self.program = test_program()

    def variables(self, thing, **others):
        """The variables of a container, its mounted secrets written to a folder."""
        mounted = {}
        for path, (name, key) in files(thing).items():
            if name in self.secrets:
                mounted[path] = self.folder / f"{name}-{key}"
                mounted[path].write_text(self.secrets[name][key])
        found = {name: str(mounted.get(value, value)) for name, value in environment(thing).items()
                 if isinstance(value, str) and not name.startswith("OTEL_") and not name.startswith("KNOWHOW_CHAT")}
        return {"PATH": os.environ["PATH"], **found, "KNOWHOW_WORKERS": "2", "KNOWHOW_LOG_FORMAT": "json", **others}

    def migrate(self, **others):
        """Runs the Job; whether it succeeds, and its output."""
        job = find(self.objects, "Job")
        done = subprocess.run([self.program, *container(job)["args"]], env=self.variables(job, **others), text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0, done.stdout

    def run(self, component, **others):
        """Starts the container of a Deployment."""
        thing = find(self.objects, "Deployment", component)
        log = open(self.folder / f"{component}.log", "w")
        self.running.append(subprocess.Popen([self.program, *container(thing)["args"]], env=self.variables(thing, **others),
                                             stdout=log, stderr=log))

    def command(self, *arguments):
        """Runs a command in the container of the API."""
        env = self.variables(find(self.objects, "Deployment", "-api"))
        done = subprocess.run([self.program, *arguments], env=env, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            fail(f"knowhow {' '.join(arguments)}: {done.stdout}")
        return done.stdout.strip()

    def stop(self):
        """Ends what runs."""
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            process.wait(60)


def refuse_before_anything_is_done(cluster, deployment, secrets):
    """Owners that cannot migrate: each is told the reason, and nothing is left behind."""
    database = INITDB["database"]
    before = "select count(*) from pg_roles where rolname like 'knowhow_%'"
    cases = (
        ("knowhow_owner", ["create extension vector", "alter role knowhow_owner createrole"], "create a role of that name"),
        ("knowhow_login", ["create extension vector", "alter role knowhow_login createrole"], "create a role of that name"),
        (INITDB["owner"], ["create extension vector"], f"alter role {INITDB['owner']} createrole;"),
        (INITDB["owner"], [f"alter role {INITDB['owner']} createrole"], "create extension vector;"),
        (INITDB["owner"], [*INITDB["postInitApplicationSQL"], f"alter database {database} owner to postgres"],
         f"alter database {database} owner to {INITDB['owner']};"),
        (INITDB["owner"], [*INITDB["postInitApplicationSQL"], "alter schema public owner to postgres"],
         f"alter schema public owner to {INITDB['owner']};"),
        (INITDB["owner"], ["create schema extensions", "create extension vector schema extensions",
                           f"alter role {INITDB['owner']} createrole"], "alter extension vector set schema public;"),
    )
    for owner, statements, words in cases:
        bootstrap(cluster, owner, "x", statements)
        roles = cluster.sql(before)
        secrets["knowhow-db-app"]["uri"] = f"postgresql://{owner}:x@localhost:{cluster.port}/{database}"
        succeeds, said = deployment.migrate()
        if succeeds or words not in said or said.strip().count("\n") or cluster.sql(before) != roles:
            fail(f"migrate as {owner} after {statements}: {said}")
        if cluster.sql("select to_regclass('_sqlx_migrations') is null", database) != "t":
            fail(f"migrate as {owner} began before it refused")
        cluster.sql(f"drop database {database} with (force)")
        cluster.sql(f"drop role {owner}")


def use(deployment, port):
    """Creates a tenant and a key by the command line, and saves and reads a skill."""
    url = f"http://127.0.0.1:{port}"

    def is_ready():
        log = (deployment.folder / "-api.log").read_text()
        if any(process.poll() is not None for process in deployment.running):
            fail(f"a process ended: {log[-3000:]}{(deployment.folder / '-worker.log').read_text()[-3000:]}")
        return status_of(url, "/readyz") == 200

    until("the API to be ready", is_ready)
    said = deployment.command("doctor")
    if "are correct" not in said:
        fail(f"doctor: {said}")
    deployment.command("tenant", "create", "acme")
    caller = Caller(deployment.command("key", "create", "--tenant", "acme"), "user")
    for n in range(20):
        caller.ask(url, "POST", "/v1/skills", skill(f"task-{n}", "First this."))
    names = {item["name"] for item in json.loads(caller.ask(url, "GET", "/v1/skills?limit=100"))["items"]}
    if not {f"task-{n}" for n in range(20)} <= names:
        fail("the skills are not all there")


def make_cluster(cluster, folder):
    """Starts the server with certificates of its own authority, which it returns."""
    ours, name = Authority(folder, "ours"), CLUSTER["metadata"]["name"]
    # The names that the operator gives the certificate; the pooler shows one of the same authority.
    cluster.present(ours.sign("server", f"{name}-rw", (f"{name}-rw", f"{name}-r", "localhost")), ours)
    ours.sign("pooler", f"{name}-rw", (f"{name}-rw",))
    ours.sign("cnpg", "cnpg_pooler_pgbouncer")
    cluster.settings(ssl="on", ssl_ca_file="clients.crt")
    cluster.rules(*RULES)
    cluster.start()
    return ours


def install(cluster, deployment):
    """Migrates twice, as an install and an upgrade do, then serves and is used."""
    for _ in range(2):
        succeeds, said = deployment.migrate()
        if not succeeds or "up to date" not in said or "could not be checked" in said:
            fail(f"the migration of the chart: {said}")
    if cluster.sql(OUTSIDERS):
        fail(f"a role became superuser: {cluster.sql(OUTSIDERS)}")
    port = free_port()
    deployment.run("-api", KNOWHOW_PORT=str(port), KNOWHOW_BIND="127.0.0.1", KNOWHOW_METRICS_BIND="127.0.0.1:0", KNOWHOW_DRAIN_S="0")
    deployment.run("-worker", KNOWHOW_METRICS_BIND="127.0.0.1:0")
    use(deployment, port)
    if cluster.sql(PLAIN) != "0":
        fail(f"{cluster.sql(PLAIN)} connections are not encrypted")


def main():
    """Installs and uses it."""
    start_beside()
    database, owner = INITDB["database"], INITDB["owner"]
    if CLUSTER["spec"]["enableSuperuserAccess"] is not False:
        fail("the example gives out the superuser")
    with tempfile.TemporaryDirectory() as work, Encrypted.temporary("cnpg") as cluster:
        cluster.init()
        folder = Path(work)
        ours = make_cluster(cluster, folder)
        secrets = {
            "knowhow-db-app": {},
            "knowhow-db-ca": {"ca.crt": ours.certificate.read_text()},
            "knowhow-database": {"url": f"postgres://knowhow_login:5ec4e7@localhost:1/{database}"},
            "knowhow-secret-key": {"secret-key": os.urandom(32).hex()},
        }
        deployment = Deployment(folder, secrets)
        refuse_before_anything_is_done(cluster, deployment, secrets)
        bootstrap(cluster, owner, "5ec4e7-of-the-owner")
        cluster.sql(POOLER_SQL, database)
        pooler, mode = Pooler(folder), "session"
        config = POOLER_CONFIG
        if pooler.carries:
            mode = "transaction"
            config += f"max_prepared_statements = {POOLER['spec']['pgbouncer']['parameters']['max_prepared_statements']}\n"
        (folder / "users.txt").write_text("")
        secrets["knowhow-db-app"]["uri"] = f"postgresql://{owner}:5ec4e7-of-the-owner@localhost:{cluster.port}/{database}"
        secrets["knowhow-database"]["url"] = f"postgres://knowhow_login:5ec4e7@localhost:{pooler.port}/{database}"
        try:
            pooler.start(config, mode=mode, database=cluster.port)
            install(cluster, deployment)
        finally:
            deployment.stop()
            pooler.stop()
        print(f"values-production.yaml on cnpg.yaml: migrated by {owner}, served through PgBouncer {pooler.version} in {mode} mode, "
              "with TLS")


if __name__ == "__main__":
    main()
