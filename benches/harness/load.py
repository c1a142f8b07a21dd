"""Load and what it costs: wrk, pgbench, and their CPU times and those of the service and Postgres."""

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from tools.settings import Failed

from .instance import client_program, pg_environment
from .operations import REFUSED

TICKS = os.sysconf("SC_CLK_TCK")
WRK = Path(__file__).resolve().parents[1] / "wrk/knowhow.lua"
# A machine that stands still for a moment has a few requests refused that waited in line: what was measured then is thrown away.
TRIES = 3


class Refused(Failed):
    """Some of the answers were refusals, which took no time to make."""

    def __init__(self, operation, result):
        super().__init__(f"{operation}: {result['status']} of {result['requests']} answers were refusals, {result['socket']} broke off")
        self.few = not result["socket"] and result["status"] < result["requests"] / 50


def run_wrk(instance, data, operation, connections, seconds, pause=None):
    """One HTTP measurement, with the CPU milliseconds that the service, Postgres and wrk took for each request. `pause`: mean
    milliseconds that each connection waits before each request."""
    for attempt in range(TRIES):
        try:
            return {**try_wrk(instance, data, operation, connections, seconds, pause), "repeated": attempt}
        except Refused as refused:
            if attempt + 1 == TRIES or not refused.few:
                raise
            print(f"    {refused}: measured again", file=sys.stderr, flush=True)


def try_wrk(instance, data, operation, connections, seconds, pause):
    """The same; `Refused` where more than one in a thousand were."""
    threads = min(2, connections)
    nonce = str(time.time_ns())
    pauses = [] if pause is None else [str(round(pause))]
    before = cpu_times(instance)
    done = subprocess.run(["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(WRK),
                           instance.url, "--", operation, str(data), nonce, str(threads), *pauses],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = cpu_times(instance)
    line = re.search(r"^RESULT (.*)$", done.stdout, re.M)
    if done.returncode or not line:
        raise Failed(f"wrk failed on {operation}: {done.stdout.strip()[-500:]}")
    result = json.loads(line[1])
    if not result["requests"]:
        raise Failed(f"{operation}: no request was answered within {seconds} s")
    refused = result["status"]
    expected = result["requests"] if operation in REFUSED else 0
    if abs(refused - expected) > result["requests"] // 1000 or result["socket"]:
        raise Refused(operation, result)
    return {"rate": result["requests"] / result["seconds"], "requests": result["requests"],
            **{name: result[name] for name in ("p50_ms", "p99_ms", "p999_ms", "degraded")},
            "cpu_ms": spent(before, after, result["requests"])}


def run_pgbench(instance, script, variables, clients, seconds):
    """Transactions per second of one script through the service's own login role, and what each costs."""
    program, libraries = client_program("pgbench")
    command = [program, "-M", "prepared", "-n", "-c", str(clients), "-j", "2", "-T", str(seconds), "-f", str(script)]
    for key, value in variables.items():
        command += ["-D", f"{key}={value}"]
    # As the service's connections do: planning each execution anew would cost more than many statements do.
    plans = {"PGOPTIONS": "-c plan_cache_mode=force_generic_plan"}
    before = cpu_times(instance)
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **pg_environment(instance.login_url), **libraries, **plans})
    after = cpu_times(instance)
    rate = re.search(r"^tps = ([\d.]+)", done.stdout, re.M)
    count = re.search(r"^number of transactions actually processed: (\d+)", done.stdout, re.M)
    if done.returncode or not rate or float(rate[1]) == 0:
        raise Failed(f"pgbench failed on {Path(script).name}: {(done.stderr or done.stdout).strip()[:800]}")
    cpu = spent(before, after, int(count[1]))
    # The service stands by; what it does then is none of pgbench's.
    return {"rate": float(rate[1]), "requests": int(count[1]), "cpu_ms": {**cpu, "service": 0.0}}


def spent(before, after, count):
    """CPU milliseconds for each of so many."""
    return {part: 1000 * (after[part] - before[part]) / count for part in before if before[part] is not None}


def cpu_times(instance):
    """CPU seconds so far of the service, of all Postgres processes (None where Postgres is not on this machine), and of the load
    generators that have ended (and of psql, which takes little)."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"service": process_seconds(instance.process.pid), "postgres": postgres_seconds(instance),
            "client": ended.ru_utime + ended.ru_stime}


def postgres_seconds(instance):
    """The postmaster, the children it has collected, and those that live. Other databases of the server count too."""
    if not hasattr(instance, "postmaster"):
        instance.postmaster = find_postmaster(instance)
    if instance.postmaster is None:
        return None
    # A backend that goes while this is read would be in neither sum, and all that it ever did in the next one.
    while True:
        collected, children = process_seconds(instance.postmaster, collected=True), children_of(instance.postmaster)
        living = sum(process_seconds(child) for child in children)
        if (collected, children) == (process_seconds(instance.postmaster, collected=True), children_of(instance.postmaster)):
            return collected + living


def children_of(pid):
    """Processes that it has started and not collected."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def find_postmaster(instance):
    """The parent of the server's processes, where they are on this machine."""
    if not instance.owner_url.rpartition("@")[2].startswith(("127.0.0.1", "localhost", "[::1]")):
        return None
    checkpointer = instance.psql("select pid from pg_stat_activity where backend_type = 'checkpointer'")
    try:
        parent = Path(f"/proc/{checkpointer}/stat").read_text().rpartition(")")[2].split()[1]
        return int(parent) if "postgres" in Path(f"/proc/{parent}/comm").read_text() else None
    except (OSError, ValueError):
        return None


def process_seconds(pid, collected=False):
    """utime + stime, with those of collected children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in fields[11:15 if collected else 13]) / TICKS


def resident_mib(pid):
    """Resident memory of a process now, and at its peak."""
    status = Path(f"/proc/{pid}/status").read_text()
    return [int(re.search(rf"^{key}:\s+(\d+) kB", status, re.M)[1]) / 1024 for key in ("VmRSS", "VmHWM")]
