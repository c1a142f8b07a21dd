"""What is measured, in which order."""

import json
import os
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from . import mcp
from .instance import Failed
from .load import resident_mib, run_pgbench, run_wrk
from .seed import GROWTH_FIRST
from .statements import render

CORPUS = Path(__file__).resolve().parents[3] / "shared/corpus/sample-skills.tar.zst"
CLIENTS = 16
# Operation of the wrk script, and the file in benches/sql that it is held against.
ROUND = [("health", None), ("authenticated", None), ("index", "index"), ("index_304", None), ("raw", "raw"),
         ("raw_304", None), ("load", "load"), ("save", "save"), ("create", "create"), ("turn", None), ("snapshot", None),
         ("snapshot_304", None), ("open", None)]
# The same over MCP.
OVER_MCP = {"load": "skill_view", "index": "skills_list"}
# What is measured again beside the index by a service with a local model, once it knows the vectors of the messages.
EMBEDDED = ("index", "turn", "search")


class Suite:
    """One run of everything."""

    def __init__(self, instance, tenant, options, say):
        self.instance, self.tenant, self.options, self.say = instance, tenant, options, say
        self.data = instance.work / "data.lua"
        self.readers = range(1, tenant.users + 1)
        self.samples = {}
        for _, reference in ROUND:
            if reference:
                (instance.work / f"{reference}.sql").write_text(render(f"{reference}.sql"))

    def keep(self, key, sample):
        self.samples.setdefault(key, []).append(sample)

    def median(self, key, *path):
        """Median over the rounds; None for what was not measured."""
        values = []
        for sample in self.samples.get(key, []):
            for step in path:
                sample = sample[step] if sample is not None else None
            if sample is not None:
                values.append(sample)
        return statistics.median(values) if values else None

    def check(self):
        """Each operation once, looked at: what is measured must be the right answer."""
        token, skill = self.tenant.token(1), self.tenant.skills[0]
        ask = self.instance.ask
        status, headers, body = ask("GET", "/v1/skills", token)
        items = json.loads(body)["items"] if status == 200 else []
        expect(len(items) == min(50, len(self.tenant.skills)), f"the index answered {status} with {len(items)} skills")
        expect(ask("GET", "/v1/skills", token, headers={"If-None-Match": headers["ETag"]})[0] == 304, "the index has no 304")
        path = f"/v1/skills/{skill['name']}"
        used = [json.loads(ask("GET", path, token)[2])["times_used"] for _ in range(2)]
        expect(used[1] == used[0] + 1, f"two loads counted {used}")
        last = self.tenant.token(self.tenant.users)
        status, headers, body = ask("GET", f"{path}/SKILL.md", last)
        expect(status == 200 and headers["ETag"] == skill["etag"] and len(body) > 3000, "a copied SKILL.md differs")
        expect(ask("GET", f"{path}/SKILL.md", last, headers={"If-None-Match": skill["etag"]})[0] == 304,
               "SKILL.md has no 304")
        status, _, body = ask("GET", "/v1/skills?limit=0", token)
        expect(status == 400 and b"limit must be" in body, f"limit=0 answered {status}; choose another JWT-only request")
        expect(ask("GET", "/v1/skills?limit=0")[0] == 401, "limit=0 was refused before the token was looked at")
        self.check_turns(token)
        before = json.loads(ask("GET", path + "?peek=true", token)[2])["times_used"]
        viewed = mcp.ask(self.instance, token, mcp.view(skill["name"]))["content"][0]["text"]
        used = json.loads(ask("GET", path, token)[2])
        same = viewed.endswith(used["content"]) and used["times_used"] == before + 2
        expect(same, "skill_view answers with another skill than REST, or does not count")
        listed = mcp.ask(self.instance, token, mcp.list_skills())["skills"]
        same = [entry["uri"] for entry in listed] == [f"skill://{item['name']}/SKILL.md" for item in items]
        expect(same, f"skills/list answered with {len(listed)} skills, others than the index")

    def check_turns(self, token):
        """A turn finds something, says a named skill once, and is the same turn under the same key."""
        def turn(message, **more):
            status, _, body = self.instance.ask("POST", f"/v1/sessions/{session}/turns", token, {"message": message, **more})
            expect(status == 200, f"a turn was answered with {status}: {body.decode()[:300]}")
            return json.loads(body)

        wishes, calls = self.tenant.messages[:3], self.tenant.messages[3:4]
        session = self.tenant.sessions([1])[0]
        first = turn(wishes[0], turn_key="one")
        expect(first["relevant"] and first["text"], f"nothing was found for {wishes[0]!r}: {first}")
        expect(turn(wishes[0], turn_key="one") == first, "the same turn key was answered with another turn")
        expect(len(turn(calls[0])["active"]) == 1 and not turn(calls[0])["active"], f"{calls[0]!r} names no skill, or twice")
        expect(turn(calls[0], context_reset=True)["active"], "a context_reset is not heeded")
        etag = self.tenant.etags("/v1/snapshot", [1])[0]
        again = self.instance.ask("GET", "/v1/snapshot", token, headers={"If-None-Match": etag})
        expect(again[0] == 304, "the snapshot has no 304")

    def count_statements(self):
        """Statements that Postgres saw for each of 20 warm requests by one user, from pg_stat_statements; None without."""
        query = ("select coalesce(json_object_agg(query, calls), '{}') from (select query, sum(calls) calls "
                 "from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) "
                 "and userid = 'knowhow_tenant'::regrole group by query) s")
        try:
            self.instance.psql("create extension if not exists pg_stat_statements")
            self.instance.psql(query)
        except Failed:
            return None
        token, skill = self.tenant.token(1), self.tenant.skills[0]["name"]
        path = f"/v1/skills/{skill}"
        get = lambda target: lambda: self.instance.ask("GET", target, token)
        over_mcp = lambda message: lambda: mcp.ask(self.instance, token, message)
        turns = f"/v1/sessions/{self.tenant.sessions([1])[0]}/turns"
        turn = lambda: self.instance.ask("POST", turns, token, {"message": self.tenant.messages[0]})
        counts = {}
        for name, ask in (("index", get("/v1/skills")), ("load", get(path)), ("raw", get(f"{path}/SKILL.md")),
                          ("skill_view", over_mcp(mcp.view(skill))), ("skills/list", over_mcp(mcp.list_skills())),
                          ("turn", turn), ("snapshot", get("/v1/snapshot"))):
            for _ in range(8):
                ask()
            before = json.loads(self.instance.psql(query))
            for _ in range(20):
                ask()
            after = json.loads(self.instance.psql(query))
            counts[name] = sum(calls - before.get(text, 0) for text, calls in after.items()
                               if not re.match(r"(begin|commit|rollback|set)\b", text, re.I)) / 20
        return counts

    def http(self, operation, connections=CLIENTS, key=None):
        """One HTTP measurement."""
        sample = run_wrk(self.instance, self.data, operation, connections, self.options.seconds)
        self.instance.trim_log()
        self.keep(key or operation, sample)
        self.say(f"    {key or operation:<16}{sample['rate']:>10,.0f} req/s")
        return sample

    def reference(self, name):
        """One pgbench measurement."""
        variables = {"tenant": self.tenant.id, "users": self.tenant.users, "skills": len(self.tenant.skills),
                     "body": "\n\n" + self.tenant.body}
        rate = run_pgbench(self.instance, self.instance.work / f"{name}.sql", variables, CLIENTS, self.options.seconds)
        self.keep(f"pgbench {name}", rate)
        self.say(f"    {'pgbench ' + name:<16}{rate:>10,.0f} tps")

    def prepare(self, readers, **columns):
        """The data of a round, with a new session for each reader."""
        self.tenant.write_data(self.data, readers, session=self.tenant.sessions(readers), **columns)

    def rounds(self):
        """Service and reference side by side, in turns, medians over the rounds."""
        snapshots = self.tenant.etags("/v1/snapshot", self.readers)
        self.prepare(self.readers, snapshot=snapshots)
        for operation in [operation for operation, _ in ROUND] + list(OVER_MCP.values()):
            if operation != "index_304":
                run_wrk(self.instance, self.data, operation, CLIENTS, 1)
        for number in range(1, self.options.rounds + 1):
            self.say(f"  round {number} of {self.options.rounds}")
            for operation, reference in ROUND:
                if operation == "index_304":
                    self.prepare(self.readers, snapshot=snapshots, etag=self.tenant.etags("/v1/skills", self.readers))
                turns = [(self.http, operation)]
                turns += [(self.http, OVER_MCP[operation])] if operation in OVER_MCP else []
                turns += [(self.reference, reference)] if reference else []
                # Who goes first changes with the round, so that a drift of the machine favours neither.
                for measure, what in reversed(turns) if number % 2 else turns:
                    measure(what)
                if operation == "index":
                    self.http("index", 32, "index at 32")

    def growth(self):
        """The index of the same users, before and after their table has grown."""
        few, many = self.options.growth
        self.say(f"  growth: {few:,} users, then {many:,}")
        began = time.monotonic()
        self.tenant.grow(1, few)
        users = range(GROWTH_FIRST + 1, GROWTH_FIRST + few + 1)
        self.prepare(users)
        for operation in ("index", "turn"):  # makes every user known
            run_wrk(self.instance, self.data, operation, CLIENTS, max(2, few // 200))
        for key in (few, many):
            if key == many:
                self.tenant.grow(few + 1, many)
                for operation in ("index", "turn"):
                    run_wrk(self.instance, self.data, operation, CLIENTS, 2)
            for _ in range(self.options.rounds):
                for operation, name in (("authenticated", "jwt"), ("index", "index"), ("turn", "turn")):
                    self.http(operation, key=f"{name} at {key}")
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
            self.http("turn_fresh", 1)
            self.http("turn_deadline")
            self.prepare(self.readers)

    def import_samples(self):
        """Seconds that `knowhow import` takes for the sample skills, and what it says; None without them."""
        if not CORPUS.exists() or not shutil.which("zstd"):
            self.say(f"  import skipped: {'zstd is missing' if CORPUS.exists() else f'{CORPUS} is not there'}")
            return None
        folder = self.instance.work / "samples"
        folder.mkdir()
        subprocess.run(["tar", "--zstd", "-xf", str(CORPUS), "-C", str(folder)], check=True)
        program = self.instance.program
        began = time.monotonic()
        done = subprocess.run([program, "import", str(folder), "--url", self.instance.url], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "KNOWHOW_TOKEN": self.tenant.token(3 * self.tenant.users)})
        seconds = time.monotonic() - began
        counts = re.search(r"^(\d+) created, .*$", done.stdout, re.M)
        expect(counts and int(counts[1]) > 0, f"the import failed: {done.stderr.strip()[-500:]}")
        return {"seconds": seconds, "skills": int(counts[1]), "outcome": counts[0]}

    def memory(self):
        """Resident memory of the service."""
        now, peak = resident_mib(self.instance.service.pid)
        return {"now_mib": now, "peak_mib": peak}


def expect(good, sentence):
    """Stops a run that would measure something else."""
    if not good:
        raise Failed(sentence)
