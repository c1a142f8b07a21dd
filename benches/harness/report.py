"""From samples to rows, to a table, to files."""

import json
import os
import platform
import statistics
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path

from .instance import ROOT

COLUMNS = ("operation", "measured", "reference", "ratio", "goal", "verdict")
PEERS = {"get": ("load", 0.20), "list": ("index", 0.25), "save": ("save", 0.50), "search": ("search with model", 0.45)}
# Statements of a warm request, where it is not one.
STATEMENTS = {"turn": 2}
# Operation over MCP, the same over REST, and how many times as long it may take.
OVER_MCP = {"skill_view": ("skill_view", "load"), "skills/list": ("skills_list", "index")}
AS_LONG = 1.5


def row(operation, measured, reference="", ratio="", goal="", met=None, verdict=None):
    """One line; `met` None: there is no goal, or nothing was measured."""
    verdict = verdict or {None: "", True: "met", False: "missed"}[met]
    return dict(zip(COLUMNS, (operation, measured, reference, ratio, goal, verdict)))


def rows(suite, facts):
    """The whole table."""
    median = suite.median
    jwt = median("authenticated", "rate")
    table = []

    def against(label, operation, goal, verdict=None, at_least=None):
        rate, reference = median(operation, "rate"), median(f"pgbench {operation}")
        ratio = rate / reference
        table.append(row(label, f"{rate:,.0f} req/s", f"pgbench {reference:,.0f} tps", f"{ratio:.2f}", goal,
                         ratio >= at_least if at_least else None, verdict and verdict(ratio)))

    def combined(label, operation):
        limit = 1 / (1 / median(f"pgbench {operation}") + 1 / jwt)
        ratio = median(operation, "rate") / limit
        table.append(row(f"{label}: share of the combined limit", f"{median(operation, 'rate'):,.0f} req/s",
                         f"1 / (1/pgbench + 1/JWT) {limit:,.0f}", f"{ratio:.2f}", ">= 0.85", ratio >= 0.85))

    against("index, 50 skills", "index", ">= 1.6 cached, >= 0.8 not",
            lambda r: "met" if r >= 1.6 else "met without a cache" if r >= 0.8 else "missed")
    p50, p99 = median("index at 32", "p50_ms"), median("index at 32", "p99_ms")
    table.append(row("index, 32 connections", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", "", "", "p99 <= 15 ms", p99 <= 15))
    against("load a skill and count it", "load", ">= 3.5", at_least=3.5)
    against("raw SKILL.md", "raw", "")
    against("save a new version", "save", ">= 0.9", at_least=0.9)
    against("create a skill", "create", ">= 0.9", at_least=0.9)
    combined("index", "index")
    combined("raw SKILL.md", "raw")
    for name, count in (facts.get("statements") or {}).items():
        goal = STATEMENTS.get(name, 1)
        table.append(row(f"{name}: statements beside BEGIN, SET LOCAL, COMMIT", f"{count:g} for each request",
                         "pg_stat_statements", "", str(goal), count == goal))
    table += turn_rows(suite)
    for label, operation, goal in (("index, 304", "index_304", None), ("raw SKILL.md, 304", "raw_304", None),
                                   ("snapshot", "snapshot", None), ("snapshot, 304", "snapshot_304", 0.8)):
        ratio = median(operation, "rate") / jwt
        table.append(row(label, f"{median(operation, 'rate'):,.0f} req/s", f"JWT only {jwt:,.0f} req/s", f"{ratio:.2f}",
                         f">= {goal}" if goal else "", ratio >= goal if goal else None))
    table.append(row("open a session", f"{median('open', 'rate'):,.0f} req/s, p50 {median('open', 'p50_ms'):.1f} ms"))
    health = median("health", "rate")
    table.append(row("JWT only (`?limit=0`, refused before any query)", f"{jwt:,.0f} req/s",
                     f"/healthz {health:,.0f} req/s", f"{jwt / health:.2f}"))
    for label, (operation, goal) in PEERS.items():
        if median(operation, "rate") is None:
            continue
        service, postgres = median(operation, "cpu_ms", "service"), median(operation, "cpu_ms", "postgres")
        if postgres is None:
            table.append(row(f"CPU: {label}", f"service {service:.3f} ms", "Postgres is elsewhere", "", f"<= {goal:.2f} ms"))
            continue
        total = service + postgres
        table.append(row(f"CPU: {label}", f"{total:.3f} ms", f"service {service:.3f} + Postgres {postgres:.3f}", "",
                         f"<= {goal:.2f} ms", total <= goal))
    for label, (operation, over_rest) in OVER_MCP.items():
        table += mcp_rows(median, label, operation, over_rest)
    table += [growth_row(suite, name) for name in ("index", "turn")] if suite.options.growth else []
    if imported := facts.get("import"):
        speed = imported["skills"] / imported["seconds"]
        table.append(row(f"import by CLI: {imported['outcome']}", f"{imported['seconds']:.2f} s", f"{speed:,.0f} skills/s"))
    memory = facts["memory"]
    met = memory["now_mib"] <= 150 if facts["active_users"] >= 1000 else None
    table.append(row(f"memory, {facts['active_users']:,} active users x 50 skills", f"{memory['now_mib']:.0f} MiB",
                     f"peak {memory['peak_mib']:.0f} MiB", "", "<= 150 MiB", met))
    table.append(row("start to first ready answer", f"{facts['start_seconds']:.2f} s", "", "", "<= 1 s",
                     facts["start_seconds"] <= 1))
    table.append(row("size of the program", f"{facts['binary_mib']:.1f} MiB"))
    return table


def mcp_rows(median, label, operation, over_rest):
    """How many times as long an operation takes over MCP as over REST, and what it costs there."""
    def both(*path):
        return median(operation, *path), median(over_rest, *path)

    goal = f"<= {AS_LONG} x the time"
    rate, rest_rate = both("rate")
    (p50, rest_p50), (p99, rest_p99) = both("p50_ms"), both("p99_ms")
    (service, rest_service), postgres = both("cpu_ms", "service"), median(operation, "cpu_ms", "postgres")
    part = "Postgres is elsewhere" if postgres is None else f"Postgres {postgres:.3f} ms"
    slower = [p50 / rest_p50, p99 / rest_p99]
    return [
        row(f"MCP: {label}", f"{rate:,.0f} req/s", f"REST {rest_rate:,.0f} req/s", f"{rest_rate / rate:.2f}", goal,
            rest_rate / rate <= AS_LONG),
        row(f"MCP: {label}, latency", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms",
            f"REST p50 {rest_p50:.1f} ms, p99 {rest_p99:.1f} ms", "{:.2f}, {:.2f}".format(*slower), goal,
            max(slower) <= AS_LONG),
        row(f"CPU: {label}", f"service {service:.3f} ms, {part}", f"REST service {rest_service:.3f} ms",
            f"{service / rest_service:.2f}"),
    ]


def turn_rows(suite):
    """Turns beside the index of the same rounds, and by the clock."""
    median = suite.median

    def beside(label, suffix):
        turn, index = (median(operation + suffix, "rate") for operation in ("turn", "index"))
        return row(label, f"{turn:,.0f} req/s", f"index {index:,.0f} req/s", f"{turn / index:.2f}", ">= 0.6",
                   turn / index >= 0.6)

    table = [beside("turn by words", "")]
    if median("turn with model", "rate") is None:
        return [*table, row("turn with a vector", "not measured", verdict="no model")]
    p50, p99 = median("turn_fresh", "p50_ms"), median("turn_fresh", "p99_ms")
    p99_hurried, latest = median("turn_deadline", "p99_ms"), max(s["max_ms"] for s in suite.samples["turn_deadline"])
    without = median("turn_deadline", "degraded") / median("turn_deadline", "requests")
    return [
        *table,
        beside("turn, its message's vector at hand", " with model"),
        row("turn, a fresh message each, local model, 1 connection", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", "", "",
            "p50 <= 25 ms, p99 <= 80 ms", p50 <= 25 and p99 <= 80),
        row("the same at 16 connections, deadline 50 ms", f"p99 {p99_hurried:.1f} ms, latest {latest:.1f} ms",
            f"{without:.0%} without the vector", "", "latest <= 60 ms", latest <= 60),
    ]


def growth_row(suite, operation):
    """How much dearer an operation has become, freed of what the machine did meanwhile."""
    few, many = suite.options.growth
    rate = {n: suite.median(f"{operation} at {n}", "rate") for n in (few, many)}
    drift = suite.median(f"jwt at {few}", "rate") / suite.median(f"jwt at {many}", "rate")
    ratio = rate[few] / rate[many] / drift
    return row(f"growth: {operation} with {few * 50:,} and {many * 50:,} rows", f"{rate[many]:,.0f} req/s",
               f"{rate[few]:,.0f} req/s, JWT drift {drift:.2f}", f"{ratio:.2f}", "<= 1.15", ratio <= 1.15)


def text_table(table):
    """For a terminal."""
    widths = [max(len(line[column]) for line in [dict(zip(COLUMNS, COLUMNS)), *table]) for column in COLUMNS]
    lines = [[*COLUMNS], ["-" * width for width in widths], *([line[c] for c in COLUMNS] for line in table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def markdown(table, document):
    """For the README."""
    machine = document["machine"]
    escape = lambda cell: cell.replace("|", "\\|")
    lines = [f"{document['date']}, commit {document['commit']}, {machine['cores']} cores ({machine['cpu']}) shared by "
             f"Postgres {document['postgres']['version']}, the service and the load generator; medians of "
             f"{document['options']['rounds']} rounds x {document['options']['seconds']} s; flushing 8 kB to this disk takes "
             f"{machine['fdatasync_us']} us.", "",
             "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(escape(line[column]) for column in COLUMNS) + " |" for line in table]
    return "\n".join(lines) + "\n"


def document(suite, table, facts):
    """Everything, for the JSON file."""
    return {**surroundings(suite.instance, suite.options), "facts": facts, "table": table, "samples": suite.samples}


def surroundings(instance, options):
    """When, of what, on what, with what."""
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "commit": commit(),
            "machine": {**machine(), "fdatasync_us": flush_time(instance.work)},
            "postgres": postgres(instance), "options": chosen(options)}


def write(folder, document, page, name=""):
    """Writes the samples and the page of a run; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{document['date']}-{document['commit'].split('+')[0]}{name}.json"
    data.write_text(json.dumps(document, indent=1, default=str) + "\n")
    latest = folder / f"latest{name}.md"
    latest.write_text(page)
    return data, latest


def commit():
    """The short hash, with a mark where the tree differs from it."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(ROOT), *arguments], text=True, capture_output=True).stdout.strip()
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+changes" if git("status", "--porcelain") else "")


def machine():
    """What it ran on."""
    cpu = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory, 1),
            "kernel": platform.release(), "load_average": os.getloadavg()[0]}


def flush_time(folder):
    """Median microseconds of an fdatasync after 8 kB: what every durable commit waits for, and the goals assume a real disk."""
    times = []
    with open(folder / "flush", "wb", buffering=0) as file:
        for _ in range(100):
            file.write(bytes(8192))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return round(statistics.median(times) * 1e6)


def postgres(instance):
    """The settings that decide what a commit costs."""
    names = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size")
    values = {name: instance.psql(f"show {name}") for name in names}
    return {"version": values.pop("server_version").split()[0], **values}


def chosen(options):
    """What was chosen for the run, without where things lie on this machine."""
    return {name: value for name, value in vars(options).items() if name not in ("program", "output", "model")}
