"""The order of a run, for one service."""

import os
import re
import shutil
import subprocess
import time

from tools.settings import Failed

from .check import check
from .load import resident_mib, run_pgbench, run_wrk
from .operations import BY_CREATORS, OPERATIONS, OVER_MCP, REFUSED, rendered_files
from .quiet import disturbances
from .samples import Samples
from .seed import GROWTH_FIRST
from .statements import SQL, Drift, render
from .texts import CORPUS

CLIENTS = 16
SAMPLE_SKILLS = CORPUS / "sample-skills.tar.zst"
# What is measured again beside the index by a service with a local model, once it knows the vectors of the messages.
EMBEDDED = ("index", "turn", "search")
# The script's deadline for turns in haste.
DEADLINE_MS = 50
FIRST_CREATORS = 5000
GROWN = ("jwt_list", "index", "jwt_snapshot", "turn")


class Suite:
    """One service with its database, and the samples of it."""

    def __init__(self, instance, tenant, options, say):
        self.instance, self.tenant, self.options, self.say = instance, tenant, options, say
        self.data = instance.work / f"{instance.name}.lua"
        self.readers = range(1, tenant.users + 1)
        self.samples = Samples()
        self.columns = {}
        self.left_out = []
        self.references = {}

    def disturbed(self):
        """What speaks against the figures."""
        return disturbances(self.options.load_average, self.samples)

    def make_references(self):
        """Writes what pgbench runs. A file that no longer fits the service's SQL is left out, and that is said."""
        drifted = None
        self.instance.psql(file=SQL / "floor_schema.sql")
        self.instance.psql(file=SQL / "floor_fill.sql", tenant=self.tenant.id, last=2 * self.tenant.users)
        try:
            self.instance.psql(render("functions.sql"))
        except (Drift, Failed) as error:
            drifted = error
        for key, name in rendered_files().items():
            path = self.instance.work / name
            try:
                if drifted and "bench.save" in (SQL / name).read_text():
                    raise drifted
                path.write_text(render(name))
                self.references[key] = path
            except (Drift, Failed) as error:
                self.left_out.append(f"{key}: {error}")

    def http(self, operation, connections=CLIENTS, key=None, seconds=None, pause=None):
        """One HTTP measurement, kept under `key`; with `seconds` a warm-up, which is not."""
        if operation in BY_CREATORS:
            first = operation == "create_first"
            self.tenant.new_creators(min(FIRST_CREATORS, 25 * self.tenant.users) if first else self.block(), not first)
            self.write_data()
            if operation == "create":
                self.tenant.make_known(self.tenant.creators)
        sample = run_wrk(self.instance, self.data, operation, connections, seconds or self.options.seconds, pause)
        self.instance.trim_log()
        if not seconds:
            self.samples.keep(key or operation, sample)
            self.say(f"    {key or operation:<18}{sample['rate']:>10,.0f} req/s")

    def block(self):
        """How many users create beside the skills that they have, in one measurement."""
        return max(16, self.tenant.users // 2)

    def reference(self, key):
        """One pgbench measurement."""
        variables = {"tenant": self.tenant.id, "users": self.tenant.users, "skills": len(self.tenant.skills),
                     "body": self.tenant.body}
        if key == "same create":
            self.tenant.new_creators(self.block(), True)
            variables |= {"creators": self.tenant.creators[0], "many": len(self.tenant.creators),
                          "relates": self.tenant.body_relates()}
        sample = run_pgbench(self.instance, self.references[key], variables, CLIENTS, self.options.seconds)
        self.samples.keep(key, sample)
        self.say(f"    {'pgbench ' + key:<18}{sample['rate']:>10,.0f} tps")

    def prepare(self, readers, **columns):
        """The data of a round, with a new session for each reader."""
        self.columns = {"readers": readers, "session": self.tenant.sessions(readers), **columns}
        self.write_data()

    def write_data(self):
        """The file that the wrk script reads."""
        columns = {name: values for name, values in self.columns.items() if name != "readers"}
        self.tenant.write_data(self.data, self.columns["readers"], **columns)

    def begin(self):
        """Checks what will be measured, and warms everything up."""
        check(self.instance, self.tenant)
        self.prepare(self.readers, snapshot=self.tenant.etags("/v1/snapshot", self.readers))
        for operation in [*REFUSED, *(o.name for o in OPERATIONS), *OVER_MCP.values()]:
            if operation != "index_304":
                self.http(operation, seconds=1)

    def fresh_tags(self):
        """The entity tags of the index, which loads change, as they are now."""
        self.prepare(self.readers, snapshot=self.columns["snapshot"], etag=self.tenant.etags("/v1/skills", self.readers))

    def rounds(self):
        """Service and references side by side, in turns."""
        for number in range(1, self.options.rounds + 1):
            self.say(f"  round {number} of {self.options.rounds}")
            for steady in ("health", *REFUSED):
                self.http(steady)
            for operation in OPERATIONS:
                if operation.name == "index_304":
                    self.fresh_tags()
                turns = [(self.http, operation.name)]
                turns += [(self.http, OVER_MCP[operation.name])] if operation.name in OVER_MCP else []
                turns += [(self.reference, f"{kind} {operation.name}") for kind in ("floor", "same")
                          if f"{kind} {operation.name}" in self.references]
                # Who goes first changes with the round, so that a drift of the machine favours neither.
                for measure, what in reversed(turns) if number % 2 else turns:
                    measure(what)
            self.http("index", 32, "index at 32")

    def growth(self):
        """The index and turns of the same users, before and after their tables have grown."""
        few, many = self.options.growth
        self.say(f"  growth: {few:,} users, then {many:,}")
        began = time.monotonic()
        self.tenant.grow(1, few)
        self.prepare(range(GROWTH_FIRST + 1, GROWTH_FIRST + few + 1))
        for operation in ("index", "turn"):  # makes every user known
            self.http(operation, seconds=max(2, few // 200))
        for key in (few, many):
            if key == many:
                self.tenant.grow(few + 1, many)
                for operation in ("index", "turn"):
                    self.http(operation, seconds=2)
            for _ in range(self.options.rounds):
                for operation in GROWN:
                    self.http(operation, key=f"{operation} at {key}")
        self.say(f"    took {time.monotonic() - began:.0f} s")

    def with_model(self, folder):
        """Turns by a service with a local model: beside the index with vectors at hand, with fresh messages, in haste."""
        self.say("  with the local model")
        self.instance.restart(KNOWHOW_MODEL_DIR=folder)
        self.prepare(self.readers)
        # Each session takes each message once, so that all vectors are made.
        wanted = len(self.tenant.messages) * len(self.readers)
        while wanted > 0:
            wanted -= run_wrk(self.instance, self.data, "turn", CLIENTS, 10)["requests"]
        for number in range(1, self.options.rounds + 1):
            for operation in EMBEDDED if number % 2 else reversed(EMBEDDED):
                self.http(operation, key=f"{operation} with model")
            self.fresh_messages()
            self.prepare(self.readers)

    def fresh_messages(self):
        """Turns whose vectors have to be made: one by one, as many as the model can do, and twice as many with a deadline."""
        self.http("turn_fresh", 1)
        self.http("turn_fresh", key="turn_fresh at 16")
        connections, pause = haste(2 * self.samples.values("turn_fresh at 16", "rate")[-1], len(self.readers))
        self.http("turn_deadline", connections, pause=pause)

    def import_samples(self):
        """Seconds that `knowhow import` takes for the sample skills, and what it says; None without them."""
        if not SAMPLE_SKILLS.exists() or not shutil.which("zstd"):
            self.say("  import skipped: there are no sample skills, or zstd is missing")
            return None
        folder = self.instance.work / "samples"
        folder.mkdir()
        subprocess.run(["tar", "--zstd", "-xf", str(SAMPLE_SKILLS), "-C", str(folder)], check=True)
        self.tenant.new_creators(1, False)
        began = time.monotonic()
        done = subprocess.run([self.instance.program, "import", str(folder), "--url", self.instance.url], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "KNOWHOW_TOKEN": self.tenant.token(self.tenant.creators[0])})
        seconds = time.monotonic() - began
        counts = re.search(r"^(\d+) created, .*$", done.stdout, re.M)
        if not counts or int(counts[1]) == 0:
            raise Failed(f"the import failed: {done.stderr.strip()[-500:]}")
        return {"seconds": seconds, "skills": int(counts[1]), "outcome": counts[0]}

    def memory(self):
        """Resident memory of the service."""
        now, peak = resident_mib(self.instance.process.pid)
        return {"now_mib": now, "peak_mib": peak}


def haste(rate, users):
    """How many connections, one for each user at most, ask `rate` times a second together, and the milliseconds that each waits
    before it asks: each asks four times a second, and its answer takes as long as the deadline allows."""
    connections = min(users, max(64, round(rate / 4)))
    pause = 1000 * connections / rate - DEADLINE_MS
    if pause < DEADLINE_MS:
        raise Failed(f"{users} users cannot ask {rate:.0f} times a second without waiting for each other; take more users")
    return connections, pause
