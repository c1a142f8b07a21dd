"""Round trips to Postgres and statements of warm requests."""

import json
import re
import statistics
from urllib.parse import quote_plus, urlsplit

from tools.settings import Failed

from . import mcp
from .wire import Wire

WARM, COUNTED = 8, 21
CONTROL = re.compile(r"(begin|start transaction|commit|rollback|set|reset|savepoint|release)\b", re.I)
CALLS = ("select coalesce(json_object_agg(query, calls), '{}') from (select query, sum(calls) calls from pg_stat_statements "
         "where dbid = (select oid from pg_database where datname = current_database()) "
         "and userid <> current_user::regrole group by query) s")


def count_flights(instance, tenant):
    """For each operation the median of its round trips, one request after another by one user, and the statements that Postgres
    saw: the service's `own`, and `control` of transactions. Statements None without pg_stat_statements."""
    parts = urlsplit(instance.login_url)
    wire = Wire(parts.port or 5432, parts.hostname)
    through = parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{wire.port}").geturl()
    instance.restart(KNOWHOW_DATABASE_URL=through)
    try:
        statements = has_statements(instance)
        return {name: count(instance, wire, ask, statements) for name, ask in requests(instance, tenant).items()}
    finally:
        instance.stop_service()
        wire.close()


def requests(instance, tenant):
    """What to do for one of each operation."""
    token, skill = tenant.token(1), tenant.skills[0]["name"]
    path, number = f"/v1/skills/{skill}", iter(range(1_000_000))

    def send(method, target, body=None, headers=None):
        status, _, answer = instance.send(method, target, token, body, headers)
        if status >= 400:
            raise Failed(f"{method} {target} was answered with {status}: {answer.decode()[:300]}")

    turns = f"/v1/sessions/{tenant.sessions([1])[0]}/turns"
    wish = tenant.messages[0]
    etag = tenant.etags("/v1/snapshot", [1])[0]

    def save(name):
        send("POST", "/v1/skills", {"name": name, "description": tenant.description, "content": f"{next(number)}{tenant.body}"})

    return {
        "index": lambda: send("GET", "/v1/skills"),
        "search": lambda: send("GET", f"/v1/skills?q={quote_plus(wish)}&limit=5"),
        "load": lambda: send("GET", path),
        "raw": lambda: send("GET", f"{path}/SKILL.md"),
        "skill_view": lambda: mcp.ask(instance, token, mcp.view(skill)),
        "skills/list": lambda: mcp.ask(instance, token, mcp.list_skills()),
        "turn": lambda: send("POST", turns, {"message": wish}),
        "open": lambda: send("POST", "/v1/sessions", {"channel": "sms"}),
        "snapshot": lambda: send("GET", "/v1/snapshot"),
        "snapshot_304": lambda: send("GET", "/v1/snapshot", headers={"If-None-Match": etag}),
        # The last two change the user's catalogue.
        "save": lambda: save(skill),
        "create": lambda: save(f"counted-{next(number)}"),
    }


def count(instance, wire, ask, statements):
    """Of one operation. The median, as the service does other things beside now and then."""
    for _ in range(WARM):
        ask()
    before = calls(instance) if statements else {}
    flights = statistics.median(wire.count(ask) for _ in range(COUNTED))
    if not statements:
        return {"flights": flights, "statements": None}
    sums = {"own": 0, "control": 0}
    for text, number in calls(instance).items():
        sums["control" if CONTROL.match(text) else "own"] += number - before.get(text, 0)
    return {"flights": flights, "statements": {kind: round(number / COUNTED, 1) for kind, number in sums.items()}}


def has_statements(instance):
    """Whether the server counts statements."""
    try:
        instance.psql("create extension if not exists pg_stat_statements")
        instance.psql(CALLS)
        return True
    except Failed:
        return False


def calls(instance):
    """How often each statement was called."""
    return json.loads(instance.psql(CALLS))
