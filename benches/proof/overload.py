"""More than the service can serve, and a neighbour who sends far more than the tenant's limit."""

import json
import os
import time
from statistics import median

from .load import MIX, Load, People, begin, furnish, percentile, run
from .stage import Stage

GOODPUT, REFUSAL_MS, FELT = 0.8, 5, 1.5
TIMES, NEIGHBOUR_TIMES, LIMIT, QUIET_RATE = 3, 50, 20, 15
LANES = (8, 16, 32)
# Who had a place in the line is refused after KNOWHOW_QUEUE_WAIT_MS, 100.
IN_LINE_MS = 50
COLUMNS = ("tried", "measured", "goal", "verdict")


def try_overload(program, work, options, say):
    """The rows of the table, and what was missed."""
    stage = Stage(program, work)
    try:
        rows = [*overload(stage, options, say), *neighbour(stage, options, say)]
    finally:
        stage.stop()
    missed = [f"{row['tried']}: {row['measured']} ({row['goal']})" for row in rows if row["verdict"] == "missed"]
    return rows, missed


def halves():
    """The cores of the service and Postgres, and those of the clients: clients that starve would measure themselves."""
    cores = sorted(os.sched_getaffinity(0))
    return (set(cores[:len(cores) // 2]), set(cores[len(cores) // 2:])) if len(cores) > 1 else (None, None)


def pin(stage, cores):
    """Holds the service and Postgres to these cores; what they start inherits that."""
    if not cores:
        return
    for pid in (stage.process.pid, stage.server.pid()):
        family = [pid, *map(int, open(f"/proc/{pid}/task/{pid}/children").read().split())]
        for one in family:
            for thread in os.listdir(f"/proc/{one}/task"):
                try:
                    os.sched_setaffinity(int(thread), cores)
                except OSError:
                    pass  # it has just ended


def overload(stage, options, say):
    """Finds the peak by closed loops, then offers three times as much whatever is answered; in turns."""
    ours, theirs = halves()
    stage.serve(KNOWHOW_WORKERS=str(len(ours or [0])))
    pin(stage, ours)
    people = People(stage.tenant("peak"), stage.port, 60 if options.quick else 100, 10)
    furnish(stage, people)
    short, long, rounds = (2, 4, 1) if options.quick else (5, 20, 3)
    closed = lambda lanes, mix=MIX: run(Load(people, short, lanes=lanes, mix=mix), theirs)
    costs = {kind: short / len(closed(LANES[0], (kind,)).answers) for kind in sorted(set(MIX))}
    best = max(LANES, key=lambda lanes: closed(lanes).good(costs))
    peaks, offers, refusals = [closed(best)], [], []
    for _ in range(rounds):
        stage.trim_log()
        offers.append(run(Load(people, long, rate=TIMES * peaks[-1].good()), theirs))
        # Of turns, which give their place in the line to nobody: what is less urgent may have waited there before.
        refusals += elapsed_ms(stage, lambda line: line["status"] == 503 and line["path"].endswith("/turns"))
        peaks.append(closed(best))
        say(f"  {TIMES} x: {offers[-1].good():,.0f} good answers a second after {peaks[-2].good():,.0f} and before "
            f"{peaks[-1].good():,.0f} in a closed loop; {offers[-1].refused()}")
    # The machine changes: each offer is held against the loops before and after it.
    share = median(2 * offer.good(costs) / (before.good(costs) + after.good(costs))
                   for offer, before, after in zip(offers, peaks, peaks[1:]))
    at_once = [took for took in refusals if took < IN_LINE_MS]
    inside, waited = percentile(at_once, 0.99), 1 - len(at_once) / max(1, len(refusals))
    served = [took for offer in offers for took in offer.latencies()]
    return [
        row(f"peak of closed loops ({best} connections)", f"{median(peak.good() for peak in peaks):,.0f} good answers a second", "", None),
        row(f"{TIMES} x that, offered for {long} s", f"good answers, by what each costs: {share:.0%} of the peak; "
            f"{median(offer.good() for offer in offers):,.0f} a second; {offers[-1].refused()}", f"{GOODPUT:.0%}", share >= GOODPUT),
        row("the same: a refused turn in the service, p99", f"{inside:.1f} ms of {len(at_once):,} that found the line full (half of them "
            f"{percentile(at_once, 0.5):.2f} ms); {waited:.1%} of all were refused after 100 ms in it", f"{REFUSAL_MS} ms",
            inside <= REFUSAL_MS),
        row("the same: what is served, at the client", f"p50 {1000 * percentile(served, 0.5):,.0f} ms, p99 "
            f"{1000 * percentile(served, 0.99):,.0f} ms", "", None),
    ]


def neighbour(stage, options, say):
    """A quiet tenant alone, then beside one who sends 50 times its limit; in turns."""
    ours, theirs = halves()
    stage.again(**{f"KNOWHOW_{of}_REQUESTS_PER_SECOND": rate for of, rate in (("TENANT", "500"), ("USER", "20"), ("KEY", "200"))},
                KNOWHOW_WORKERS=str(len(ours or [0])))
    pin(stage, ours)
    quiet_tenant = stage.tenant("quiet", requests_per_second=500, user_requests_per_second=200)
    quiet = People(quiet_tenant, stage.port, 5, 10)
    # Room to move in, then its limit.
    loud_tenant = stage.tenant("loud", requests_per_second=100_000, user_requests_per_second=100_000)
    loud = People(loud_tenant, stage.port, 50, 5)
    furnish(stage, quiet)
    furnish(stage, loud)
    limit(stage, "loud", LIMIT)
    seconds, rounds = (3, 1) if options.quick else (20, 3)
    run(Load(quiet, seconds, rate=QUIET_RATE), theirs)
    run(Load(loud, 1, rate=LIMIT), theirs)
    alone, beside, inside, refused, answers = [], [], {"alone": [], "beside": []}, [], 0
    for _ in range(rounds):
        for name, felt in (("alone", alone), ("beside", beside)):
            stage.trim_log()
            attack = begin(Load(loud, seconds + 1, rate=NEIGHBOUR_TIMES * LIMIT), theirs) if name == "beside" else None
            time.sleep(0.5)
            outcome = run(Load(quiet, seconds, rate=QUIET_RATE), theirs)
            felt.append(percentile(outcome.latencies(), 0.99))
            if attack:
                came = attack()
                refused += [status for status, count in outcome.statuses.items() if not status.startswith("2") and count]
                answers += len(came.answers)
            inside[name].append(percentile(elapsed_ms(stage, lambda line: line.get("tenant_id") == quiet_tenant.id), 0.99))
    ratio = median(beside) / median(alone)
    inner = median(inside["beside"]) / max(0.001, median(inside["alone"]))
    say(f"  neighbour: p99 {1000 * median(alone):.1f} ms alone, {1000 * median(beside):.1f} ms beside; in the service "
        f"{median(inside['alone']):.1f} and {median(inside['beside']):.1f} ms")
    return [
        row(f"a tenant at {QUIET_RATE} a second beside one at {NEIGHBOUR_TIMES} times its limit of {LIMIT}: p99 in the service",
            f"{median(inside['alone']):.1f} ms alone, {median(inside['beside']):.1f} ms beside: x {inner:.2f}", f"x {FELT}", inner <= FELT),
        row("the same: p99 at the client", f"{1000 * median(alone):.1f} ms alone, {1000 * median(beside):.1f} ms beside: x {ratio:.2f}; "
            f"{answers:,} answers to the loud one", f"x {FELT}", ratio <= FELT),
        row("the same: refused of the quiet one", ", ".join(refused) or "none", "none", not refused),
    ]


def limit(stage, slug, rate):
    """Sets a tenant's rate, and waits until it holds."""
    operator = stage.knowhow("token", "--operator", "--user", "proof")
    status, _, answer = stage.send("PATCH", f"/v1/admin/tenants/{slug}", operator,
                                  {"settings": {"starter_skills": False, "requests_per_second": rate, "user_requests_per_second": rate}})
    assert status == 200, answer
    time.sleep(1.5)


def elapsed_ms(stage, fits):
    """How long requests took by the service's own log, in ms."""
    found = []
    for text in stage.log.read_text(errors="replace").splitlines():
        if '"message":"request"' in text:
            line = json.loads(text)
            if fits(line):
                found.append(line["elapsed_us"] / 1000)
    return found


def row(tried, measured, goal, met):
    """One line; without a goal where `met` is None."""
    verdict = {None: "", True: "met", False: "missed"}[met]
    return dict(zip(COLUMNS, (tried, measured, goal, verdict)))
