"""Knowhow over HTTP for a channel worker: one kept connection, and which requests may be sent again."""

import http.client
import json
import os
import time
import uuid
from urllib.parse import quote, urlsplit

PAUSES = (0.2, 1.0, 3.0)  # seconds before what may be sent again is sent again
LONGEST_PAUSE = 10.0  # however long the service, or a proxy before it, asks to be left alone


class Problem(Exception):
    """A refusal: `kind` is stable (`session-ended`, `log-full`, ...), `detail` tells people what to do."""

    def __init__(self, status, answer, wait):
        self.status, self.kind, self.detail = status, answer.get("type", "").rpartition("/")[2], answer.get("detail", "")
        self.wait, self.passes = wait, status in (429, 502, 503, 504)
        super().__init__(f"{status} {self.kind}: {self.detail}")


class NoAnswer(Exception):
    """None came in time, or none of the service. What was asked may have happened or not."""

    def __init__(self, reason, wait=0.0):
        self.wait, self.passes = wait, True
        super().__init__(reason)


class Knowhow:
    """The service as one backend sees it. An API key acts for any of its users: here each telephone number is one."""

    def __init__(self, timeout):
        self.address = urlsplit(os.environ["KNOWHOW_URL"])
        self.key, self.timeout = os.environ["KNOWHOW_API_KEY"], timeout
        self.connection = None
        self.lose_next_answer = False  # for trying out: it is asked, and its answer never comes

    def ask(self, user, method, path, body=None, timeout=None, once=None):
        """One request; its answer as JSON. `once`: the same name again is the same request, done once."""
        headers = {"Authorization": f"Bearer {self.key}", "Knowhow-User": user, "Content-Type": "application/json"}
        if once:
            headers["Idempotency-Key"] = once
        try:
            if self.connection is None:
                kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
                self.connection = kind(self.address.hostname, self.address.port)
            self.connection.timeout = timeout or self.timeout
            if self.connection.sock:
                self.connection.sock.settimeout(self.connection.timeout)
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = self.connection.getresponse()
            text = response.read()
            if self.lose_next_answer:
                self.lose_next_answer = False
                raise TimeoutError("the answer was lost")
        except (OSError, http.client.HTTPException) as error:
            if self.connection:
                self.connection.close()  # a late answer must not pass for that of the next request
            self.connection = None
            raise NoAnswer(str(error)) from error
        return read(response, text)

    def surely(self, *request, **more):
        """For what may be sent again: reads, opening by key, a turn with its key, ending, whatever is named `once`."""
        for pause in PAUSES:
            try:
                return self.ask(*request, **more)
            except (Problem, NoAnswer) as failure:
                if not failure.passes:
                    raise
                time.sleep(max(pause, min(failure.wait, LONGEST_PAUSE)))
        return self.ask(*request, **more)

    def open(self, user, **terms):
        """The session of the user's stream: goes on with it, or begins the next one."""
        return self.surely(user, "POST", "/v1/sessions", {"key": user, **terms})

    def reply(self, user, session, message, report):
        """Logs the agent's side, once, with the rounds and tool calls that it took."""
        body = {"message": message, **report}
        self.surely(user, "POST", f"/v1/sessions/{session}/reply", body, once=str(uuid.uuid4()))

    def skill(self, user, name):
        """The tool `skill_view` of the agent: a skill's body, counted as a use."""
        return self.surely(user, "GET", f"/v1/skills/{quote(name, safe='')}")["content"]


def read(response, text):
    """An answer's JSON. What is none comes from a proxy that does not reach the service, whatever its status."""
    seconds = response.headers.get("Retry-After", "")
    wait = float(seconds) if seconds.isdecimal() else 0.0
    try:
        answer = json.loads(text or b"{}")
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise NoAnswer(f"{response.status} without an answer in JSON", wait)
    if response.status >= 400:
        raise Problem(response.status, answer, wait)
    return answer
