"""Tenants at work: users who save, each noting what was acknowledged and when a request was refused."""

import http.client
import threading
import time

from tools.caller import Caller
from tools.service import skill, skill_path

# Saves of one user; then another begins, so that users come for the first time while their tenant is moved.
EACH = 25
# It says something of another skill, so each save enqueues the job that reads its user's skills for the graph.
TEXT = "Requires `skill-0`."


class Tenant:
    """Threads that save for one tenant through several processes."""

    def __init__(self, slug, key, services):
        self.slug, self.key, self.services = slug, key, services
        self.lock = threading.Lock()
        self.acknowledged, self.refused, self.broken = [], [], []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(n,), daemon=True) for n in range(3)]

    def start(self):
        """Begins to save."""
        for thread in self.threads:
            thread.start()
        return self

    def stop(self):
        """Ends, after the requests under way."""
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def work(self, number):
        """Saves one skill after the other; one that was refused is saved again, as a client would."""
        saved = 0
        while not self.ends.is_set():
            user, name = f"{number}-{saved // EACH}", f"skill-{saved % EACH}"
            service = self.services[saved % len(self.services)]
            if self.save(service, user, name):
                saved += 1
            else:
                time.sleep(0.02)

    def save(self, service, user, name):
        """Whether the skill is there now, as the service says."""
        since, sender, key = time.monotonic(), Caller(self.key, user), {"Idempotency-Key": f"{user}-{name}"}
        try:
            status, headers, body = sender.request(service.url, "POST", "/v1/skills", skill(name, TEXT), **key)
        except (OSError, http.client.HTTPException) as error:
            status, headers, body = 0, {}, str(error).encode()
        said = body.decode(errors="replace")
        with self.lock:
            if 0 < status < 300:
                self.acknowledged.append((user, name))
            elif status == 503 and headers.get("Retry-After"):
                self.refused.append((since, time.monotonic(), said))
            else:
                self.broken.append(f"{status}: {said[:200]}")
        return 0 < status < 300

    def refused_for(self, since):
        """From the first to the last answer that refused, after that moment, in seconds."""
        times = [time for asked, answered, _ in self.refused if asked >= since for time in (asked, answered)]
        return max(times) - min(times) if times else 0.0

    def lost(self, service):
        """What was acknowledged and is not there."""
        users = {}
        for user, name in self.acknowledged:
            users.setdefault(user, set()).add(name)
        lost = []
        for user, names in users.items():
            items = service.get(Caller(self.key, user), "/v1/skills?limit=100")["items"]
            lost += [(user, name) for name in names - {item["name"] for item in items}]
            some = sorted(names)[0]
            service.ask(Caller(self.key, user), "GET", skill_path(some, "/SKILL.md"))
        return lost
