"""Minutes of everything, with restarts: memory and connections stay as they are, and nothing acknowledged is lost."""

import asyncio
import statistics
import time

from harness.load import resident_mib

from .stage import Stage
from .users import Heard, User

FLAT_SHARE, FLAT_MIB, FLAT_CONNECTIONS = 0.10, 20, 3
# Each user pauses so long between two rounds of requests, so that the machine is busy and not full.
PAUSE_S = 0.2
KEPT_SKILLS = 25
COLUMNS = ("level", "first third", "middle third", "last third", "verdict")


class Busy(User):
    """One who does everything that there is, and keeps as many skills as before."""

    async def live(self, over):
        """Rounds of requests until told."""
        while not over.is_set():
            self.sent += 1
            await self.create(over, f"made-{self.sent}")
            await self.change(over)
            await self.read(over)
            await self.talk(over)
            await self.look_around(over)
            await self.forget(over)
            await asyncio.sleep(PAUSE_S)

    async def look_around(self, over):
        """Lists, searches, remembers."""
        for path in ("/v1/skills?limit=50", "/v1/skills?q=day&limit=5", "/v1/snapshot", "/v1/skills/kept/versions?limit=20"):
            await self.insist(over, "read", "GET", path)
        if self.sent % 20 == 0:
            await self.write(over, "save", "/v1/memories", {"content": f"The {self.sent}th day was fine."})

    async def forget(self, over):
        """Deletes the oldest skill once there are enough."""
        old = f"made-{self.sent - KEPT_SKILLS}"
        if old in self.skills:
            await self.insist(over, "save", "DELETE", f"/v1/skills/{old}", key=f"{self.name}-{self.sent}-delete")
            del self.skills[old]


def try_soak(program, work, options, say):
    """The rows of the table, and what was missed."""
    stage = Stage(program, work)
    try:
        stage.serve(**stage.model())
        stage.work_on()
        people = stage.tenant()
        users = [Busy(people, number, stage.port) for number in range(1, options.users + 1)]
        heard, levels, lost = asyncio.run(soak(stage, users, options.minutes * 60, say))
    finally:
        stage.stop()
    return judge(heard, levels, lost, options.minutes)


async def soak(stage, users, seconds, say):
    """Everything; what was heard, the levels of each second, and what is missing."""
    heard, over, levels = Heard(), asyncio.Event(), []
    for user in users:
        user.heard = heard
    living = [asyncio.create_task(user.live(over)) for user in users]
    began, restarted = time.monotonic(), False
    try:
        while (passed := time.monotonic() - began) < seconds:
            await asyncio.sleep(1)
            # At the end of the first third: the two after it are compared.
            if not restarted and passed > seconds / 3:
                restarted = True
                say(f"  after {passed:.0f} s: {heard.sent:,} sent, {heard.refused or 'none'} refused; service and worker are restarted")
                await asyncio.to_thread(restart, stage)
            levels.append((passed / seconds, await asyncio.to_thread(level, stage)))
    finally:
        over.set()
        await asyncio.gather(*living)
    lost = [one for user in users for one in await user.lost()]
    return heard, levels, lost


def restart(stage):
    """Both, in order."""
    stage.again()
    stage.kill_worker()
    stage.work_on()


def level(stage):
    """Resident MiB of service and worker, and connections to Postgres."""
    return {"memory of the service, MiB": resident_mib(stage.process.pid)[0],
            "memory of the worker, MiB": resident_mib(stage.worker.pid)[0],
            "connections to Postgres": stage.connections()}


def judge(heard, levels, lost, minutes):
    """A row for each level, and one for what was answered."""
    rows = []
    for name in levels[0][1]:
        thirds = [statistics.median([level[name] for at, level in levels if third <= 3 * at < third + 1]) for third in range(3)]
        room = max(FLAT_CONNECTIONS if "connections" in name else FLAT_MIB, FLAT_SHARE * thirds[1])
        rows.append([name, *(f"{value:.0f}" for value in thirds), "flat" if abs(thirds[2] - thirds[1]) <= room else "missed"])
    refused = {status: count for status, count in heard.refused.items() if status not in ("no answer", "503")}
    answered = f"{heard.sent:,} sent, {heard.acknowledged:,} acknowledged in {minutes:g} minutes"
    said = ", ".join(f"{count} x {status}" for status, count in heard.refused.items()) or "none"
    rows.append(["requests", answered, f"refused, around the restart: {said}", f"{len(lost)} lost", "missed" if lost or refused else "met"])
    missed = [f"{row[0]}: {', '.join(row[1:4])}" for row in rows if row[4] == "missed"]
    return [dict(zip(COLUMNS, row)) for row in rows], missed + lost[:3]
