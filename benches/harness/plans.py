"""The plans of hot statements, as the service has them made: once for all values, and by an index where there is one."""

from uuid import UUID

from .statements import plan_settings, service_statements
from .table import heading

HOT = ("counts.check", "counts.count_load", "skills.list_page", "skills.list_rows", "skills.list_published", "skills.list_index",
       "skills.find_revisions", "skills.load", "skills.raw", "skills.read_base", "skills.insert", "skills.update", "skills.compare",
       "skills.list_stamps", "skills.list_texts", "sessions.read_turn", "sessions.write_turn", "sessions.open", "snapshots.find_current",
       "snapshots.read_parts", "snapshots.put")
CONTEXT = "set local role knowhow_tenant; set local app.tenant_id = '{nobody}'; set local app.user_id = '{nobody}';"


def look(instance):
    """The plan of each, by its name, as the tables and what Postgres knows of them are now; without what the policies ask,
    which is the same of every table."""
    statements = service_statements()
    lines = ["begin;", CONTEXT.format(nobody=UUID(int=0)), f"{plan_settings()};"]
    for name in HOT:
        lines += [f"\\echo == {name}", f"explain (generic_plan, costs off)\n{statements[name]};"]
    answer = instance.psql("\n".join([*lines, "rollback;"]))
    told = "\n".join(line for line in answer.splitlines() if not line.lstrip().startswith("One-Time Filter: (((COALESCE(NULLIF("))
    return dict(part.split("\n", 1) for part in told.removeprefix("== ").split("\n== "))


def page(document, looked):
    """For `latest-plans.md`: each plan with statistics of the run's rows, and where it was another one that of empty tables."""
    empty, fresh = looked["empty"], looked["fresh"]
    parts = [heading(document, "plans of the hot statements, for all values, with fresh statistics of the rows that the run left; "
                               "and where it is another one, that which a connection keeps that made it while the tables were empty")]
    for name, plan in fresh.items():
        parts.append(f"## {name}\n\n```\n{plan.rstrip()}\n```\n")
        if empty[name] != plan:
            parts.append(f"While the tables were empty:\n\n```\n{empty[name].rstrip()}\n```\n")
    return "\n".join(parts)
