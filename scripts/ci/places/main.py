"""Moves a tenant between two servers while it and others are used, killed at each step; gives up a move; stops a place.

docs/operators/places.md tells an operator the same steps.
"""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from scripts.ci.user_data import fill, read_back
from tools.build import test_program
from tools.caller import Caller
from tools.cluster import Cluster, start_beside
from tools.service import Service, environment, run
from tools.settings import check, fail
from tools.waiting import until

from load import Tenant

DATABASE = "knowhow"
# What the command says as each step begins, in order. It is killed at each of them once.
STEPS = ("preparing the new place", "copying", "copied 0 of", "rejecting the tenant's requests", "opening the new place",
         "the tenant lives at the new place", "clearing the old place")
# Of all tables, the rows of a tenant.
ROWS = r"""
select format('select count(*) from %s where tenant_id = %L', c.oid::regclass, :'tenant') from pg_class c
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') \gexec
"""


@contextlib.contextmanager
def servers():
    """Two fresh servers that can replicate."""
    with Cluster.temporary("place-home") as home, Cluster.temporary("place-eu2") as other:
        for cluster in (home, other):
            cluster.make(wal_level="logical").sql(f"create database {DATABASE}")
        yield home, other


def rows_of(cluster, tenant):
    """How many rows of the tenant are in a database, its jobs with them."""
    counts = cluster.tool("psql", "-XAtq", "-v", f"tenant={tenant}", "-v", "ON_ERROR_STOP=1", "-f", "-", database=DATABASE,
                          script=ROWS)
    jobs = cluster.sql(
        f"select count(*) from graphile_worker._private_jobs where payload ->> 'tenant_id' = '{tenant}'", DATABASE)
    return sum(map(int, counts.split())) + int(jobs)


class Places:
    """Two places, processes that serve both, and the command that moves tenants."""

    def __init__(self, clusters, folder):
        self.home, self.other = clusters
        self.program = test_program()
        places = [cluster.environment(DATABASE) for cluster in clusters]
        for place in places:
            run(self.program, environment(**place), "migrate", "--set-login-password")
        env = environment(**places[0], KNOWHOW_PRIVATE_WEBHOOKS="true", KNOWHOW_PLACES=f"eu2={places[1]['KNOWHOW_DATABASE_URL']}")
        self.services = [Service(self.program, env, folder / f"service-{n}.log") for n in range(2)]
        owners = f"home={places[0]['DATABASE_URL']} eu2={places[1]['DATABASE_URL']}"
        self.owner_env = {**env, "DATABASE_URLS": owners}

    def start(self):
        """Starts the processes."""
        for service in self.services:
            service.start("--with-worker")

    def stop(self):
        """Ends the processes."""
        for service in self.services:
            service.stop()

    def command(self, *arguments):
        """A command of the service."""
        return self.services[0].command(*arguments)

    def move(self, slug, place, *options, kill_at=None):
        """Moves a tenant; or kills the command as soon as it has begun that step. What it said."""
        code, said = self.disturb(slug, place, *options, step=kill_at, act=lambda command: command.send_signal(signal.SIGKILL))
        if kill_at:
            check(f"the command came to «{kill_at}»: {said}", code == -signal.SIGKILL)
        elif code:
            fail(f"tenant move {slug} --to {place}: {said}")
        return said

    def disturb(self, slug, place, *options, step, act):
        """Moves a tenant, and does something as soon as the command has begun that step. How it ended, and what it said."""
        arguments = [self.program, "tenant", "move", slug, "--to", place, *options]
        command = subprocess.Popen(arguments, env=self.owner_env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = []
        for line in command.stdout:
            said.append(line.strip())
            if step and line.startswith(step):
                act(command)
        return command.wait(60), said

    def tenant(self, slug, place="home"):
        """A tenant that is put to work."""
        self.command("tenant", "create", slug, "--place", place)
        return Tenant(slug, self.command("key", "create", "--tenant", slug), self.services)

    def where(self, slug):
        """The server where a tenant lives."""
        lives = f"""select count(*) from tenants t where t.slug = '{slug}'
            and not exists (select from tenants_elsewhere e where e.tenant = t.tenant_id)"""
        lives = [cluster for cluster in (self.home, self.other) if cluster.sql(lives, DATABASE) == "1"]
        check(f"{slug} lives at one place", len(lives) == 1)
        return lives[0]

    def id_of(self, slug):
        """A tenant's id, wherever it is."""
        found = {cluster.sql(f"select tenant_id from tenants where slug = '{slug}'", DATABASE)
                 for cluster in (self.home, self.other)} - {""}
        return found.pop()


def killed_at_each_step(places, moved, others):
    """The move of a tenant that is used, killed at each step; nothing is lost, and nobody else notices."""
    steady = Caller(moved.key, "steady")
    fill(places.services[0], steady, "pears")
    expected = read_back(places.services[0], steady)
    for tenant in (moved, *others):
        tenant.start()
    until("the first saves", lambda: all(len(tenant.acknowledged) > 30 for tenant in (moved, *others)))
    for step in STEPS:
        places.move(moved.slug, "eu2", "--grace-s", "1", kill_at=step)
        # Long enough for requests to come, and not to come, in whatever state it was left.
        time.sleep(1.2)
    places.move(moved.slug, "eu2", "--grace-s", "1")
    before = len(moved.acknowledged)
    until("saves at the new place", lambda: len(moved.acknowledged) > before + 30)
    for tenant in (moved, *others):
        tenant.stop()
    check("everything of the tenant is found again", read_back(places.services[1], steady) == expected)
    settle(places, moved, others)
    abroad(places, moved, steady)
    system_jobs(places)
    check("nothing of the tenant is left behind", rows_of(places.home, places.id_of(moved.slug)) == 0)
    print(f"killed at each of {len(STEPS)} steps: {len(moved.acknowledged)} acknowledged, 0 lost; others: "
          f"{sum(len(tenant.acknowledged) for tenant in others)} acknowledged, 0 refused")


def abroad(places, tenant, caller):
    """What an admin and a user do who live at another place than home."""
    service = places.services[0]
    operator = Caller(places.command("token", "--tenant", tenant.slug, "--operator", "--user", "op"))
    service.ask(operator, "GET", f"/v1/admin/jobs?tenant={tenant.slug}&place=eu2", wanted=(400,))
    whole = service.ask(operator, "GET", f"/v1/admin/users/{caller.user}/export?tenant={tenant.slug}")
    check("an admin takes all of a user", whole[:2] == b"PK" and len(whole) > 2000)
    check("a user takes all skills", service.ask(caller, "GET", "/v1/skills/export")[:2] in (b"PK", b"\x1f\x8b"))
    service.ask(operator, "PUT", f"/v1/admin/webhook?tenant={tenant.slug}", {"url": "http://127.0.0.1:9/none"})
    tried = json.loads(service.ask(operator, "POST", f"/v1/admin/webhook/test?tenant={tenant.slug}"))
    check(f"the webhook is found and tried: {tried}", tried["delivered"] is False)
    detail = service.get(operator, f"/v1/admin/tenants/{tenant.slug}")
    check(f"an operator sees where it lives: {detail}", detail["place"] == "eu2" and detail["stored"]["skills"] > 0)
    found = [item["slug"] for item in service.get(operator, "/v1/admin/tenants?limit=100")["items"]]
    check(f"the list has tenants of all places once: {found}", found == ["acme", "euro", "globex"])


def system_jobs(places):
    """An operator in no tenant sees, tries again and discards the system's jobs at each place."""
    service = places.services[0]
    operator = Caller(places.command("token", "--operator", "--user", "op"))
    # No worker knows the task, so the job stays until somebody discards it.
    places.other.sql("select graphile_worker.add_job('of_tomorrow', '{}', run_at => now() + interval '1 day', job_key => 'later')",
                     DATABASE)

    def due(at):
        jobs = service.get(operator, f"/v1/admin/jobs?limit=200{at}")["items"]
        return {job["id"]: job["run_at"] for job in jobs if job["key"] == "later"}

    here, there = due(""), due("&place=eu2")
    check(f"the job is where it is: {here} {there}", not here and len(there) == 1)
    job = next(iter(there))
    service.ask(operator, "POST", f"/v1/admin/jobs/{job}/retry?place=eu2")
    check("it is due at once", due("&place=eu2")[job] < there[job])
    remote = {**service.env, "KNOWHOW_URL": service.url, "KNOWHOW_TOKEN": operator.credential}
    run(places.program, remote, "admin", "discard-job", str(job), "--place", "eu2")
    check("it is discarded", not due("&place=eu2"))
    service.ask(operator, "GET", "/v1/admin/jobs?place=nowhere", wanted=(400,))


def settle(places, moved, others):
    """Nothing acknowledged is lost; only the tenant that moves was refused; the jobs are done and the audit logs are whole."""
    for tenant in (moved, *others):
        lost = tenant.lost(places.services[0]) + tenant.lost(places.services[1])
        check(f"nothing of {tenant.slug} is lost: {lost[:5]}", not lost)
        check(f"nothing of {tenant.slug} failed: {tenant.broken[:3]}", not tenant.broken)
    for tenant in others:
        check(f"nobody of {tenant.slug} was refused: {tenant.refused[:3]}", not tenant.refused)
    check("the tenant was refused for being moved", moved.refused and all("is being moved" in said for _, _, said in moved.refused))
    due = f"select count(*) from graphile_worker._private_jobs where payload ->> 'tenant_id' = '{places.id_of(moved.slug)}'"
    until("the tenant's jobs to be done", lambda: {cluster.sql(f"{due} and attempts < max_attempts", DATABASE)
                                                   for cluster in (places.home, places.other)} == {"0"})
    for cluster in (places.home, places.other):
        check("no job has failed for good", cluster.sql(f"{due} and attempts >= max_attempts", DATABASE) == "0")
    unread = f"""select count(*) from skills s
        where s.tenant_id = '{places.id_of(moved.slug)}' and s.name like 'skill-%' and not exists (
            select from entities e where e.tenant_id = s.tenant_id and e.user_id = s.user_id and e.entity_id = s.skill_id
            and e.read_by > 0)"""
    check("the jobs have done their work", places.where(moved.slug).sql(unread, DATABASE) == "0")
    places.command("audit", "verify")
    places.command("doctor")


def back_home(places, moved, others):
    """The way back, undisturbed: how long the tenant is refused."""
    again = [Tenant(tenant.slug, tenant.key, places.services) for tenant in (moved, *others)]
    for tenant in again:
        tenant.start()
    until("saves", lambda: all(len(tenant.acknowledged) > 30 for tenant in again))
    began = time.monotonic()
    said = places.move(moved.slug, "home", "--grace-s", "2")
    took = time.monotonic() - began
    before = len(again[0].acknowledged)
    until("saves back home", lambda: len(again[0].acknowledged) > before + 30)
    for tenant in again:
        tenant.stop()
    settle(places, again[0], again[1:])
    check("nothing is left behind there", rows_of(places.other, places.id_of(moved.slug)) == 0)
    window = again[0].refused_for(began)
    print(f"moved back in {took:.1f} s: {said[-1]}; from its first refused request to its last: {window * 1000:.0f} ms "
          f"({len(again[0].refused)} requests); others: 0 refused")


def given_up(places, moved):
    """A move that is ended half way: the tenant goes on, and nothing is at the other place. Another direction is no way to end it."""
    places.move(moved.slug, "eu2", kill_at="rejecting the tenant's requests")
    for options in ((), ("--abort",)):
        command = [places.program, "tenant", "move", moved.slug, "--to", "home", *options]
        refused = subprocess.run(command, env=places.owner_env, text=True, capture_output=True)
        check(f"the way back is refused: {refused}", refused.returncode and ("--abort" in refused.stderr or "already" in refused.stderr))
    places.move(moved.slug, "eu2", "--abort")
    check("nothing is at the other place", rows_of(places.other, places.id_of(moved.slug)) == 0)
    caller = Caller(moved.key, "0-0")
    until("the tenant's requests to be answered",
          lambda: b"items" in places.services[0].ask(caller, "GET", "/v1/skills?limit=1", wanted=(200, 503)))
    slots = "select count(*) from pg_replication_slots"
    check("no slot keeps the log", places.home.sql(slots) == "0" and places.other.sql(slots) == "0")
    print("given up half way: the tenant goes on where it was, and nothing is left at the other place")


def differing(places, moved):
    """Rows that arrive otherwise than they left: the tenant stays where it is, and the next try copies anew."""
    places.move(moved.slug, "eu2", kill_at="rejecting the tenant's requests")
    tenant = places.id_of(moved.slug)
    places.other.sql(f"update skills set description = 'other' where tenant_id = '{tenant}' and name = 'skill-1'", DATABASE)
    command = [places.program, "tenant", "move", moved.slug, "--to", "eu2"]
    refused = subprocess.run(command, env=places.owner_env, text=True, capture_output=True)
    check(f"the difference is found: {refused}", refused.returncode and "with different contents" in refused.stderr)
    check("it stays where it was", places.where(moved.slug) is places.home)
    places.move(moved.slug, "eu2", "--grace-s", "0")
    other = "select count(*) from skills where description = 'other'"
    check("the next try has copied anew", places.where(moved.slug) is places.other and places.other.sql(other, DATABASE) == "0")
    places.move(moved.slug, "home", "--grace-s", "0")
    print("rows that differ: the tenant stays, and the next try copies anew")


def server_killed(places, moved):
    """A server that crashes while a tenant is on its way: the command ends with an error, and goes on when it is given again."""
    # Of each way, the server that the tenant comes to, and the one that it leaves.
    for place, crashes, step in (("eu2", places.other, "copying"), ("home", places.other, "copying"),
                                 ("eu2", places.other, "rejecting the tenant's requests"),
                                 ("home", places.other, "rejecting the tenant's requests")):
        tenant = Tenant(moved.slug, moved.key, places.services).start()
        until("saves", lambda: len(tenant.acknowledged) > 10)
        code, said = places.disturb(moved.slug, place, step=step, act=lambda _: os.kill(crashes.pid(), signal.SIGKILL))
        crashes.start()
        check(f"the command says what is wrong: {said}", code == 1 and any(line.startswith("knowhow: ") for line in said))
        places.move(moved.slug, place, "--grace-s", "0")
        before = len(tenant.acknowledged)
        until("saves after the move", lambda: len(tenant.acknowledged) > before + 10)
        tenant.stop()
        lost = tenant.lost(places.services[0])
        check(f"nothing is lost: {lost[:5]}", not lost)
        check(f"it lives at {place}", places.where(moved.slug) is {"home": places.home, "eu2": places.other}[place])
    print("a server killed on the way, four times: 0 lost, and the same command brings the tenant there")


def unaware(places, moved):
    """A process that does not know the new place keeps a tenant from being moved there, also where it has no connection."""
    places.home.sql("insert into processes (process_id, kind, version, host, connections) "
                    "values (gen_random_uuid(), 'serve', '0', 'asleep', 1)", DATABASE)
    command = [places.program, "tenant", "move", moved.slug, "--to", "eu2"]
    refused = subprocess.run(command, env=places.owner_env, text=True, capture_output=True)
    check(f"it is told of: {refused}", refused.returncode and "are not registered at place 'eu2'" in refused.stderr)
    places.home.sql("delete from processes where host = 'asleep'", DATABASE)
    print("a process that does not know the new place: the tenant is not moved there")


def place_away(places, here, there):
    """A place that is away takes its own tenants with it, and nobody else's: home, and then the other."""
    services = places.services
    places.home.stop()
    try:
        time.sleep(1.5)
        for n in range(20):
            services[n % 2].ask(Caller(there.key, "0-0"), "POST", "/v1/sessions", {"key": f"h{n}", "channel": "chat"})
        services[0].ask(Caller(here.key, "0-0"), "GET", "/v1/skills?limit=1", wanted=(503,))
    finally:
        places.home.start()
    places.other.stop()
    try:
        time.sleep(1.5)
        answers = [services[n % 2].ask(Caller(here.key, "0-0"), "POST", "/v1/sessions", {"key": f"s{n}", "channel": "chat"})
                   for n in range(20)]
        check("tenants of the other place are served", len(answers) == 20)
        check("the processes are ready", all(service.is_ready() for service in services))
        services[0].ask(Caller(there.key, "0-0"), "GET", "/v1/skills?limit=1", wanted=(503,))
    finally:
        places.other.start()
    caller = Caller(there.key, "0-0")
    until("the place to be served again",
          lambda: b"items" in services[0].ask(caller, "GET", "/v1/skills?limit=1", wanted=(200, 503)))
    print("a place away: tenants of the other are served, its own are told to come again, and are served once it is back")


def main():
    """All of it, one after the other."""
    start_beside()
    with servers() as clusters, tempfile.TemporaryDirectory() as folder:
        places = Places(clusters, Path(folder))
        try:
            places.start()
            moved, stays, abroad = places.tenant("acme"), places.tenant("globex"), places.tenant("euro", "eu2")
            taken = subprocess.run([places.program, "tenant", "create", "euro"], env=places.services[0].env, text=True,
                                   capture_output=True)
            check(f"a name is given once: {taken.stderr}", taken.returncode and "already exists" in taken.stderr)
            killed_at_each_step(places, moved, [stays, abroad])
            back_home(places, moved, [stays, abroad])
            given_up(places, moved)
            differing(places, moved)
            unaware(places, moved)
            server_killed(places, moved)
            place_away(places, stays, abroad)
        finally:
            places.stop()


if __name__ == "__main__":
    main()
