"""The data of a user, and a user who saves while something else happens."""

import json
import threading

from tools.service import skill, skill_path
from tools.waiting import until


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
    texts = {name: service.ask(caller, "GET", skill_path(name, "/SKILL.md")) for name in names}
    versions = [[v["version"] for v in service.get(caller, skill_path(n, "/versions"))["items"]] for n in names]
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
