"""What the adapters share, when Knowhow is slow, away or has ended a session."""

from __future__ import annotations

import time

import pytest

from knowhow_client import AsyncKnowhow, applied, errors
from knowhow_client._async.conversation import AsyncConversation, AsyncConversations

from ..faults import Faults

pytestmark = pytest.mark.anyio


async def test_a_late_turn_is_logged_with_the_reply(faulty: AsyncKnowhow, kh: AsyncKnowhow, faults: Faults) -> None:
    applied(await kh.skills.save("greet", description="Greet. Use to greet.", content="Say hello.\n"))
    it = AsyncConversation(faulty, "t", channel="voice", tools="none", deadline_ms=150)
    await it.open()
    faults.plan = ["stall"]
    began = time.monotonic()
    assert await it.turn("use greet", "m1") is None and time.monotonic() - began < 1
    await it.reply("Hello!", rounds=1)
    it._away_until = 0
    turn = await it.turn("use greet again", "m2")
    assert turn and turn.turn == 2 and "Say hello." in turn.text, "what the late turn brought was not in the prompt"
    async with kh.session(key="t") as s:
        assert [message.text async for message in s.messages()] == ["use greet", "Hello!", "use greet again"]


async def test_a_service_that_is_away_is_left_alone(faults: Faults, faulty: AsyncKnowhow) -> None:
    it = AsyncConversation(faulty.with_options(max_retries=0), "t", deadline_ms=100)
    faults.plan = ["503"] * 2
    assert await it.open() == "" and await it.turn("hello") is None and await it.open() == ""
    assert len(faults.seen) == 1
    it._away_until = 0
    faults.plan = []
    assert await it.open() and await it.turn("hello again")


async def test_the_next_session(kh: AsyncKnowhow) -> None:
    it = AsyncConversation(kh, "t")
    before = await it.open()
    await it.turn("hello")
    await it.reply("Hello!", rounds=1)
    await it.session.end()
    turn = await it.turn("are you there?", "m" * 300)
    assert turn and turn.turn == 1 and "Previous conversation" in it.system_text != before
    await it.session.end()
    await it.reply("Yes.", rounds=1)


async def test_taint_must_succeed(faulty: AsyncKnowhow, faults: Faults) -> None:
    it = AsyncConversation(faulty.with_options(max_retries=0), "t")
    faults.plan = ["503"]
    with pytest.raises(errors.Unavailable):
        await it.taint("a page")
    await it.taint("a page")
    await it.taint("a page")
    assert [path.rpartition("/")[2] for _, path, _, _ in faults.seen] == ["sessions", "sessions", "taint"]


async def test_tools(kh: AsyncKnowhow) -> None:
    it = AsyncConversation(kh, "t")
    await it.open()
    assert await it.skill_view("nothing") == "Error: 404 not-found: no such skill"
    applied(await kh.skills.save("mcp/mail", description="Mail. Use to send a mail.", content="Send it.\n"))
    applied(await kh.skills.put_resource("mcp/mail", "references/a.md", b"alpha"))
    assert "Files (skill_view with path): references/a.md\n\nSend it." in await it.skill_view("mail")
    assert await it.skill_view("mail", "references/a.md") == "alpha"
    assert "- mcp/mail: " in await it.skill_list("mcp/") and await it.skill_list("x/") == "No skills."
    assert "mcp/mail" in await it.skill_suggest("send a mail")


async def test_many_conversations(kh: AsyncKnowhow) -> None:
    some = AsyncConversations(lambda user, key: AsyncConversation(kh, key), size=2)
    first = some.get(None, "a")
    assert some.get(None, "a") is first and some.get("bob", "a") is not first
    some.get(None, "b")
    assert some.get(None, "a") is not first
