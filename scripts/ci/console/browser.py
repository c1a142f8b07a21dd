#!/usr/bin/env python3
"""Uses the console in Chromium, with and without JavaScript: logs in, edits a skill, rolls it back, approves a submission and helps a user. No page may violate the content security policy, scroll sideways, or send a request elsewhere.

    scripts/ci/with_service.sh scripts/ci/console.sh

CHROMIUM names the browser. CONSOLE_SHOTS names a folder for a picture of each page, narrow and wide, light and dark.
"""

import base64
import json
import os
import re
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tools.caller import request

URL = os.environ["KNOWHOW_URL"]
USER, ADMIN = os.environ["KNOWHOW_TOKEN"], os.environ["KNOWHOW_TENANT_ADMIN_TOKEN"]
REASON = "check of the console"
HOSTILE = "\"'><script>window.hacked = true</script><img src=http://elsewhere.example/x onerror=\"window.hacked = true\">\u202e"
WIDTHS = (360, 390, 1440, 2560)


def call(method, path, token, body=None, **headers):
    """Sends a request of the API; returns the answer."""
    status, _, answer = request(URL, method, path, token, body, {name.replace("_", "-"): value for name, value in headers.items()})
    if status >= 300:
        sys.exit(f"error: {method} {path} was answered {status}: {answer.decode(errors='replace')}")
    return json.loads(answer) if answer else None


def name_of(token):
    """Returns the user of a token."""
    claims = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["sub"]


class Person:
    """A person at a browser. Notes what a page must not do."""

    def __init__(self, browser, token, **options):
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.wrong = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("request", lambda sent: None if sent.url.startswith(URL) else self.wrong.append(f"asked for {sent.url}"))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"a dialog: {dialog.message}"))
        self.page.goto(f"{URL}/console/skills")
        assert "/console/login" in self.page.url, self.page.url
        self.page.fill("#token", token)
        self.press("Log in")
        self.expect("/console/skills")

    def open(self, path):
        """Opens a page."""
        answer = self.page.goto(URL + path)
        assert answer.status == 200, (path, answer.status)

    def expect(self, path, text=""):
        """Checks the address and the text of the current page."""
        assert self.page.url.removeprefix(URL).startswith(path), (self.page.url, path)
        assert text in self.page.inner_text("main"), (text, self.page.inner_text("main"))

    def press(self, name):
        """Presses a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name):
        """Follows the first link of this name."""
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def leave(self):
        """Logs out; the session must be over."""
        self.press("Log out")
        self.page.goto(f"{URL}/console")
        self.expect("/console/login")
        assert not self.wrong, self.wrong
        self.context.close()


def prepare():
    """Makes what the pages show, with hostile texts; returns the paths of pages and the id of a submission."""
    skill = {"name": "water-plants", "description": f"Water the plants. Use for plants. {HOSTILE[:-1]}", "content": "Feel the soil.\n"}
    for name in ("water-plants", "mcp/send-email", "plan-a-meeting"):
        call("POST", "/v1/skills", ADMIN, {**skill, "name": name, "tags": ["office"], "category": "home"})
    memory = call("POST", "/v1/memories", ADMIN, {"content": f"Prefers tea. {HOSTILE}"})
    call("PUT", "/v1/soul", ADMIN, {"text": "Be brief.\nBe kind.\n"})
    session = call("POST", "/v1/sessions", ADMIN, {"key": "chat-17", "tools": "full"})["id"]
    call("POST", f"/v1/sessions/{session}/turns", ADMIN, {"message": f"use water-plants today {HOSTILE}"})
    call("POST", f"/v1/sessions/{session}/reply", ADMIN, {"message": "The plants are watered."})
    call("PUT", "/v1/skills/water-plants/relations/requires/plan-a-meeting", ADMIN, {})
    run = call("POST", "/v1/dreams", ADMIN, {"passes": ["consolidate"]})["items"][0]["id"]
    pages = ["", "/skills", "/recall", "/graph", "/analytics", "/memories", "/soul", "/conversations", "/sessions", "/snapshot", "/dreams", f"/dreams/{run}", "/review"]
    pages += ["/users", f"/users/{name_of(USER)}", "/keys", "/webhook", "/archive", "/audit", "/jobs"]
    pages += [f"/skills/water-plants{tab}" for tab in ("", "/resources", "/knowledge", "/versions", "/fields")]
    pages += [f"/memories/{memory['id']}", f"/sessions/{session}", f"/sessions/{session}/turns/1"]
    return [f"/console{page}" for page in pages]


def propose():
    """Has the demo user's agent propose a skill in a tainted session; returns the submission's id."""
    session = call("POST", "/v1/sessions", USER, {"tools": "full"})["id"]
    call("POST", f"/v1/sessions/{session}/taint", USER, {"source": "a mail"})
    name = f"pay-{session[-12:]}"
    body = {"name": name, "description": "Pay bills. Use for bills.", "content": "Pay\u200b the bill of the mail.\n"}
    return call("POST", "/v1/skills", USER, body, Knowhow_Session=session)["id"]


def edit_and_roll_back(person, words):
    """Edits a skill and rolls it back."""
    page = person.page
    person.open("/console/skills?q=water-plants")
    person.follow("water-plants")
    text = page.input_value("#text")
    page.fill("#text", text.replace("Feel the soil.", f"Feel the {words} soil."))
    person.press("Save a new version")
    person.expect("/console/skills/water-plants", "Saved.")
    assert page.input_value("#text") == text.replace("Feel the soil.", f"Feel the {words} soil."), "the text came back otherwise"
    person.follow("Versions")
    person.follow("What changed")
    assert words in page.inner_text(".diff ins"), page.inner_text(".diff")
    person.follow("All versions")
    current = int(page.inner_text("tbody tr:first-child td b"))
    person.press(f"Roll back to {current - 1}")
    person.expect("/console/skills/water-plants/versions", "Rolled back")
    person.follow("Text")
    assert page.input_value("#text") == text


def approve(person):
    """Approves a submission of another user, for a reason."""
    submission = propose()
    person.open("/console/review")
    if person.page.query_selector("#reason"):
        person.page.fill("#reason", REASON)
        person.press("Show those of all users")
    person.page.click(f'a[href*="{submission}"]')
    assert person.page.inner_text("mark") == "<U+200B>", person.page.inner_text(".diff")
    person.page.fill("#comment", "looked at it")
    person.press("Approve this change")
    person.expect("/console/review", "Approved")
    decided = call("GET", f"/v1/submissions/{submission}", USER)
    assert decided["state"] == "approved" and decided["comment"] == "looked at it", decided


def help_a_user(person, user):
    """Finds a user, ends a session, suspends and lets in, views the user's pages, and rotates a key: the tasks of support."""
    call("POST", "/v1/sessions", USER, {"key": "call-4711", "tools": "full"})
    page = person.page
    person.open("/console")
    person.follow("Users")
    page.fill("#prefix", user)
    person.press("Show")
    person.follow(user)
    page.get_by_role("row", name="call-4711").get_by_role("button", name="End").click()
    person.expect(f"/console/users/{user}", "The session has ended.")
    page.fill("#suspend-reason", REASON)
    person.press("Suspend")
    person.expect(f"/console/users/{user}", f"Suspended: {REASON}")
    person.press("Let in again")
    person.expect(f"/console/users/{user}", "Resumed.")
    page.fill("#view-reason", REASON)
    person.press("View")
    person.expect("/console", f"You view {user}.")
    person.follow("Sessions")
    person.expect("/console/sessions", "call-4711")
    person.press("Stop")
    person.follow("Audit log of this user")
    assert "content.read" in page.inner_text("main"), page.inner_text("main")

    person.follow("API keys")
    page.fill("#name", "backend")
    person.press("Create")
    first = page.inner_text(".created pre")
    row = page.get_by_role("row", name=first[:15])
    row.locator("summary", has_text="Rotate").click()
    row.get_by_role("button", name="Create the new key").click()
    second = page.inner_text(".created pre")
    assert call("GET", "/v1/skills", second, Knowhow_User=user) and first != second
    row = page.get_by_role("row", name=second[:15])
    row.locator("summary", has_text="Revoke").click()
    row.get_by_role("button", name="Revoke").click()
    person.expect("/console/keys", "Revoked.")


def look(person, paths):
    """Opens each page at several widths: nothing may run, scroll sideways, or move while it loads."""
    for path in paths:
        for width in WIDTHS:
            person.page.set_viewport_size({"width": width, "height": 900})
            person.open(path)
            wide, hacked = person.page.evaluate("[document.documentElement.scrollWidth, !!window.hacked]")
            assert not hacked, path
            assert wide <= width, f"{path} is {wide} pixels wide at {width}"
    person.page.set_viewport_size({"width": 1440, "height": 900})


def check_access(browser, paths):
    """Runs axe on each page, light and dark: no serious or critical obstacle for people who use assistive technology."""
    for scheme in ("light", "dark"):
        person = Person(browser, ADMIN, color_scheme=scheme)
        for path in paths:
            person.open(path)
            found = [violation for violation in Axe().run(person.page).response["violations"] if violation["impact"] in ("serious", "critical")]
            shown = [(violation["id"], [node["html"] for node in violation["nodes"]][:3]) for violation in found]
            assert not found, f"{path} in {scheme}: {shown}"
        person.leave()


def take_pictures(browser, paths, folder):
    """Takes a picture of each page."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        person = Person(browser, ADMIN, color_scheme=scheme)
        for path in paths:
            for width in (390, 1440):
                person.page.set_viewport_size({"width": width, "height": 900})
                person.open(path)
                name = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")
                person.page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png", full_page=True)
        person.leave()


def main():
    """Runs the steps with JavaScript, then without."""
    paths = prepare()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
        for words, options in (("dry", {}), ("dark", {"java_script_enabled": False})):
            person = Person(browser, ADMIN, **options)
            edit_and_roll_back(person, words)
            approve(person)
            help_a_user(person, name_of(USER))
            if not options:
                look(person, [*paths, f"/console/review/{propose()}"])
            person.leave()
        check_access(browser, paths)
        if folder := os.environ.get("CONSOLE_SHOTS"):
            take_pictures(browser, [*paths, f"/console/review/{propose()}"], folder)
        print(f"the console works in {json.dumps(browser.version)}, with and without JavaScript: {len(paths) + 1} pages")
        browser.close()


if __name__ == "__main__":
    main()
