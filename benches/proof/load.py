"""Load from processes of their own: closed loops, and open ones at a rate that does not depend on the answers."""

import asyncio
import json
import multiprocessing
import os
import random
import time
from collections import Counter

# What users send, of ten requests; each kind as it is in a day of an agent.
MIX = ("turn",) * 4 + ("list",) * 2 + ("load",) * 2 + ("save",) * 2
# More connections than the service can have in hand; beyond them a request counts as not answered.
MOST_LANES = 900
TICK_S = 0.002
# Of each user, so that none becomes longer than conversations are.
SESSIONS = 10


class People:
    """Users with skills and a conversation, and the requests they send, as bytes."""

    def __init__(self, tenant, port, count, skills):
        self.port, self.skills = port, skills
        self.heads = [f"\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {tenant.token(n)}\r\n" for n in range(1, count + 1)]
        self.sessions = [[] for _ in range(count)]
        self.dice, self.sent = random.Random(), 0

    def request(self, kind, user):
        """The next one of a user."""
        self.sent += 1
        skill = f"skill-{self.dice.randrange(self.skills)}"
        nonce = f"{os.getpid()}-{self.sent}"
        if kind == "list":
            return self.plain("GET", "/v1/skills?limit=50", user)
        if kind == "load":
            return self.plain("GET", f"/v1/skills/{skill}", user)
        if kind == "save":
            return self.plain("POST", "/v1/skills", user, skill_of(skill, nonce))
        if kind == "open":
            return self.plain("POST", "/v1/sessions", user, {"channel": "sms", "max_turns": 1000})
        message = {"message": f"what do we do about {skill} and {nonce}?", "deadline_ms": 1000, "context_reset": True}
        return self.plain("POST", f"/v1/sessions/{self.dice.choice(self.sessions[user])}/turns", user, message)

    def plain(self, method, path, user, body=None):
        """As it is on the wire."""
        if body is None:
            return f"{method} {path} HTTP/1.1{self.heads[user]}\r\n".encode()
        text = json.dumps(body)
        return (f"{method} {path} HTTP/1.1{self.heads[user]}Content-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\n\r\n{text}").encode()


def skill_of(name, nonce):
    """A text of some hundred bytes."""
    lines = "".join(f"{n}. Look at {name}, and note {nonce} in line {n}.\n" for n in range(1, 12))
    return {"name": name, "description": f"Does {name}. Use when {name} is asked for.", "content": f"# {name}\n\n{lines}"}


class Lane(asyncio.Protocol):
    """A connection with at most one request under way."""

    def __init__(self, load):
        self.load, self.got, self.due, self.kind = load, b"", None, None

    def connection_made(self, transport):
        """It is open."""
        self.transport = transport

    def send(self, kind, request, due):
        """A request that was due at this moment."""
        self.kind, self.due, self.got = kind, due, b""
        self.transport.write(request)

    def data_received(self, data):
        """Part of an answer."""
        self.got += data
        end = self.got.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self.got.lower().find(b"content-length: ", 0, end)
        length = int(self.got[at + 16:self.got.find(b"\r\n", at)]) if at >= 0 else 0
        if len(self.got) >= end + 4 + length:
            self.load.answered(self, int(self.got[9:12]), self.got[end + 4:])

    def connection_lost(self, error):
        """It is closed; whether or not something was under way."""
        self.load.answered(self, None, b"")


class Load:
    """One process's part of the load."""

    def __init__(self, people, seconds, rate=None, lanes=MOST_LANES, mix=MIX):
        self.people, self.seconds, self.rate, self.lanes, self.mix = people, seconds, rate, lanes, mix
        self.free, self.opened, self.unsent, self.turn = [], 0, 0, 0
        self.answers, self.over = [], False

    async def run(self):
        """Everything; the answers, and how many requests found no connection."""
        if self.rate is None:
            for _ in range(self.lanes):
                await self.open()
                self.next(self.free.pop(), time.perf_counter())
            await asyncio.sleep(self.seconds)
        else:
            await self.keep_the_rate()
        self.over = True
        await asyncio.sleep(1)
        return self.answers, self.unsent

    async def keep_the_rate(self):
        """Sends what is due, whatever came of what was sent before."""
        began, sent = time.perf_counter(), 0
        for _ in range(32):
            await self.open()
        while (now := time.perf_counter()) - began < self.seconds:
            while sent < (now - began) * self.rate:
                due = began + sent / self.rate
                sent += 1
                if self.free:
                    self.next(self.free.pop(), due)
                elif self.opened < self.lanes:
                    await self.open()
                    self.next(self.free.pop(), due)
                else:
                    self.unsent += 1
            await asyncio.sleep(TICK_S)

    async def open(self):
        """One more connection."""
        _, lane = await asyncio.get_running_loop().create_connection(lambda: Lane(self), "127.0.0.1", self.people.port)
        self.opened += 1
        self.free.append(lane)

    def next(self, lane, due):
        """The next request of the next user."""
        self.turn += 1
        user = self.turn % len(self.people.heads)
        kind = self.mix[self.people.dice.randrange(len(self.mix))]
        lane.send(kind, self.people.request(kind, user), due)

    def answered(self, lane, status, body):
        """An answer, or None where the connection broke."""
        if lane.due is not None:
            self.answers.append((lane.kind, status, time.perf_counter() - lane.due))
            lane.due = None
        if status is None:
            self.opened -= 1
            if lane in self.free:
                self.free.remove(lane)
        elif self.rate is None and not self.over:
            self.next(lane, time.perf_counter())
        else:
            self.free.append(lane)


def in_process(load, cores, queue):
    """The body of a process."""
    if cores:
        os.sched_setaffinity(0, cores)
    queue.put(asyncio.run(load.run()))


class Outcome:
    """What came of a load."""

    def __init__(self, answers, unsent, seconds):
        self.answers, self.unsent, self.seconds = answers, unsent, seconds
        self.statuses = Counter(str(status) if status else "no answer" for _, status, _ in answers)

    def good(self, costs=None):
        """Answers that were no refusals, a second; or what they cost, where each kind has a cost: of many requests the most urgent
        are served, which are not the cheapest."""
        return sum(costs[kind] if costs else 1 for kind, status, _ in self.answers if status and status < 300) / self.seconds

    def latencies(self, *statuses):
        """Seconds of answers of these statuses, else of all that are no refusals."""
        return [took for _, status, took in self.answers
                if (status in statuses if statuses else status is not None and status < 300)]

    def refused(self):
        """In words."""
        bad = {status: count for status, count in self.statuses.items() if not status.startswith("2")}
        bad |= {"not sent": self.unsent} if self.unsent else {}
        return ", ".join(f"{count:,} x {status}" for status, count in sorted(bad.items())) or "none"


def run(load, cores=None):
    """A load from a process of its own."""
    return begin(load, cores)()


def begin(load, cores=None):
    """The same beside others; what it gives waits for its end."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=in_process, args=(load, cores, queue))
    process.start()

    def end():
        answers, unsent = queue.get(timeout=load.seconds + 60)
        process.join()
        return Outcome(answers, unsent, load.seconds)

    return end


def percentile(values, share):
    """Of seconds; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def furnish(stage, people):
    """Gives each user skills and a conversation, through REST. What was planned for empty tables is planned anew then."""
    asyncio.run(furnish_all(stage, people))
    stage.psql("vacuum (analyze)")


async def furnish_all(stage, people):
    """Eight at a time."""
    from .client import Client
    places = asyncio.Semaphore(8)

    async def one(user):
        async with places:
            client = Client(stage.port, people.heads[user].split("Bearer ")[1].strip())
            for n in range(people.skills):
                status, _, body = await client.ask("POST", "/v1/skills", skill_of(f"skill-{n}", "nothing"))
                assert status == 201, body
            for _ in range(SESSIONS):
                status, _, body = await client.ask("POST", "/v1/sessions", {"channel": "sms", "max_turns": 1000})
                assert status == 201, body
                people.sessions[user].append(json.loads(body)["id"])
            client.close()

    await asyncio.gather(*(one(user) for user in range(len(people.heads))))
