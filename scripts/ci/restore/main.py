"""Dumps a database in use, restores it on another server, compares it and serves it; then restores an older dump under a process.

The process must not serve later data, and erased users must not come back. docs/operators/backup.md tells an operator the same steps.
"""

import os
import tempfile
from pathlib import Path

from scripts.ci.user_data import Busy, fill, read_back
from tools.build import test_program
from tools.caller import Caller
from tools.cluster import start_beside
from tools.service import Service, environment, skill
from tools.settings import check
from tools.waiting import until

from dumps import Dumped, compare

NAME = f"knowhow_restore_{os.getpid()}"
# In no text but the erased user's.
CANARY = "zanzibar-canary-4711"


def make_tenants(service):
    """Two tenants with three users each, and who looks after them."""
    users, operators = [], {}
    for slug in ("acme", "globex"):
        service.command("tenant", "create", slug)
        key = service.command("key", "create", "--tenant", slug)
        operators[slug] = Caller(service.command("token", "--tenant", slug, "--operator", "--user", "op"))
        users += [Caller(key, name) for name in ("alice", f"bob-{CANARY}", "carol")]
    return users, operators


def is_idle(cluster, database):
    """Whether no job is due: what they change is no part of the comparison."""
    due = "select count(*) from graphile_worker._private_jobs where run_at <= now() and attempts < max_attempts"
    return cluster.sql(due, database) == "0"


def equal(source, target, service):
    """A dump under load, on another server: equal in rows and rules, and served."""
    users, operators = make_tenants(service)
    for caller in users:
        fill(service, caller, CANARY if CANARY in caller.user else f"pears of {caller.user}")
    until("the jobs to end", lambda: is_idle(source, NAME))
    expected = [read_back(service, caller) for caller in users]
    file = target.home / "first.dump"
    with Busy(service, Caller(users[0].credential, "busy")) as busy:
        before = source.dump(NAME, file)
        check("the writer went on during the dump", busy.saved > 3)
    service.stop()
    target.take_roles(source)
    target.restore(file, "knowhow")
    after = target.figures("knowhow")
    compare(before, after)
    differ = set(source.schema(NAME)) ^ set(target.schema("knowhow"))
    check(f"tables, policies, grants and functions are equal: {sorted(differ)[:6]}", not differ)
    counts = {name: seen[-1][0] for name, seen in after.items()}
    filled = [name for name, count in counts.items() if count]
    check("many tables have rows", len(filled) > 25)
    total = sum(counts.values())
    print(f"equal: {len(counts)} tables and sequences, {len(filled)} with rows, {total} rows, {file.stat().st_size} bytes of dump")

    restored = Service(service.program, environment(**target.environment("knowhow")), service.log.with_name("restored.log"))
    restored.command("migrate", "--set-login-password")
    restored.command("doctor")
    restored.start("--with-worker")
    check("every user finds all again", [read_back(restored, caller) for caller in users] == expected)
    restored.command("audit", "verify")
    print(f"served: {len(users)} users of 2 tenants find all again, with the keys that they had")
    return restored, users, operators


def back_in_time(target, service, users, operators):
    """The older dump comes back under a running process, after a change and an erasure."""
    alice, bob, carol = users[:3]
    operator = operators["acme"]
    service.ask(alice, "PATCH", "/v1/skills/task-0", {"edits": [{"old_string": "Step 0", "new_string": "Never again"}]})
    service.ask(alice, "POST", "/v1/skills", skill("of-later", "Is not in the dump."))
    names = [item["name"] for item in service.get(alice, "/v1/skills?limit=100")["items"]]
    check("the process has seen what came later", "of-later" in names)
    service.ask(operator, "DELETE", f"/v1/admin/users/{bob.user}?tenant=acme&reason=asked%20for%20by%20the%20user")
    until("the erasure to end",
          lambda: service.get(operator, "/v1/admin/erasures?tenant=acme")["items"][0].get("finished_at"))
    ledger = service.log.with_name("erasures.jsonl")
    ledger.write_text(service.command("erasures") + "\n")
    check("the ledger names nobody", CANARY not in ledger.read_text())

    target.restore(target.home / "first.dump", "older")
    target.swap("knowhow", "older")
    again = "select count(*) from users where external_id like '%canary%'"
    check("the dump has who was erased", target.sql(again, "knowhow") == "2")
    restored = ("migrate", "--restored", "--erasures", str(ledger))
    service.command(*restored)
    until("the running process to find the database again", service.is_ready)
    check("who was erased is nobody", target.sql(again, "knowhow") == "1")
    service.ask(operator, "GET", f"/v1/admin/users/{bob.user}?tenant=acme", wanted=(404,))

    # Another process brings the user's revision to the number that the running one remembers.
    other = Service(service.program, service.env, service.log.with_name("other.log"))
    other.start("--with-worker")
    try:
        other.ask(alice, "PATCH", "/v1/skills/task-0", {"edits": [{"old_string": "Step 0", "new_string": "After all"}]})
        other.ask(alice, "POST", "/v1/skills", skill("elsewhere", "By another process."))
        believed(service, other, alice)
        check("a user without a change finds all again", read_back(service, carol) == read_back(other, carol))
        until("the rows to be removed again", lambda: CANARY not in dump_of_tenant(target))
        service.command(*restored)
        believed(service, other, alice)
        check("who was erased stays so", CANARY not in dump_of_tenant(target))
        service.command("audit", "verify")
        service.command("doctor")
    finally:
        other.stop()
    print("back in time: nothing remembered of later is served, and who was erased is gone, twice")


def believed(service, other, alice):
    """The running process and a fresh one read the same, and nothing of later."""
    names = [item["name"] for item in service.get(alice, "/v1/skills?limit=100")["items"]]
    check(f"the list is of the database: {names}", "elsewhere" in names and "of-later" not in names)
    text = service.ask(alice, "GET", "/v1/skills/task-0/SKILL.md").decode()
    check(f"the skill is of the database: {text}", "After all" in text and "Never again" not in text)
    check("both processes read the same", read_back(service, alice) == read_back(other, alice))
    found = service.get(alice, "/v1/skills/suggest?context=of-later%20task-0%20elsewhere")["items"]
    check(f"what is found is of the database: {found}", "elsewhere" in str(found) and "of-later" not in str(found))


def dump_of_tenant(target):
    """The database as text, without the other tenant's user of the same name."""
    said = target.tool("pg_dump", "--data-only", "--restrict-key=same", database="knowhow")
    other = target.sql("select tenant_id from tenants where slug = 'globex'", "knowhow")
    return "\n".join(line for line in said.splitlines() if other not in line)


def main():
    """Both, one after the other."""
    start_beside()
    source = Dumped.of_checkout()
    with source.database(NAME) as variables, Dumped.temporary("restore") as target, tempfile.TemporaryDirectory() as folder:
        target.make()
        first = Service(test_program(), environment(**variables), Path(folder) / "first.log")
        first.command("migrate")
        first.start("--with-worker")
        services = [first]
        try:
            restored, users, operators = equal(source, target, first)
            services.append(restored)
            back_in_time(target, restored, users, operators)
        finally:
            for service in services:
                service.stop()


if __name__ == "__main__":
    main()
