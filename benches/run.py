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

from harness import report  # noqa: E402
from harness.instance import ROOT, Failed, Instance, client_program  # noqa: E402
from harness.mixed import load_run  # noqa: E402
from harness.saving import saving_run  # noqa: E402
from harness.seed import Tenant  # noqa: E402
from harness.statements import SQL, Drift, render  # noqa: E402
from harness.suite import Suite  # noqa: E402


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/knowhow", type=Path, help="the release binary")
    parser.add_argument("--quick", action="store_true", help="a minute of everything, to see that it works; no figures")
    parser.add_argument("--rounds", type=positive, help="rounds of everything, of which medians are taken (5)")
    parser.add_argument("--seconds", type=positive, help="length of one measurement (4)")
    parser.add_argument("--users", type=positive, help="users who read; as many write and as many create (200)")
    parser.add_argument("--skills", type=positive, default=50, help="skills of each user (50)")
    parser.add_argument("--growth", type=positive, nargs=2, metavar=("FEW", "MANY"),
                        help="users of the growth measurement (1000 20000)")
    parser.add_argument("--no-growth", action="store_true", help="without it")
    parser.add_argument("--load", action="store_true", help="mixed traffic and snapshots instead of the suite")
    parser.add_argument("--saves", action="store_true", help="of the load run, only how soon a saved skill has its vector")
    parser.add_argument("--load-users", type=positive, help="users of the mixed traffic (1000)")
    parser.add_argument("--load-seconds", type=positive, help="its length (60)")
    parser.add_argument("--snapshots", type=positive, help="users whose snapshots fall due at once (10000)")
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
    if not os.access(options.program, os.X_OK):
        raise Failed(f"{options.program} is not built; run this as: make bench")
    for path in SQL.glob("*.sql"):
        render(path.name)


def say(line):
    """Progress goes to standard error; standard output is the table."""
    print(line, file=sys.stderr, flush=True)


def measure(instance, options):
    """The whole run; returns the table and where it was written."""
    if options.saves:
        page, document = saving_run(instance, options, say)
        return page, report.write(options.output, document, page, "-saves")
    if options.load:
        page, document = load_run(instance, options, say)
        return page, report.write(options.output, document, page, "-load")
    say("  database and service")
    instance.create()
    if options.model:
        instance.start("--with-worker", KNOWHOW_MODEL_DIR=options.model)
    else:
        instance.start()
    say(f"  seeding {2 * options.users:,} users x {options.skills} skills")
    tenant = Tenant(instance, options.users, options.skills)
    tenant.seed()
    facts = {"start_seconds": instance.restart(), "binary_mib": options.program.stat().st_size / 2**20}
    suite = Suite(instance, tenant, options, say)
    suite.check()
    facts["statements"] = suite.count_statements()
    suite.rounds()
    facts["active_users"] = 3 * options.users
    facts["import"] = suite.import_samples()
    if options.growth:
        suite.growth()
        facts["active_users"] += options.growth[0]
    facts["memory"] = suite.memory()
    if options.model:
        suite.with_model(options.model)
    instance.trim_log()
    if instance.errors:
        raise Failed(f"the service logged errors: {instance.errors[0]}")
    table = report.rows(suite, facts)
    document = report.document(suite, table, facts)
    return report.text_table(table), report.write(options.output, document, report.markdown(table, document))


def stopped(number, _frame):
    """Any ending signal takes the way through `finally`."""
    raise SystemExit(128 + number)


def main():
    """Runs it and clears up."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stopped)
    instance = work = None
    try:
        check_tools(options)
        (ROOT / "data").mkdir(exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="bench.", dir=ROOT / "data"))
        instance = Instance(str(options.program), work)
        table, files = measure(instance, options)
    except (Failed, Drift) as error:
        sys.exit(f"error: {error}")
    finally:
        # A second Ctrl-C must not leave the service or the database behind.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if instance:
            instance.stop()
        if work:
            shutil.rmtree(work, ignore_errors=True)
    print(table)
    if options.quick:
        print("\nA quick run shows that everything works; its figures mean nothing.")
    print("\nwrote " + " and ".join(str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path) for path in files))


if __name__ == "__main__":
    main()
