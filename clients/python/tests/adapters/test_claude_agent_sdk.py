"""The hooks in conversations of the Claude Agent SDK: its own program, with a scripted API in place of Anthropic's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from knowhow_client import AsyncKnowhow, Submission, applied
from knowhow_client._async.conversation import LAST_ROUND
from knowhow_client.adapters.claude_agent_sdk import KnowhowClaude

from .claude_api import ClaudeApi

pytestmark = pytest.mark.anyio


@pytest.fixture
def api() -> Iterator[ClaudeApi]:
    """A scripted model."""
    it = ClaudeApi()
    yield it
    it.server.shutdown()
    it.server.server_close()


def variables(api: ClaudeApi, folder: Path) -> dict[str, str]:
    """Returns variables that leave the network, and the user's own settings, alone."""
    return {
        "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HOME": str(folder), "CLAUDE_CONFIG_DIR": str(folder / "config"), "NO_PROXY": "127.0.0.1",
    }  # fmt: skip


def base(api: ClaudeApi, folder: Path, **more: Any) -> ClaudeAgentOptions:
    """Returns options for the scripted model."""
    return ClaudeAgentOptions(cwd=folder, env=variables(api, folder), setting_sources=[], **{"system_prompt": "Be brief.", **more})


async def say(client: ClaudeSDKClient, message: str) -> ResultMessage:
    """Sends a message of the user; returns the result."""
    await client.query(message)
    *_, last = [part async for part in client.receive_response()]
    assert isinstance(last, ResultMessage)
    return last


async def save(kh: AsyncKnowhow, name: str) -> None:
    """Saves a skill."""
    applied(await kh.skills.save(name, description=f"Do {name}. Use when {name} is needed.", content=f"Steps of {name}.\n"))


async def test_a_conversation(akh: AsyncKnowhow, api: ClaudeApi, tmp_path: Path) -> None:
    await save(akh, "plan-meeting")
    await save(akh, "mcp/email")
    api.answers = ["Friday.", ("mcp__knowhow__skill_view", {"name": "mcp/email"}), "Sent.", "Bye."]
    run = KnowhowClaude(akh, key="t1")
    async with ClaudeSDKClient(await run.options(base(api, tmp_path))) as client:
        assert (await say(client, "use plan-meeting for the team")).result == "Friday."
        assert (await say(client, "and tell Ann")).result == "Sent."
        await say(client, "thanks")
    snapshot = (await akh.session(key="t1").open()).snapshot.text
    assert all(f"Be brief.\n\n{snapshot}" in system for system in api.systems()) and len(set(api.systems())) == 1
    prompts = api.prompts()
    for earlier, later in zip(prompts, prompts[1:], strict=False):
        assert later[: len(earlier)] == earlier, "each prompt begins with the one before"
    assert "Steps of plan-meeting." in str(prompts[0]) and "Steps of mcp/email." in str(prompts[2])
    assert (await akh.skills.get("mcp/email")).times_used == 1
    log = [message async for message in run.conversation.session.messages()]
    assert [m.text for m in log] == ["use plan-meeting for the team", "Friday.", "and tell Ann", "Sent.", "thanks", "Bye."]
    assert log[3].rounds == 2 and [(call.name, call.ok) for call in log[3].tools or []] == [("mcp__knowhow__skill_view", True)]
    await run.conversation.used("mcp/email", "success")
    assert (await akh.skills.get("mcp/email")).times_used == 1


async def test_the_web_taints(akh: AsyncKnowhow, api: ClaudeApi, tmp_path: Path) -> None:
    api.answers = [("WebFetch", {"url": "http://localhost", "prompt": "x"}), "Read."]
    run = KnowhowClaude(akh, key="t2")
    async with ClaudeSDKClient(await run.options(base(api, tmp_path, allowed_tools=["WebFetch"]))) as client:
        await say(client, "read the page")
    async with akh.session(key="t2") as s:
        assert s.info.tainted_by == ["tool WebFetch"]
        assert isinstance(await s.skills.save("send", description="Send. Use to send.", content="Send it.\n"), Submission)
    log = [message async for message in run.conversation.session.messages()]
    assert [(call.name, call.ok) for call in log[1].tools or []] == [("WebFetch", False)]


async def test_the_budget_of_rounds(akh: AsyncKnowhow, api: ClaudeApi, tmp_path: Path) -> None:
    api.answers = [("mcp__knowhow__skill_list", {})] * 6
    run = KnowhowClaude(akh, key="t3", channel="voice")
    async with ClaudeSDKClient(await run.options(base(api, tmp_path))) as client:
        assert (await say(client, "never ends")).subtype == "error_max_turns"
        assert [LAST_ROUND in str(prompt) for prompt in api.prompts()] == [False] * 5 + [True]
        log = [message async for message in run.conversation.session.messages()]
        assert log[-1].rounds == 6 and log[-1].budget_spent
        api.answers = ["Hello."]
        assert (await say(client, "hello")).result == "Hello."


async def test_skills_are_shown_again_after_a_compaction(akh: AsyncKnowhow, api: ClaudeApi, tmp_path: Path) -> None:
    await save(akh, "plan-meeting")
    api.answers = ["One.", "Two.", "Three."]
    run = KnowhowClaude(akh, key="t4")
    async with ClaudeSDKClient(await run.options(base(api, tmp_path))) as client:
        await say(client, "use plan-meeting: 1")
        await say(client, "use plan-meeting: 2")
        await say(client, "/compact")
        await say(client, "use plan-meeting again")
    first, second, third = api.prompts()
    assert "Steps of plan-meeting." in str(first) and str(second).count("Steps of plan-meeting.") == 1
    assert "A summary." in str(third) and "use plan-meeting: 2" not in str(third) and "Steps of plan-meeting." in str(third)


async def test_presets_and_a_service_that_is_away(akh: AsyncKnowhow, api: ClaudeApi, tmp_path: Path) -> None:
    api.answers = ["Hi.", "Still here."]
    preset: Any = {"type": "preset", "preset": "claude_code", "append": "Be brief."}
    run = KnowhowClaude(akh, key="t5", tools="none")
    options = await run.options(base(api, tmp_path, system_prompt=preset))
    assert not options.mcp_servers and options.max_turns == 10
    async with ClaudeSDKClient(options) as client:
        assert (await say(client, "hello")).result == "Hi."
    assert f"Be brief.\n\n{run.conversation.session.snapshot.text}" in api.systems()[0]
    away = KnowhowClaude(AsyncKnowhow("http://127.0.0.1:9", api_key="kh_x", user="x", max_retries=0), key="t6")
    async with ClaudeSDKClient(await away.options(base(api, tmp_path))) as client:
        assert (await say(client, "hello")).result == "Still here."


def test_the_example(api: ClaudeApi, tmp_path: Path) -> None:
    api.answers = [("mcp__knowhow__skill_view", {"name": "water-plants"}), "I watered the ficus."]
    examples = next(above / "examples" for above in Path(__file__).parents if (above / "examples").exists())
    example = examples / "claude_agent_sdk/agent.py"
    env = {**os.environ, **variables(api, tmp_path)}
    done = subprocess.run([sys.executable, example], env=env, cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert done.returncode == 0 and "I watered the ficus." in done.stdout, done.stdout + done.stderr
    assert "1. Feel the soil." in str(api.prompts()[1])
