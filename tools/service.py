"""Runs the program `knowhow`: its commands, and the service until it is stopped."""

import json
import subprocess
from urllib.parse import quote

from .caller import request, status_of
from .ports import free_port
from .settings import bare_variables, fail
from .waiting import wait

# A test sends as fast as it can, mostly as one user.
NO_RATES = {f"KNOWHOW_{of}_REQUESTS_PER_SECOND": "0" for of in ("TENANT", "USER", "KEY", "ANONYMOUS")}
READY_S, STOPS_S = 60, 30


def environment(**variables):
    """Returns the variables of a service that shares a server with others: few threads, JSON in the log, no delay at the end."""
    return {**bare_variables(), "KNOWHOW_WORKERS": "2", "KNOWHOW_LOG_FORMAT": "json", "KNOWHOW_DRAIN_S": "0", **variables}


class Service:
    """A process of the service on a database, with its log."""

    def __init__(self, program, env, log):
        self.program, self.env, self.log = str(program), env, log
        self.process = self.port = None

    @property
    def url(self):
        """The address of the process that was started last."""
        return f"http://127.0.0.1:{self.port}"

    def command(self, *arguments, **variables):
        """Runs a command of the program; returns its output."""
        return run(self.program, {**self.env, **variables}, *arguments)

    def start(self, *arguments, **settings):
        """Starts `knowhow serve` and returns the seconds until it is ready. It never has the owner's URL."""
        self.port = self.choose_port()
        env = {name: value for name, value in {**self.env, **NO_RATES, **settings}.items() if name != "DATABASE_URL"}
        self.process = self.spawn("serve", *arguments, env={**env, "KNOWHOW_PORT": str(self.port)})
        seconds = wait(lambda: self.process.poll() is not None or self.is_ready(), READY_S, 0.005)
        if seconds is None or self.process.poll() is not None:
            fail(f"the service did not become ready:\n{self.tail()}")
        return seconds

    def spawn(self, *arguments, env):
        """Starts a process that writes to the log. In a session of its own, it does not receive Ctrl-C."""
        with open(self.log, "a") as log:
            return subprocess.Popen([self.program, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    start_new_session=True, env=env)

    def choose_port(self):
        """Returns the port of the next process."""
        return free_port()

    def is_ready(self):
        """Whether the service can answer requests."""
        return status_of(self.url, "/readyz") == 200

    def tail(self):
        """Returns the end of the log."""
        return self.log.read_text(errors="replace")[-3000:]

    def stop(self):
        """Stops the process in order, as an orchestrator does; returns its exit code."""
        if self.process is None:
            return 0
        self.process.terminate()
        try:
            return self.process.wait(STOPS_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return fail(f"the service did not stop within {STOPS_S} s of SIGTERM:\n{self.tail()}")

    def kill(self):
        """Kills the process."""
        self.process.kill()
        self.process.wait()

    def send(self, method, path, token=None, body=None, headers=None):
        """Sends one request; returns status, headers and body."""
        return request(self.url, method, path, token, body, headers)

    def ask(self, caller, method, path, body=None, **wanted):
        """Sends one request of a caller that must succeed; returns the body."""
        return caller.ask(self.url, method, path, body, **wanted)

    def get(self, caller, path):
        """Reads JSON as a caller."""
        return json.loads(self.ask(caller, "GET", path))


def run(program, env, *arguments):
    """Runs a command of the program; returns its output."""
    done = subprocess.run([program, *arguments], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    if done.returncode:
        fail(f"knowhow {' '.join(arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}".strip())
    return done.stdout.strip()


def skill(name, text):
    """Returns the body of a request that saves a skill."""
    return {"name": name, "description": f"Do {name}. Use when somebody asks for {name}.", "content": f"# {name}\n\n{text}\n"}


def skill_path(name, rest=""):
    """Returns the path of a skill."""
    return f"/v1/skills/{quote(name, safe='')}{rest}"
