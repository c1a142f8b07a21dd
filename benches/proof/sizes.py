"""What a user, a request, a job and a process take: the measured part of docs/operators/scaling.md."""

import json
import time

from harness.load import cpu_times, resident_mib
from harness.seed import SLUG, Tenant
from harness.texts import choose_texts

from tools.waiting import until

from .load import Load, People, furnish, run
from .stage import Stage

SKILLS, VERSIONS, SESSIONS, TURNS = 30, 4, 10, 6
COLUMNS = ("what", "measured")
# What fills the disk of a user, by table; the others are summed up.
TABLES = 8
SIZE = """select c.relname, pg_total_relation_size(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname in ('public', 'graphile_worker', 'app') order by 2 desc"""
KINDS = {"list of 10 skills": ("list",), "load": ("load",), "save": ("save",), "turn": ("turn",),
         "everyday mix": ("turn",) * 4 + ("list",) * 2 + ("load",) * 2 + ("save",) * 2}


def try_sizes(program, work, options, say):
    """The rows of the table; nothing is missed here."""
    options.texts = choose_texts(say)
    stage = Stage(program, work)
    try:
        stage.serve(**stage.model())
        rows = [*disk(stage, options, say), *requests(stage, options, say), *jobs(stage, options, say), *memory(stage)]
    finally:
        stage.stop()
    return [dict(zip(COLUMNS, row)) for row in rows], []


def disk(stage, options, say):
    """Fills users as a year of use leaves them, and weighs the database."""
    users = 10 if options.quick else 60
    tenant = Tenant(stage, users, 0, options.texts, SLUG)
    tenant.make_tenant()
    stage.work_on()
    stage.psql("vacuum (analyze)")
    before, empty = int(stage.psql("select pg_database_size(current_database())")), weights(stage)
    bodies = 0
    for number in range(1, users + 1):
        bodies += fill(stage, tenant, number)
    say(f"  {users} users are filled")
    vectors = f"select count(*) from skill_embeddings e join tenants t using (tenant_id) where t.slug = '{SLUG}'"
    if stage.model():
        until("the vectors of the skills", lambda: int(stage.psql(vectors)) == users * SKILLS, 300)
    stage.kill_worker()
    stage.psql("vacuum full")
    stage.psql("checkpoint")
    after = int(stage.psql("select pg_database_size(current_database())"))
    grown = {name: size - empty.get(name, 0) for name, size in weights(stage).items()}
    largest = sorted(grown.items(), key=lambda item: -item[1])[:TABLES]
    parts = ", ".join(f"`{name}` {size / users / 1024:.0f}" for name, size in largest)
    return [("database without users", f"{before / 2**20:.0f} MiB"),
            (f"a user with {SKILLS} skills of {bodies / users / SKILLS / 1024:.1f} KiB, {VERSIONS} versions each, {SESSIONS} conversations "
             f"of {TURNS} turns", f"{(after - before) / users / 1024:.0f} KiB on disk, just after `vacuum full`"),
            ("of these, in KiB", parts)]


def weights(stage):
    """Bytes by table, with indexes and what is stored apart."""
    return {name: int(size) for name, size in (line.split("|") for line in stage.psql(SIZE).splitlines())}


def fill(stage, tenant, number):
    """One user's skills with versions, and conversations; the bytes of the bodies."""
    token, total = tenant.token(number), 0
    for place in range(SKILLS):
        text = tenant.texts.skill()
        wish = text.pop("wish") or "what is next?"
        for version in range(VERSIONS):
            body = {"name": f"skill-{place}", **text, "content": text["content"] + f"\nNoted in version {version}.\n"}
            answer(stage, "POST", "/v1/skills", token, body)
        total += len(text["content"].encode())
    for _ in range(SESSIONS):
        session = answer(stage, "POST", "/v1/sessions", token, {"channel": "chat"})["id"]
        for turn in range(TURNS):
            answer(stage, "POST", f"/v1/sessions/{session}/turns", token, {"message": f"{wish} ({turn})", "deadline_ms": 2000})
            answer(stage, "POST", f"/v1/sessions/{session}/reply", token, {"message": "It is done. " * 20})
        answer(stage, "POST", f"/v1/sessions/{session}/end", token, {})
    return total


def answer(stage, *request):
    """That of a request which is taken."""
    status, _, body = stage.send(*request)
    if status >= 300:
        raise AssertionError(f"{request[:2]}: {status} {body[:300]}")
    return json.loads(body or b"null")


def requests(stage, options, say):
    """CPU of each kind, on 8 connections."""
    people = People(stage.tenant("speed"), stage.port, 40, 10)
    furnish(stage, people)
    rows, seconds = [], 3 if options.quick else 8
    for name, mix in KINDS.items():
        run(Load(people, 1, lanes=8, mix=mix))
        before = cpu_times(stage)
        outcome = run(Load(people, seconds, lanes=8, mix=mix))
        after = cpu_times(stage)
        # In the second in which what is under way ends nothing else is asked.
        cost = {part: 1000 * (after[part] - before[part]) / len(outcome.answers) for part in ("service", "postgres")}
        each = sum(cost.values())
        say(f"  {name}: {outcome.good():,.0f}/s, {each:.2f} ms")
        rows.append((f"CPU of a request: {name}", f"{cost['service']:.2f} ms service + {cost['postgres']:.2f} ms Postgres: "
                     f"{1000 / each:,.0f} a second and core of both ({outcome.good():,.0f} a second here)"))
    return rows


def jobs(stage, options, say):
    """How many jobs a second one worker does: relations and vectors of skills that an import brought."""
    if not stage.model():
        return [("jobs", "not measured: no embeddings model")]
    from harness.saving import import_all
    tenant = Tenant(stage, 1, 0, options.texts.again(), "jobs")
    tenant.make_tenant()
    tenant.id = stage.psql("select tenant_id from tenants where slug = 'jobs'")
    count = 100 if options.quick else 600
    import_all(stage, tenant, count)
    left = "select count(*) from graphile_worker._private_jobs where run_at <= now()"
    queued, began = int(stage.psql(left)), time.monotonic()
    stage.work_on()
    until("the jobs to be done", lambda: int(stage.psql(left)) == 0, 900)
    took = time.monotonic() - began
    say(f"  {queued} jobs for {count} skills in {took:.0f} s")
    return [("one worker, an import", f"{queued:,} jobs in {took:.0f} s: {queued / took:,.0f} jobs a second, {count / took:,.0f} skills' "
             "vectors a second"),
            ("memory of that worker, with the model", f"{resident_mib(stage.worker.pid)[0]:.0f} MiB")]


def memory(stage):
    """Of the service, after all of this."""
    now, peak = resident_mib(stage.process.pid)
    return [("memory of the service after this, with the model", f"{now:.0f} MiB, peak {peak:.0f} MiB"),
            ("connections to Postgres of service and worker", f"{stage.connections()}")]
