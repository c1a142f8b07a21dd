"""The load run: mixed traffic of many users, and snapshots made anew while others read."""

import json
import re
import subprocess
import threading
import time

from tools.settings import Failed

from .load import cpu_times, resident_mib, run_wrk
from .operations import REFUSED
from .quiet import disturbances
from .regenerate import regenerate
from .samples import Samples, drift
from .saving import lines as saving_lines
from .saving import saving
from .seed import Tenant
from .statements import ROOT
from .table import heading, surroundings

SCRIPT = ROOT / "benches/wrk/mixed.lua"
CONNECTIONS = 32
MEMORY = {"by words": 130, "with the local model": 300}
# Memory is flat where the second half of a run of so many seconds adds no more than this share.
FLAT, FLAT_SECONDS = 0.03, 600
# Refusals take no time, and who is refused here asks again at once. More than the first share disturbs a run, more than the second
# ends it.
DISTURBING, MOST_REFUSED = 0.001, 0.05


def load_run(instance, options, say):
    """Everything; returns the page and the document."""
    say("  database and service")
    instance.create()
    instance.start(*["--with-worker"] * bool(options.model), **model_of(options))
    say(f"  seeding {options.load_users:,} users x {options.skills} skills")
    tenant = Tenant(instance, options.load_users, options.skills, options.texts)
    tenant.seed(options.load_users)
    runs, steady = {}, Samples()
    for name, settings in (("by words", {}), ("with the local model", model_of(options))):
        if settings or name == "by words":
            instance.restart(**settings)
            runs[name] = mix(instance, tenant, options.load_seconds, steady)
            instance.trim_log()
            say(f"    {name}: {sum(kind['rate'] for kind in runs[name]['kinds']):,.0f} req/s, {runs[name]['rss_mib']:.0f} MiB")
    saved = None
    if options.model:
        instance.restart("--with-worker", **model_of(options))
        saved = saving(instance, options, say)
        instance.trim_log()
    regenerated = regenerate(instance, tenant, options, say)
    instance.trim_log()
    if instance.errors:
        raise Failed(f"the service logged errors: {instance.errors[0]}")
    document = {**surroundings(instance, options), "mixed": runs,
                "disturbed": [*disturbances(options.load_average, steady), *refusals(runs)],
                "saving": saved, "regeneration": regenerated}
    return page(document, options), document


def refusals(runs):
    """The runs of which so many requests were refused that their figures say little."""
    return [f"{run['refused']:.1%} of the traffic {name} was refused (at most {DISTURBING:.1%})"
            for name, run in runs.items() if run["refused"] > DISTURBING]


def model_of(options):
    """The setting of the local model, where there is one."""
    return {"KNOWHOW_MODEL_DIR": options.model} if options.model else {}


def mix(instance, tenant, seconds, steady):
    """One run of mixed traffic from a service that has just started, between two looks at how fast the machine is (`steady`)."""
    readers = range(1, tenant.users + 1)
    data = instance.work / "mixed.lua"
    tenant.write_data(data, readers, session=tenant.sessions(readers), snapshot=tenant.etags("/v1/snapshot", readers))
    look_at_machine(instance, data, steady)
    memory, over = [], threading.Event()
    watch = threading.Thread(target=watch_memory, args=(instance.process.pid, memory, over))
    watch.start()
    before, began = cpu_times(instance), time.monotonic()
    done = subprocess.run(["wrk", f"-t{CONNECTIONS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s", "-s",
                           str(SCRIPT), instance.url, "--", str(data), str(time.time_ns()), str(CONNECTIONS)],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    took, after = time.monotonic() - began, cpu_times(instance)
    over.set()
    watch.join()
    look_at_machine(instance, data, steady)
    kinds = [json.loads(line) for line in re.findall(r"^KIND (.*)$", done.stdout, re.M)]
    broken = re.search(r"^BROKEN (\d+)$", done.stdout, re.M)
    if done.returncode or not kinds or not broken:
        raise Failed(f"wrk failed on the mixed traffic: {done.stdout.strip()[-500:]}")
    refused = sum(kind["refused"] for kind in kinds) / sum(kind["requests"] for kind in kinds)
    if refused > MOST_REFUSED or int(broken[1]):
        example = re.search(r"^REFUSED (.*)$", done.stdout, re.M)
        raise Failed(f"{refused:.1%} of the mixed traffic was refused, {broken[1]} requests broke off: {example and example[1]}")
    now, peak = resident_mib(instance.process.pid)
    busy = {part: (after[part] - before[part]) / took for part in before if before[part] is not None}
    return {"kinds": kinds, "refused": refused, "rss_mib": now, "peak_mib": peak, "rss_by_second": memory, "drift": drift(memory),
            "cores": busy, "catalogues": stats(instance)["catalogues"]}


def look_at_machine(instance, data, steady):
    """Requests that do nothing, so that their rate is the machine's."""
    name = next(iter(REFUSED))
    for _ in range(2):
        steady.keep(name, run_wrk(instance, data, name, CONNECTIONS, 2))


def watch_memory(pid, memory, over):
    """Notes the resident MiB of a process each second."""
    while not over.wait(1):
        memory.append(round(resident_mib(pid)[0], 1))


def stats(instance):
    """The counters of the service's process."""
    operator = instance.knowhow("token", "--operator", "--user", "bench")
    status, _, body = instance.send("GET", "/v1/admin/stats", operator)
    if status != 200:
        raise Failed(f"/v1/admin/stats was answered with {status}")
    return json.loads(body)


def page(document, options):
    """The tables."""
    what = (f"{options.load_users:,} users x {options.skills} skills, {CONNECTIONS} connections, {options.load_seconds} s, a closed "
            "loop; every message is a new one")
    lines = [heading(document, what).rstrip(), ""]
    for name, run in document["mixed"].items():
        lines += [f"**{name}**", "", "| kind | req/s | p50 | p99 | |", "|---|---|---|---|---|"]
        for kind in run["kinds"]:
            note = {"turn": "without the vector", "snapshot, 304": "not 304"}.get(kind["kind"])
            other = f"{kind['other'] / max(1, kind['requests']):.1%} {note}" if note else ""
            lines.append(f"| {kind['kind']} | {kind['rate']:,.0f} | {kind['p50_ms']:.1f} ms | {kind['p99_ms']:.1f} ms | {other} |")
        cache, goal = run["catalogues"], MEMORY[name]
        asked = max(1, cache["hits"] + cache["misses"])
        verdict = "" if options.load_users < 1000 else ": met" if run["rss_mib"] <= goal else ": missed"
        cores = ", ".join(f"{part} {busy:.2f}" for part, busy in run["cores"].items())
        lines += ["", f"All together {sum(kind['rate'] for kind in run['kinds']):,.0f} req/s, {run['refused']:.2%} refused. Memory of "
                  f"the service {run['rss_mib']:.0f} MiB, peak {run['peak_mib']:.0f} (goal {goal}{verdict}). Catalogues: "
                  f"{cache['hits'] / asked:.1%} of {asked:,} were there, {cache['users']:,} users in "
                  f"{cache['bytes'] / 2**20:.0f} MiB. Cores busy: {cores}.", "", memory_line(run, options.load_seconds), ""]
    if document["saving"]:
        lines += [*saving_lines(document["saving"]), ""]
    again = document["regeneration"]
    lines += [f"**{again['users']:,} snapshots made anew** while {again['per_second']} reads per second go on "
              f"({again['skills']} skills each): {again['seconds']:.0f} s, {again['jobs_per_second']:,.0f} a second, beginning "
              f"{again['until_first']:.0f} s after the worker's start.", "",
              "| reads | p50 | p99 | p99.9 | |", "|---|---|---|---|---|"]
    for name in ("before", "meanwhile"):
        reads = again[name]
        lines.append(f"| {name} | {reads['p50_ms']:.1f} ms | {reads['p99_ms']:.1f} ms | {reads['p999_ms']:.0f} ms | "
                     f"{reads['failed']} of {reads['requests']:,} failed |")
    return "\n".join(lines) + "\n"


def memory_line(run, seconds):
    """How the service's memory went."""
    levels = run["rss_by_second"]
    if len(levels) < 10:
        return "Too short to say how memory goes."
    at = lambda share: f"{levels[min(len(levels) - 1, int(share * len(levels)))]:.0f}"
    verdict = "" if seconds < FLAT_SECONDS else ": flat" if run["drift"] <= FLAT else f": grows (at most {FLAT:.0%} is flat)"
    return (f"Memory at a tenth, a half and the end of it: {at(0.1)}, {at(0.5)}, {at(1)} MiB; {run['drift']:+.1%} over the second "
            f"half{verdict}.")
