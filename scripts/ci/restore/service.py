"""A running service with a worker, and what tenants do there."""

import json
import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import quote

from cluster import run
from server import free_port
from settings import fail

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
LIFTED = {f"KNOWHOW_{of}_REQUESTS_PER_SECOND": "0" for of in ("TENANT", "USER", "KEY", "ANONYMOUS")}
# Several services share a server whose connections are enough for one with a thread on each core.
FEW = {"KNOWHOW_WORKERS": "2"}
PATIENCE = 150


def until(what, ask):
    """Asks until there is an answer."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.3)
    return fail(f"waited {PATIENCE} s for {what}")


class Service:
    """A process of the service on a database."""

    def __init__(self, program, urls, log):
        self.program = program
        self.env = {**os.environ, **urls, **LIFTED, **FEW, "KNOWHOW_LOG_FORMAT": "json"}
        self.log = log
        self.process = None

    def command(self, *arguments):
        """Another command of the program on the same database."""
        return run(self.program, self.env, *arguments)

    def start(self):
        """Starts it with a worker, until it is ready."""
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        env = {name: value for name, value in self.env.items() if name != "DATABASE_URL"}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([self.program, "serve", "--with-worker"], stdout=log, stderr=log,
                                            env={**env, "KNOWHOW_PORT": str(port), "KNOWHOW_DRAIN_S": "0"})
        until("the service to be ready", lambda: self.is_ready())
        return self

    def is_ready(self):
        """Whether it answers that it can serve."""
        if self.process.poll() is not None:
            fail(f"the service ended:\n{self.log.read_text()[-3000:]}")
        try:
            return OPENER.open(f"{self.url}/readyz", timeout=5).status == 200
        except OSError:
            return False

    def stop(self):
        """Ends it as an orchestrator does."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def ask(self, caller, method, path, body=None, wanted=(200, 201, 202, 204)):
        """A request of a caller; its answer as bytes."""
        headers = {"Authorization": f"Bearer {caller.credential}", **({"Knowhow-User": caller.user} if caller.user else {})}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with OPENER.open(request, timeout=60) as answer:
                status, said = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, said = error.code, error.read()
        if status not in wanted:
            fail(f"{method} {path} as {caller.user} was answered {status}: {said.decode(errors='replace')[:500]}")
        return said

    def get(self, caller, path):
        """What a caller reads, as JSON."""
        return json.loads(self.ask(caller, "GET", path))


class Caller:
    """Who asks: a backend for one of its users, or an operator."""

    def __init__(self, credential, user=None):
        self.credential, self.user = credential, user


def skill(name, text):
    """A skill to be saved."""
    return {"name": name, "description": f"Do {name}. Use when somebody asks for {name}.", "content": f"# {name}\n\n{text}\n"}


def fill(service, caller, word):
    """What a user leaves behind: skills with versions and an archive, memories, a soul, a conversation, counted use."""
    for n in range(4):
        service.ask(caller, "POST", "/v1/skills", skill(f"task-{n}", f"Step {n}: {word} é 漢字 \\ \" ' \t |."))
    service.ask(caller, "PATCH", "/v1/skills/task-1", {"edits": [{"old_string": "Step 1", "new_string": "First step"}]})
    service.ask(caller, "DELETE", "/v1/skills/task-3")
    service.ask(caller, "PUT", "/v1/soul", {"text": f"Speak of {word}."})
    service.ask(caller, "POST", "/v1/memories", {"content": f"Likes {word}", "core": True})
    session = json.loads(service.ask(caller, "POST", "/v1/sessions", {"key": "talk", "channel": "chat"}))["id"]
    service.ask(caller, "POST", f"/v1/sessions/{session}/turns", {"message": f"please do task-0 with {word}"})
    service.ask(caller, "POST", f"/v1/sessions/{session}/reply", {"message": f"done with {word}"})
    service.ask(caller, "GET", "/v1/skills/task-0")


def read_back(service, caller):
    """What the user finds again."""
    digests = sorted(json.dumps(item, sort_keys=True) for item in service.get(caller, "/v1/skills/export/digests")["items"])
    names = [item["name"] for item in service.get(caller, "/v1/skills?limit=100")["items"]]
    texts = {name: service.ask(caller, "GET", f"/v1/skills/{quote(name, safe='')}/SKILL.md") for name in names}
    versions = [[v["version"] for v in service.get(caller, f"/v1/skills/{quote(n, safe='')}/versions")["items"]] for n in names]
    memories = [item["content"] for item in service.get(caller, "/v1/memories")["items"]]
    return digests, texts, versions, memories, service.get(caller, "/v1/soul")["text"]


class Busy:
    """A user who goes on saving until the block ends."""

    def __init__(self, service, caller):
        self.service, self.caller, self.saved = service, caller, 0
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        """Saves one skill after the other."""
        while not self.ends.is_set():
            self.service.ask(self.caller, "POST", "/v1/skills", skill(f"busy-{self.saved}", "Again."))
            self.saved += 1

    def __enter__(self):
        self.thread.start()
        until("the first writes", lambda: self.saved > 3)
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
