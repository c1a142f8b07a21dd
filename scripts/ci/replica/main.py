"""Serves with a replica that follows, is behind, is away and comes back: every answer is as the primary's, none is refused, and what can
be is read from the replica."""

import io
import itertools
import json
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

from tools.build import test_program
from tools.caller import Caller, request
from tools.cluster import Cluster, start_beside
from tools.service import Service, environment, skill
from tools.settings import check
from tools.waiting import until

from standby import Standby

NAME = f"knowhow_replica_{os.getpid()}"
USED, GIVEN_UP = "reading catalogues and exports from the replica", "the replica is not used"


class Reader(Service):
    """A process with the replica, and its metrics."""

    def metrics(self):
        """The page of metrics."""
        address = re.search(r'"metrics":"([^"]+)"', self.log.read_text())[1]
        return request(f"http://{address}", "GET", "/metrics")[2].decode()

    def reads(self, of, where):
        """How often that was read there."""
        series = rf'^knowhow_replica_reads_total{{from="{where}",of="{of}"}} (\d+)'
        found = re.search(series, self.metrics(), re.M)
        return int(found[1]) if found else 0

    def lag(self):
        """How many seconds the replica is behind."""
        return float(re.search(r"^knowhow_replica_lag_seconds (\S+)", self.metrics(), re.M)[1])

    def told(self, sentence):
        """How often the log says that."""
        return self.log.read_text().count(sentence)

    def finds(self, caller, name):
        """Whether recall finds a skill of the caller's."""
        found = self.get(caller, f"/v1/skills/suggest?context=please%20do%20{name}%20now")["items"]
        return name in [item["name"] for item in found]

    def exports(self, caller):
        """The skills of an export."""
        with zipfile.ZipFile(io.BytesIO(self.ask(caller, "GET", "/v1/skills/export"))) as archive:
            return {name.split("/")[0] for name in archive.namelist()}


class Users:
    """One user after the other. What another process saves is in no memory of the reader's."""

    def __init__(self, writer):
        writer.command("tenant", "create", "acme")
        self.writer, self.key = writer, writer.command("key", "create", "--tenant", "acme")
        self.numbers = itertools.count()

    def save(self, name, user=None):
        """Saves a skill for a user, by default a new one."""
        caller = user or Caller(self.key, f"user-{next(self.numbers)}")
        self.writer.ask(caller, "POST", "/v1/skills", skill(name, "First this, then that."))
        return caller


def follows(reader, users, standby):
    """A replica that shows what the primary shows is asked."""
    user = users.save("water-plants")
    standby.catch_up()
    before = reader.reads("catalogue", "replica"), reader.reads("export", "replica")
    check("the skill is found", reader.finds(user, "water-plants"))
    check("the skill is exported", "water-plants" in reader.exports(user))
    after = reader.reads("catalogue", "replica"), reader.reads("export", "replica")
    check(f"both were read from the replica: {before}, {after}", after[0] > before[0] and after[1] > before[1])
    return user


def is_behind(reader, users, standby, known):
    """What was just written is seen, though the replica does not show it."""
    standby.pause()
    before = reader.reads("catalogue", "replica"), reader.reads("export", "replica")
    for user in (known, None):
        user = users.save("feed-cats", user)
        check("what was just saved is found", reader.finds(user, "feed-cats"))
        check("what was just saved is exported", "feed-cats" in reader.exports(user))
    after = reader.reads("catalogue", "replica"), reader.reads("export", "replica")
    check(f"nothing came from the replica: {before}, {after}", after == before)
    for of in ("catalogue", "export"):
        check(f"an older replica is not believed for the {of}", reader.reads(of, "primary_as_behind") >= 2)
    until("the replica to be given up", lambda: reader.told(GIVEN_UP) == 1)
    check("the lag is measured", reader.lag() > 10)
    standby.resume()
    until("the replica to be used again", lambda: reader.told(USED) == 2)
    until("the lag to end", lambda: reader.lag() == 0)


def is_away(reader, users, standby):
    """A replica that is stopped fails no request, and is used again once it is back."""
    standby.stop()
    for _ in range(20):
        user = users.save("mow-lawn")
        check("the skill is found without the replica", reader.finds(user, "mow-lawn"))
        check("the skill is exported without the replica", "mow-lawn" in reader.exports(user))
    until("the replica to be given up", lambda: reader.told(GIVEN_UP) == 2)
    standby.start()
    until("the replica to be used again", lambda: reader.told(USED) == 3)
    follows(reader, users, standby)
    check("each change was told once", (reader.told(GIVEN_UP), reader.told(USED)) == (2, 3))


def doctor(service, **settings):
    """What the doctor says, and whether all is well."""
    done = subprocess.run([service.program, "doctor"], env={**service.env, **settings}, text=True, stdout=subprocess.PIPE, timeout=60)
    return done.returncode == 0, done.stdout


def is_inspected(reader, standby, folder):
    """The doctor says what is wrong, and serve does without."""
    check("a replica that follows is well", doctor(reader)[0])
    is_well, said = doctor(reader, KNOWHOW_REPLICA_URL=reader.env["KNOWHOW_DATABASE_URL"])
    check(f"a primary is no replica: {said}", not is_well and "is not a replica" in said)
    standby.stop()
    is_well, said = doctor(reader)
    check(f"a replica that is away is found: {said}", not is_well and "KNOWHOW_REPLICA_URL: cannot connect" in said)
    for name, url in (("away", reader.env["KNOWHOW_REPLICA_URL"]), ("primary", reader.env["KNOWHOW_DATABASE_URL"])):
        other = Reader(reader.program, {**reader.env, "KNOWHOW_REPLICA_URL": url}, folder / f"{name}.log")
        try:
            other.start("--with-worker")
            until("it to say that it does without", lambda: other.told(GIVEN_UP) == 1)
        finally:
            other.stop()
    standby.start()


def main():
    """One after the other."""
    start_beside()
    primary = Cluster.of_checkout()
    with primary.database(NAME) as variables, Standby.temporary("replica") as standby, tempfile.TemporaryDirectory() as work:
        folder, env = Path(work), environment(**variables)
        standby.follow(primary)
        replica = standby.environment(NAME)["KNOWHOW_DATABASE_URL"]
        writer = Service(test_program(), env, folder / "writer.log")
        writer.command("migrate")
        standby.catch_up()
        reader = Reader(writer.program, {**env, "KNOWHOW_REPLICA_URL": replica, "KNOWHOW_METRICS_BIND": "127.0.0.1:0"},
                        folder / "reader.log")
        try:
            writer.start("--with-worker")
            reader.start("--with-worker")
            until("the replica to be used", lambda: reader.told(USED) == 1)
            users = Users(writer)
            known = follows(reader, users, standby)
            print("followed: a catalogue and an export came from the replica")
            is_behind(reader, users, standby, known)
            print("behind: what was just written was seen, and nothing older was believed")
            is_away(reader, users, standby)
            print("away: no request failed, and the replica was used again")
            is_inspected(reader, standby, folder)
            print("inspected: the doctor finds what is wrong, and serve does without")
            errors = [line for line in reader.log.read_text().splitlines() if json.loads(line)["level"] == "ERROR"]
            check(f"the log has no error: {errors[:3]}", not errors)
        finally:
            for service in (reader, writer):
                service.stop()


if __name__ == "__main__":
    main()
