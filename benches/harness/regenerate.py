"""Snapshots of many users that are due at once, made anew by a worker while others read."""

import http.client
import random
import statistics
import threading
import time

from tools.caller import send
from tools.settings import Failed

from .seed import GROWTH_FIRST
from .statements import SQL

SKILLS, PER_SECOND, READERS = 20, 200, 8
# A body of a skill here; that of the suite would fill the disk with copies.
BODY_BYTES = 300
BEFORE_SECONDS = 20


def regenerate(instance, tenant, options, say):
    """Makes the users, has their snapshots fall due, and reads meanwhile."""
    users = options.snapshots
    say(f"  {users:,} snapshots made anew while {PER_SECOND} reads per second go on")
    first, last = GROWTH_FIRST + 1, GROWTH_FIRST + users
    source = GROWTH_FIRST + users + 1
    skills = [{"name": f"small-{k:03}"} for k in range(1, SKILLS + 1)]
    tenant.make_users(first, source)
    instance.restart()
    tenant.save(source, skills, BODY_BYTES)
    tenant.etags("/v1/snapshot", [source])
    budget = instance.psql(f"select index_budget from current_snapshots where user_id = bench.user_id({source})")
    tenant.copy(first, last, text=1, source=source)
    instance.psql(file=SQL / "snapshots.sql", tenant=tenant.id, first=first, last=last, budget=budget)
    instance.psql("vacuum (analyze)")
    instance.psql("checkpoint")
    of_them = f"user_id between bench.user_id({first}) and bench.user_id({last})"
    reading = Reading(instance, [tenant.token(n) for n in range(first, last + 1)], [skill["name"] for skill in skills])
    before = reading.during(lambda: time.sleep(BEFORE_SECONDS))

    instance.psql(f"update current_snapshots set rendered_at = now() - interval '1 hour', used_at = now() where {of_them}")
    due_since = instance.psql("select now()")
    instance.restart("--with-worker")
    began = time.monotonic()
    count = (f"select count(*) from current_snapshots where {of_them} and rendered_at > '{due_since}'::timestamptz")
    done = lambda: int(instance.psql(count))
    # Reads render what they ask for and find too old; they begin when the worker does.
    while not int(instance.psql("select count(*) from graphile_worker._private_jobs j join graphile_worker._private_tasks t "
                                "on t.id = j.task_id where t.identifier = 'render_snapshot'")) and not done():
        if time.monotonic() - began > 150:
            raise Failed("the worker found no snapshots that are due")
        time.sleep(0.1)
    until_first, began = time.monotonic() - began, time.monotonic()

    def until_all():
        while done() < users:
            if time.monotonic() - began > 1800:
                raise Failed(f"after half an hour {done()} of {users} snapshots are made anew")
            time.sleep(0.5)

    meanwhile = reading.during(until_all)
    seconds = time.monotonic() - began
    say(f"    {users / seconds:,.0f} a second; reads p99 {before['p99_ms']:.1f} ms before, {meanwhile['p99_ms']:.1f} ms meanwhile")
    return {"users": users, "skills": SKILLS, "per_second": PER_SECOND, "until_first": until_first, "seconds": seconds,
            "jobs_per_second": users / seconds, "before": before, "meanwhile": meanwhile}


class Reading:
    """Reads at a steady rate, whatever the answers take: each is timed from when it was due."""

    def __init__(self, instance, tokens, skills):
        self.instance, self.tokens, self.skills = instance, tokens, skills

    def during(self, work):
        """Reads for as long as `work` takes; what the reads took."""
        over, taken, failed = threading.Event(), [], []
        threads = [threading.Thread(target=self.read, args=(n, over, taken, failed)) for n in range(READERS)]
        for thread in threads:
            thread.start()
        try:
            work()
        finally:
            over.set()
            for thread in threads:
                thread.join()
        cuts = statistics.quantiles(taken, n=1000)
        return {"requests": len(taken), "failed": len(failed), "p50_ms": cuts[499], "p99_ms": cuts[989],
                "p999_ms": cuts[998]}

    def read(self, number, over, taken, failed):
        """One reader's share."""
        dice = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        due = time.monotonic() + number / PER_SECOND
        while not over.is_set():
            time.sleep(max(0, due - time.monotonic()))
            skill = dice.choice(self.skills)
            path = dice.choices(["/v1/skills", f"/v1/skills/{skill}", f"/v1/skills/{skill}/SKILL.md", "/v1/snapshot"],
                                [40, 20, 20, 20])[0]
            try:
                status = send(connection, "GET", path, dice.choice(self.tokens))[0]
            except OSError:
                status = 0
                connection.close()
            taken.append(1000 * (time.monotonic() - due))
            if status != 200:
                failed.append(status)
            due += READERS / PER_SECOND
        connection.close()
