#!/usr/bin/env python3
"""Measures the service beside Postgres alone: own database, own port, everything stopped and dropped at the end.

Run it as `make bench` (ARGS="--quick" for a smoke run). See benches/README.md for what the lines mean.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from harness import plans, report, table  # noqa: E402
from harness.compare import Comparison  # noqa: E402
from harness.flights import count_flights  # noqa: E402
from harness.instance import Instance, client_program  # noqa: E402
from harness.mixed import load_run  # noqa: E402
from harness.quiet import LOAD, wait_for_quiet  # noqa: E402
from harness.saving import saving_run  # noqa: E402
from harness.seed import Tenant  # noqa: E402
from harness.suite import Suite  # noqa: E402
from harness.texts import choose_texts  # noqa: E402

from tools.settings import ROOT, Failed  # noqa: E402


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/knowhow", type=Path, help="the release binary")
    parser.add_argument("--quick", action="store_true", help="a minute of everything, to see that it works; no figures")
    parser.add_argument("--rounds", type=positive, help="rounds of everything, of which medians are taken (5)")
    parser.add_argument("--seconds", type=positive, help="length of one measurement (4)")
    parser.add_argument("--users", type=positive, help="users who read; as many write (200)")
    parser.add_argument("--skills", type=positive, default=50, help="skills of each user (50)")
    parser.add_argument("--growth", type=positive, nargs=2, metavar=("FEW", "MANY"),
                        help="users of the growth measurement (1000 20000)")
    parser.add_argument("--no-growth", action="store_true", help="without it")
    parser.add_argument("--load", action="store_true", help="mixed traffic and snapshots instead of the suite")
    parser.add_argument("--saves", action="store_true", help="of the load run, only how soon a saved skill has its vector")
    parser.add_argument("--load-users", type=positive, help="users of the mixed traffic (1000)")
    parser.add_argument("--load-seconds", type=positive, help="its length (60)")
    parser.add_argument("--snapshots", type=positive, help="users whose snapshots fall due at once (10000)")
    parser.add_argument("--base", metavar="COMMIT", help="another commit beside this one, in turns (make bench builds it)")
    parser.add_argument("--base-program", type=Path, help="its release binary")
    parser.add_argument("--telemetry", action="store_true",
                        help="this commit with OTLP at 5 %% sampling and metrics beside itself without, in turns")
    parser.add_argument("--anyway", action="store_true", help="also where the machine is not quiet; the results are marked")
    parser.add_argument("--output", type=Path, help="folder of the results (benches/results)")
    options = parser.parse_args()
    defaults = {"rounds": 5, "seconds": 4, "users": 200, "growth": [1000, 20_000], "load_users": 1000, "load_seconds": 60,
                "snapshots": 10_000, "output": ROOT / "benches/results"}
    if options.quick:
        defaults = {"rounds": 1, "seconds": 1, "users": 40, "growth": [50, 400], "load_users": 64, "load_seconds": 3,
                    "snapshots": 200, "output": ROOT / "data/bench"}
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.no_growth:
        options.growth = None
    if (options.base or options.telemetry) and (options.load or options.saves) or options.base and options.telemetry:
        parser.error("--base and --telemetry compare the suite alone")
    options.model = os.environ.get("KNOWHOW_MODEL_DIR") or None
    return options


def positive(text):
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def check_tools(options):
    """Names what is missing before anything is made."""
    if not options.saves and not shutil.which("wrk"):
        raise Failed("wrk is missing (makes the HTTP load); install it with: apt-get install -y wrk")
    for name, package in (("psql", "postgresql-client"), ("pgbench", "postgresql-contrib")):
        if not shutil.which(client_program(name)[0]):
            raise Failed(f"{name} is missing; install it with: apt-get install -y {package}")
    for program in [options.program, *([options.base_program] if options.base else [])]:
        if not program or not os.access(program, os.X_OK):
            raise Failed(f"{program or 'the base'} is not built; run this as: make bench")


def say(line):
    """Progress goes to standard error; standard output is the table."""
    print(line, file=sys.stderr, flush=True)


def run_one(instance, options):
    """A run of one service; returns the text for the terminal, the page, the document, and what its files are called by."""
    if options.saves:
        page, document = saving_run(instance, options, say)
        return page, page, document, "-saves"
    if options.load:
        page, document = load_run(instance, options, say)
        return page, page, document, "-load" if options.load_seconds == 60 else f"-load-{options.load_seconds}s"
    document = measure(instance, options)
    return report.text(document), report.page(document), document, ""


def measure(instance, options):
    """The whole suite; returns its document."""
    say("  database and service")
    instance.create()
    instance.start_to_seed(options.model)
    looked = {"empty": plans.look(instance)}
    say(f"  seeding {2 * options.users:,} users x {options.skills} skills: {options.texts.kind}")
    tenant = Tenant(instance, options.users, options.skills, options.texts)
    tenant.seed()
    suite = Suite(instance, tenant, options, say)
    suite.make_references()
    facts = {"flights": count_flights(instance, tenant)}
    facts |= {"start_seconds": instance.restart(), "binary_mib": options.program.stat().st_size / 2**20}
    suite.begin()
    suite.rounds()
    facts["active_users"] = 2 * options.users
    facts["import"] = suite.import_samples()
    if options.growth:
        suite.growth()
        facts["active_users"] += options.growth[0]
    facts["memory"] = suite.memory()
    if options.model:
        suite.with_model(options.model)
    instance.psql("analyze")
    looked["fresh"] = plans.look(instance)
    instance.trim_log()
    if instance.errors:
        raise Failed(f"the service logged errors: {instance.errors[0]}")
    return {**report.document(instance, options, suite, facts), "plans": looked}


def look_at_machine(options):
    """Waits until the machine is quiet; a run whose figures are to be kept does not begin before."""
    options.load_average = wait_for_quiet(say) if not (options.anyway or options.quick) else os.getloadavg()[0]
    if options.load_average > LOAD and not (options.anyway or options.quick):
        raise Failed(f"the machine is busy (load average {options.load_average:.2f}, at most {LOAD}); end what else runs, or "
                     "measure with --anyway, which marks the results")


def keep(options, document, page, name):
    """Writes the files of a run; those of a disturbed one beside the results unless `--anyway`."""
    folder = options.output
    if document["disturbed"] and not options.anyway and not options.quick:
        folder = ROOT / "data/bench"
        say(f"no results are written, as the run was disturbed ({'; '.join(document['disturbed'])}); what it gave lies in data/bench. "
            "Repeat it on a quiet machine, or with --anyway, which marks the results.")
    # A page of their own is enough: they are longer than all samples.
    looked = document.pop("plans", None)
    files = table.write(folder, document, page, name)
    if looked:
        shown = folder / "latest-plans.md"
        shown.write_text(plans.page(document, looked))
        files += (shown,)
    return files


def stopped(number, _frame):
    """Any ending signal takes the way through `finally`."""
    raise SystemExit(128 + number)


def main():
    """Runs it and clears up."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stopped)
    running = work = None
    try:
        check_tools(options)
        options.texts = choose_texts(say)
        look_at_machine(options)
        (ROOT / "data").mkdir(exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="bench.", dir=ROOT / "data"))
        if options.base or options.telemetry:
            running = Comparison(options, work, say)
            text, page, document = running.run()
            name = "-telemetry" if options.telemetry else "-compared"
        else:
            running = Instance(str(options.program), work)
            text, page, document, name = run_one(running, options)
        files = keep(options, document, page, name)
    finally:
        # A second Ctrl-C must not leave the service or the database behind.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if running:
            running.stop()
        if work:
            shutil.rmtree(work, ignore_errors=True)
    print(text)
    if options.quick:
        print("\nA quick run shows that everything works; its figures mean nothing.")
    print("\nwrote " + " and ".join(str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path) for path in files))


if __name__ == "__main__":
    main()
