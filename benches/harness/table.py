"""Tables for a terminal and for a page, and the files of a run."""

import json
import os
import platform
import statistics
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path

from tools.settings import ROOT

COLUMNS = ("operation", "measured", "reference", "ratio", "goal", "verdict")


def row(operation, measured, reference="", ratio="", goal="", met=None, verdict=None):
    """One line; `met` None: there is no goal, or nothing was measured."""
    verdict = verdict or {None: "", True: "met", False: "missed"}[met]
    return dict(zip(COLUMNS, (operation, measured, reference, ratio, goal, verdict)))


def text_table(table):
    """For a terminal: rows with the same members."""
    columns = list(table[0])
    widths = [max(len(line[column]) for line in [dict(zip(columns, columns)), *table]) for column in columns]
    lines = [columns, ["-" * width for width in widths], *([line[c] for c in columns] for line in table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def markdown_table(table):
    """For a page."""
    columns = list(table[0])
    escape = lambda cell: cell.replace("|", "\\|")
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(escape(line[column]) for column in columns) + " |" for line in table)])


def heading(document, what):
    """The first paragraphs of a page: when, of what, on what, and what speaks against its figures."""
    machine = document["machine"]
    first = (f"{document['date']}, commit {document['commit']}, {machine['cores']} cores ({machine['cpu']}) shared by Postgres "
             f"{document['postgres']['version']}, the service and the load generator; {what}; {document['texts']}; flushing 8 kB "
             f"to this disk takes {machine['fdatasync_us']} us.")
    marked = [f"**Not a quiet run: {'; '.join(document['disturbed'])}.**"] if document["disturbed"] else []
    left_out = [f"Not measured: {sentence}." for sentence in document.get("left_out", [])]
    return "\n\n".join([first, *marked, *left_out]) + "\n\n"


def surroundings(instance, options):
    """When, of what, on what, with what."""
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "commit": commit(),
            "machine": {**machine(), "load_average": options.load_average, "fdatasync_us": flush_time(instance.work)},
            "postgres": postgres(instance), "options": chosen(options), "texts": options.texts.kind}


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
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory, 1), "kernel": platform.release()}


def flush_time(folder):
    """Median microseconds of an fdatasync after 8 kB: what every durable commit waits for."""
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
    elsewhere = ("program", "base_program", "output", "model", "texts", "load_average")
    return {name: value for name, value in vars(options).items() if name not in elsewhere}
