"""What is measured, what it is held against, and what it is to reach."""

from dataclasses import dataclass
from typing import Optional

# Requests that are refused once the caller's token is verified and before any query, by the route they take: a route that
# stands late in the list is found later, and an operation is to be held against its own.
REFUSED = {"jwt_list": "/v1/skills?limit=0", "jwt_load": "/v1/skills/skill-001?peek=maybe",
           "jwt_snapshot": "/v1/snapshot?tools=some"}


@dataclass(frozen=True)
class Operation:
    """An operation of the wrk script; the files of benches/sql are named as it is."""

    name: str
    label: str
    jwt: str = "jwt_list"
    same_sql: bool = False  # NAME.sql: the service's own SQL
    floor: bool = False  # floor_NAME.sql: what a plain service would send
    flights: Optional[int] = None  # round trips to Postgres, at most
    speed: Optional[float] = None  # goal: share of the floor's rate
    share: Optional[float] = None  # goal: share of the combined limit
    limit_of: str = "floor"  # which reference the combined limit is of: "floor" or "same"
    cpu_ms: Optional[float] = None  # goal: service and Postgres together
    service_ms: Optional[float] = None  # goal: the service alone
    postgres: Optional[float] = None  # goal: times the Postgres CPU of the same SQL


WRITE = {"same_sql": True, "floor": True, "flights": 2, "share": 0.75, "limit_of": "same", "service_ms": 0.20, "postgres": 1.2}

OPERATIONS = (
    Operation("index", "index, 50 skills", same_sql=True, floor=True, flights=1, speed=1.5, share=0.85, cpu_ms=0.25),
    Operation("index_304", "index, 304", flights=1),
    Operation("search", "search, limit 5", flights=1, cpu_ms=0.30),
    Operation("load", "load a skill and count it", "jwt_load", same_sql=True, floor=True, flights=1, share=1.1, cpu_ms=0.22),
    Operation("raw", "raw SKILL.md", "jwt_load", same_sql=True, floor=True, flights=1, share=0.85),
    Operation("raw_304", "raw SKILL.md, 304", "jwt_load", flights=1),
    Operation("save", "save a new version", cpu_ms=0.75, **WRITE),
    Operation("save_other", "save another text in place of one"),
    Operation("create", "create a skill beside 50", **WRITE),
    Operation("create_cold", "create a skill beside 50, by a user who is new to the process"),
    Operation("create_first", "create the first skill of a new user"),
    Operation("turn", "turn by words", "jwt_snapshot", floor=True, flights=2, share=0.85),
    Operation("open", "open a session", "jwt_snapshot", flights=1),
    Operation("snapshot", "snapshot", "jwt_snapshot", flights=1),
    Operation("snapshot_304", "snapshot, 304", "jwt_snapshot", flights=0),
)
# By users whom each measurement has anew, with the usual skills but for the last.
BY_CREATORS = ("save_other", "create", "create_cold", "create_first")
BY_NAME = {operation.name: operation for operation in OPERATIONS}
# Goal of the 304 that is answered from memory, as a share of JWT only.
FROM_MEMORY = {"snapshot_304": 0.95}
# The same over MCP, how many round trips it takes, and how many times as long as REST it may take.
OVER_MCP = {"load": "skill_view", "index": "skills_list"}
AS_LONG = 1.5
GROWTH = 1.10


def rendered_files():
    """The files of benches/sql that pgbench runs, by the key under which their samples are kept."""
    same = {f"same {o.name}": f"{o.name}.sql" for o in OPERATIONS if o.same_sql}
    return {**same, **{f"floor {o.name}": f"floor_{o.name}.sql" for o in OPERATIONS if o.floor}}
