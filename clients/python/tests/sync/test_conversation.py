"""What the adapters share, when Knowhow is slow, away or has ended a session."""

from __future__ import annotations

import time

import pytest

from knowhow_client import Knowhow, applied, errors
from knowhow_client._sync.conversation import Conversation, Conversations

from ..faults import Faults



def test_a_late_turn_is_logged_with_the_reply(faulty: Knowhow, kh: Knowhow, faults: Faults) -> None:
    applied(kh.skills.save("greet", description="Greet. Use to greet.", content="Say hello.\n"))
    it = Conversation(faulty, "t", channel="voice", tools="none", deadline_ms=150)
    it.open()
    faults.plan = ["stall"]
    began = time.monotonic()
    assert it.turn("use greet", "m1") is None and time.monotonic() - began < 1
    it.reply("Hello!", rounds=1)
    it._away_until = 0
    turn = it.turn("use greet again", "m2")
    assert turn and turn.turn == 2 and "Say hello." in turn.text, "what the late turn brought was not in the prompt"
    with kh.session(key="t") as s:
        assert [message.text for message in s.messages()] == ["use greet", "Hello!", "use greet again"]


def test_a_service_that_is_away_is_left_alone(faults: Faults, faulty: Knowhow) -> None:
    it = Conversation(faulty.with_options(max_retries=0), "t", deadline_ms=100)
    faults.plan = ["503"] * 2
    assert it.open() == "" and it.turn("hello") is None and it.open() == ""
    assert len(faults.seen) == 1
    it._away_until = 0
    faults.plan = []
    assert it.open() and it.turn("hello again")


def test_the_next_session(kh: Knowhow) -> None:
    it = Conversation(kh, "t")
    before = it.open()
    it.turn("hello")
    it.reply("Hello!", rounds=1)
    it.session.end()
    turn = it.turn("are you there?", "m" * 300)
    assert turn and turn.turn == 1 and "Previous conversation" in it.system_text != before
    it.session.end()
    it.reply("Yes.", rounds=1)


def test_taint_must_succeed(faulty: Knowhow, faults: Faults) -> None:
    it = Conversation(faulty.with_options(max_retries=0), "t")
    faults.plan = ["503"]
    with pytest.raises(errors.Unavailable):
        it.taint("a page")
    it.taint("a page")
    it.taint("a page")
    assert [path.rpartition("/")[2] for _, path, _, _ in faults.seen] == ["sessions", "sessions", "taint"]


def test_tools(kh: Knowhow) -> None:
    it = Conversation(kh, "t")
    it.open()
    assert it.skill_view("nothing") == "Error: 404 not-found: no such skill"
    applied(kh.skills.save("mcp/mail", description="Mail. Use to send a mail.", content="Send it.\n"))
    applied(kh.skills.put_resource("mcp/mail", "references/a.md", b"alpha"))
    assert "Files (skill_view with path): references/a.md\n\nSend it." in it.skill_view("mail")
    assert it.skill_view("mail", "references/a.md") == "alpha"
    assert "- mcp/mail: " in it.skill_list("mcp/") and it.skill_list("x/") == "No skills."
    assert "mcp/mail" in it.skill_suggest("send a mail")


def test_many_conversations(kh: Knowhow) -> None:
    some = Conversations(lambda user, key: Conversation(kh, key), size=2)
    first = some.get(None, "a")
    assert some.get(None, "a") is first and some.get("bob", "a") is not first
    some.get(None, "b")
    assert some.get(None, "a") is not first
