"""Users who save, read and talk while something goes wrong, and who remember all that was acknowledged."""

import asyncio
import hashlib
import json
import time
from collections import Counter

from .client import Client, NoAnswer

# Between two tries of the same request.
PAUSE_S = 0.05
KINDS = ("save", "read", "turn")
TURNS_OF_A_SESSION = 900
# Answers that the same request would be given again: something that was acknowledged is not there.
NO_USE = (400, 404, 409, 412, 422)
# After the end, when nothing succeeds any more.
GIVES_UP_S = 20


class Heard:
    """What was answered during one fault, by kind and status."""

    def __init__(self):
        self.sent = self.acknowledged = 0
        self.refused, self.slowest = Counter(), 0.0
        self.successes, self.latencies, self.over_at = {}, [], None

    def note(self, kind, status, seconds):
        """One answer, or `None` for none."""
        self.sent += 1
        self.slowest = max(self.slowest, seconds)
        if status is None or status >= 300:
            self.refused["no answer" if status is None else str(status)] += 1
            return
        self.acknowledged += kind != "read"
        self.latencies.append(seconds)
        if self.over_at is not None:
            self.successes.setdefault(kind, time.monotonic() - self.over_at)

    def end(self):
        """The fault is over now."""
        self.over_at = time.monotonic()

    def recovered_in(self):
        """Seconds from the end of the fault until each kind of request had succeeded; None where one has not yet."""
        return max(self.successes.values()) if len(self.successes) == len(KINDS) else None


class User:
    """One user on one connection. A refused request is sent again under its key until it is taken."""

    def __init__(self, tenant, number, port):
        self.name, self.number, self.sent = f"user-{number}", number, 0
        self.client = Client(port, tenant.token(number))
        self.skills, self.turns = {}, {}
        self.kept, self.session, self.heard = 0, None, Heard()

    async def live(self, over):
        """Saves a new skill, changes an old one, reads both back, talks; until told."""
        while not over.is_set():
            self.sent += 1
            await self.create(over, f"made-{self.sent}")
            await self.change(over)
            await self.read(over)
            await self.talk(over)

    async def insist(self, over, kind, *request, **options):
        """Sends until it is taken, also where all is over meanwhile: what became of it is known then. None where it never is."""
        over_since = None
        while over_since is None or time.monotonic() - over_since < GIVES_UP_S:
            over_since = over_since or (time.monotonic() if over.is_set() else None)
            began, answer = time.monotonic(), None
            try:
                answer = await self.client.ask(*request, **options)
            except NoAnswer:
                pass
            self.heard.note(kind, answer and answer[0], time.monotonic() - began)
            if answer and answer[0] < 300:
                return json.loads(answer[2] or "null")
            if answer and answer[0] in NO_USE:
                return None
            await asyncio.sleep(PAUSE_S)
        return None

    async def write(self, over, kind, path, body):
        """Something under a key of its own."""
        return await self.insist(over, kind, "POST", path, body, key=f"{self.name}-{self.sent}-{kind}-{body_digest(body)[:8]}")

    def skill(self, name):
        """A skill whose text is new."""
        return {"name": name, "description": f"Does {name}. Use when {name} is asked for.",
                "content": f"# {name}\n\nDo it for the {self.sent}th time, as {self.name}.\n"}

    async def create(self, over, name):
        """A skill that there was not."""
        skill = self.skill(name)
        if saved := await self.write(over, "save", "/v1/skills", skill):
            self.skills[name] = (saved["version"], body_digest(skill["content"]))

    async def change(self, over):
        """A new version of the same skill; one effect whatever was repeated."""
        skill = self.skill("kept")
        if saved := await self.write(over, "save", "/v1/skills", skill):
            self.kept += 1
            self.skills["kept"] = (self.kept, body_digest(skill["content"]))

    async def read(self, over):
        """What was just saved."""
        await self.insist(over, "read", "GET", "/v1/skills/kept?peek=true")

    async def talk(self, over):
        """A turn that names no skill of its own, so that its answer can be read again for long."""
        if self.session is None or len(self.turns) % TURNS_OF_A_SESSION == TURNS_OF_A_SESSION - 1:
            opened = await self.write(over, "turn", "/v1/sessions", {"channel": "sms", "max_turns": 1000, "key": f"s{self.sent}"})
            if opened is None:
                return
            self.session = opened["id"]
        message = {"message": f"what is planned for the {self.sent}th day?", "deadline_ms": 2000}
        if turn := await self.write(over, "turn", f"/v1/sessions/{self.session}/turns", message):
            self.turns[(self.session, turn["turn"])] = turn["text"]

    async def lost(self):
        """What was acknowledged and is not there as it was acknowledged, in words."""
        missing = []
        for name, (version, digest) in list(self.skills.items()):
            found = await self.look(f"/v1/skills/{name}?peek=true")
            if not found or found["version"] != version or body_digest(found["content"]) != digest:
                missing.append(f"{name} of {self.name}: version {version}, found {found and found['version']}")
        for (session, turn), text in self.turns.items():
            found = await self.look(f"/v1/sessions/{session}/turns/{turn}")
            # A version that it showed has left since, as docs/reference/limits.md says.
            if not (found and found.get("type", "").endswith("answer-gone")) and (not found or found["text"] != text):
                missing.append(f"turn {turn} of {self.name}")
        return missing

    async def look(self, path):
        """What is there now; None where there is nothing."""
        for _ in range(100):
            try:
                status, _, body = await self.client.ask("GET", path)
                if status in (200, 404, 409):
                    return json.loads(body) if status != 404 else None
            except NoAnswer:
                pass
            await asyncio.sleep(PAUSE_S)
        return None


def body_digest(body):
    """SHA-256 of a text or of a body of JSON."""
    text = body if isinstance(body, str) else json.dumps(body)
    return hashlib.sha256(text.encode()).hexdigest()
