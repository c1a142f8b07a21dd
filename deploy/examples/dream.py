#!/usr/bin/env python3
"""A week of one user's life: a request that comes again becomes a skill, two skills that say the same become one, and a dream is
taken back. Python's standard library alone; the chat model is played by this script.

It needs a service that knows the played model and works on jobs:

    KNOWHOW_CHAT_URL=http://127.0.0.1:8099 KNOWHOW_CHAT_MODEL=played make run
    . data/dev.env; set -a; . data/pg.env; set +a; python3 deploy/examples/dream.py --model-port 8099

The service needs the embeddings model (KNOWHOW_MODEL_DIR, `make run` sets it), and the script needs psql: a service takes the
time from the machine, so its conversations are moved back by SQL. Ends with 1 if something is not as promised.
"""

import argparse
import json
import os
import secrets
import shlex
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WEEK = [  # days ago, and what the user said first
    (6, "Please cancel my gym membership for me"),
    (5, "What will the weather be like in Oslo tomorrow?"),
    (4, "I want to cancel the membership at my gym, please"),
    (3, "Tell me how many ounces are in a pound of flour"),
    (2, "can you cancel my gym membership?"),
    (1, "Which of my bills is due at the end of the month?"),
]

BILLING = """## When to Use

The user asks about an invoice.

## Procedure

1. Open `billing show`.
2. Compare with the contract at https://example.com/contracts.
3. Write back within 2 days.
"""
INVOICES = """## When to Use

A question about an invoice comes.

## Procedure

1. Run `invoice get ID`.
2. Tell the amount and the due date.
3. Offer 3 ways to pay.
"""
OTHER = "## Procedure\n\n1. Do it as always, with care and in time for everybody.\n"
SKILLS = [
    ("billing", "Answers questions about invoices and bills. Use when a customer asks about an invoice.", BILLING),
    ("invoices", "Answers questions about invoices and bills. Use when a customer asks about a bill.", INVOICES),
    ("trips", "Plans trips by train through Europe. Use when somebody wants to travel.", OTHER),
    ("dinner", "Cooks dinner for guests. Use when people come to eat.", OTHER),
    ("garden", "Waters the garden in summer. Use when it does not rain.", OTHER),
]


def propose(question):
    """What the played model answers: a plan for what it is shown, and no doubts about what it reads as a reviewer."""
    if not isinstance(question, dict):
        return {}  # a conversation to be summarized, and the like: the service does that by its own words
    if "key" in question:
        return {"key": question["key"], "verdict": "ok", "reasons": []}
    candidates = question.get("candidates", {})
    if question.get("pass") == "gaps" and candidates["gaps"]:
        return {"ops": [{
            "op": "create", "name": "cancel-membership", "evidence": candidates["gaps"][0]["conversations"],
            "description": "Cancels a membership for the user. Use when the user wants out of a gym, club or plan.",
            "triggers": ["cancel my membership", "cancel the gym", "end my subscription"],
            "body": "## When to Use\n\nThe user wants to cancel a membership.\n\n## Procedure\n\n1. Find the contract.\n"
                    "2. Check the term of notice.\n3. Write the cancellation and have the user confirm it.\n",
            "reason": "it was asked for again and again"}]}
    if question.get("pass") == "consolidate" and ["billing", "invoices"] in candidates["overlaps"]:
        shown = {skill["name"]: skill.get("version") for skill in question["skills"]}
        return {"ops": [{
            "op": "merge", "into": "billing",
            "sources": [{"name": name, "version": shown[name]} for name in ("billing", "invoices")],
            "description": "Answers questions about invoices and bills. Use when a customer asks about an invoice or a bill.",
            "body": "## When to Use\n\nThe user asks about an invoice.\n\n## Procedure\n\n"
                    "1. Open `billing show`, or run `invoice get ID`.\n"
                    "2. Compare with the contract at https://example.com/contracts.\n3. Tell the amount and the due date.\n"
                    "4. Offer 3 ways to pay.\n5. Write back within 2 days.\n",
            "reason": "both answer the same questions"}]}
    return {"ops": []}


class PlayedModel(BaseHTTPRequestHandler):
    """An OpenAI-compatible chat API."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            answer = propose(json.loads(asked["messages"][-1]["content"]))
        except ValueError:
            answer = {}
        message = {"role": "assistant", "content": json.dumps(answer)}
        body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Service:
    """A service, as an operator and as the backend of one user sees it."""

    def __init__(self, url, tenant, key, operator):
        self.url, self.tenant, self.operator = url, tenant, operator
        self.backend = {"Authorization": f"Bearer {key}", "Knowhow-User": f"dreamer-{secrets.token_hex(4)}"}

    def ask(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **(headers or self.backend)}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as refusal:
            sys.exit(f"{method} {path}: {refusal.code} {refusal.read().decode()}")

    def let_dreams_apply(self):
        """The tenant lets dreams apply what every check lets through, and its users decide for themselves."""
        path, operator = f"/v1/admin/tenants/{self.tenant}", {"Authorization": f"Bearer {self.operator}"}
        settings = {"dreams": {"gaps": "apply", "consolidate": "apply", "optimize": "off"}, "users_review": True}
        self.ask("PATCH", path, {"settings": settings}, operator)
        wait("the tenant's new setting", lambda: self.modes() == ["apply", "apply", "off"])

    def undo(self, run):
        """Takes a dream back, as the place where people look at dreams does: agents' credentials may not."""
        scopes = ["skills:read", "skills:write", "review"]
        operator = {"Authorization": f"Bearer {self.operator}"}
        wanted = {"name": "people's decisions", "scopes": scopes}
        key = self.ask("POST", f"/v1/admin/keys?tenant={self.tenant}", wanted, operator)["secret"]
        people = {**self.backend, "Authorization": f"Bearer {key}"}
        return self.ask("POST", f"/v1/dreams/{run['id']}/undo", headers=people)

    def modes(self):
        return [state["mode"] for state in self.ask("GET", "/v1/learning")["passes"]]

    def names(self):
        return sorted(skill["name"] for skill in self.ask("GET", "/v1/skills?limit=200")["items"])

    def dream(self, name):
        """Makes a pass happen; the run once it has come to an end."""
        run = self.ask("POST", "/v1/dreams", {"passes": [name]})["items"][0]
        run = wait(f"the pass {name}", lambda: self.ended(run["id"]))
        print(f"\nThe pass {name}: {run['state']}" + (f", {run['reason']}" if run["reason"] else ""))
        for op in run["ops"]:
            print(f"  {op['kind']}: {op['outcome']} {' '.join(op['reasons'])}\n{indent(op.get('diff') or '')}")
        return run

    def ended(self, run):
        run = self.ask("GET", f"/v1/dreams/{run}")
        return run if run["state"] != "queued" else None


def wait(what, look, seconds=90):
    """Looks until there is something."""
    for _ in range(seconds * 4):
        if found := look():
            return found
        time.sleep(0.25)
    sys.exit(f"error: {what} did not come within {seconds} s; does a worker work on jobs (knowhow serve --with-worker)?")


def indent(text):
    return "".join(f"    {line}\n" for line in text.splitlines())


def expect(promised, sentence):
    if not promised:
        sys.exit(f"error: it was promised that {sentence}")


def running_service(model_url):
    """The service of the environment, as data/dev.env names it."""
    missing = [name for name in ("KNOWHOW_URL", "KNOWHOW_API_KEY", "KNOWHOW_ADMIN_TOKEN") if name not in os.environ]
    if missing:
        sys.exit(f"error: {', '.join(missing)}: not set. Start a service and source data/dev.env")
    service = Service(os.environ["KNOWHOW_URL"], "demo", os.environ["KNOWHOW_API_KEY"], os.environ["KNOWHOW_ADMIN_TOKEN"])
    if not service.ask("GET", "/v1/learning")["has_model"]:
        sys.exit(f"error: the service has no chat model; start it with KNOWHOW_CHAT_URL={model_url} KNOWHOW_CHAT_MODEL=played")
    return service


def live(service, psql):
    """The week."""
    service.let_dreams_apply()
    for name, description, content in SKILLS:
        service.ask("POST", "/v1/skills", {"name": name, "description": description, "content": content})
    print(f"Skills of {service.backend['Knowhow-User']}: {', '.join(service.names())}\n\nThe week:")
    for days, message in WEEK:
        session = service.ask("POST", "/v1/sessions", {"channel": "chat"})["id"]
        service.ask("POST", f"/v1/sessions/{session}/turns", {"message": message, "deadline_ms": 30_000})
        service.ask("POST", f"/v1/sessions/{session}/end", {})
        psql(f"update sessions set started_at = now() - interval '{days} days', "
             f"last_message_at = now() - interval '{days} days' where session_id = '{session}'")
        print(f"  {days} days ago: {message}")
    found = service.ask("GET", "/v1/dreams/candidates")
    expect(found["gaps"], "the request that came three times is found (is there an embeddings model, KNOWHOW_MODEL_DIR?)")
    print("\nFound by code alone:")
    for gap in found["gaps"]:
        print(f"  asked for {len(gap['requests'])} times without a skill: {gap['label']}")
    for pair in found["overlaps"]:
        print(f"  these say the same: {' and '.join(pair['skills'])}")

    service.dream("gaps")
    expect("cancel-membership" in service.names(), "there is a skill for what was asked for again and again")
    before = service.names()
    merged = service.dream("consolidate")
    expect("invoices" not in service.names(), "the two skills are one")
    undone = service.undo(merged)
    print(f"Taken back: {', '.join(op['undo'] for op in undone['ops'])}. Skills: {', '.join(service.names())}")
    expect(service.names() == before, "all skills are back")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--psql", default="psql", help="the command psql")
    parser.add_argument("--model-port", type=int, required=True, help="port of the played model")
    options = parser.parse_args()
    if "DATABASE_URL" not in os.environ:
        sys.exit("error: DATABASE_URL is not set: the owner's, of the service's database")

    def psql(statement):
        command = [*shlex.split(options.psql), "-Xqc", statement, os.environ["DATABASE_URL"]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    model = ThreadingHTTPServer(("127.0.0.1", options.model_port), PlayedModel)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    live(running_service(f"http://127.0.0.1:{options.model_port}"), psql)


main()
