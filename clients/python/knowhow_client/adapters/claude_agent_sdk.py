"""Claude Agent SDK: `ClaudeSDKClient(await KnowhowClaude(kh, key=thread).options(ClaudeAgentOptions(...)))`."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any, cast

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, tool
from claude_agent_sdk.types import HookEvent

from .. import AsyncKnowhow
from .._async.conversation import LAST_ROUND, OUT_OF_ROUNDS, AsyncConversation, below
from ..models import Channel, ToolCallParam, Tools

WEB = ("WebFetch", "WebSearch")
"""Tools of Claude that read untrusted content."""
TOOLS = {
    "skill_view": {"type": "object", "properties": {"name": {"type": "string"}, "path": {"type": "string"}}, "required": ["name"]},
    "skill_list": {"type": "object", "properties": {"prefix": {"type": "string"}}},
    "skill_suggest": {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]},
}


class KnowhowClaude:
    """Gives one conversation of Claude the skills of its user; `key` names the conversation, such as a thread.

    The snapshot follows the system prompt, each turn's block its message, as context of a hook that Claude stores with the message;
    both stay the same, byte for byte, over the conversation. `untrusted` are the names of tools that read content of strangers, such
    as `mcp__mail__read`, beside those of the web. Claude stops after the rounds that the channel allows for a message.
    """

    def __init__(
        self, kh: AsyncKnowhow, *, key: str, channel: Channel = "chat", tools: Tools = "read", untrusted: Container[str] = (),
        deadline_ms: int | None = None,
    ) -> None:  # fmt: skip
        self.conversation = AsyncConversation(kh, key, channel=channel, tools=tools, deadline_ms=deadline_ms)
        self._untrusted, self._has_tools = untrusted, tools != "none"
        self._rounds, self._calls = 1, list[ToolCallParam]()
        self._was_compacted = False

    async def options(self, base: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """Returns options with the snapshot, the hooks, the tools of Knowhow, and the channel's budget of rounds."""
        base = base or ClaudeAgentOptions()
        snapshot, prompt = await self.conversation.open(), base.system_prompt
        system: Any = below(prompt, snapshot) if prompt is None or isinstance(prompt, str) else prompt
        if isinstance(prompt, dict) and prompt["type"] == "preset":
            system = {**prompt, "append": below(cast(Any, prompt).get("append"), snapshot)}
        elif isinstance(prompt, dict):
            raise ValueError("KnowhowClaude needs a system prompt of text or a preset: it cannot add the snapshot to a file")
        ours = {
            "UserPromptSubmit": self._prompt, "PreToolUse": self._before_tool, "PostToolUse": self._after_tool,
            "PostToolUseFailure": self._after_tool, "PostToolBatch": self._after_round, "PreCompact": self._compacts,
            "Stop": self._stop,
        }  # fmt: skip
        hooks = {event: list(matchers) for event, matchers in (base.hooks or {}).items()}
        for event, hook in ours.items():
            fails = "block" if event == "PreToolUse" else "continue"  # What cannot be marked must not be read.
            hooks.setdefault(cast(HookEvent, event), []).append(HookMatcher(hooks=[cast(Any, hook)], on_failure=cast(Any, fails)))
        more: dict[str, Any] = {}
        if self._has_tools:
            if not isinstance(base.mcp_servers, dict):
                raise ValueError("KnowhowClaude needs mcp_servers as a dictionary")
            more["mcp_servers"] = {**base.mcp_servers, "knowhow": create_sdk_mcp_server("knowhow", tools=self._skill_tools())}
            more["allowed_tools"] = [*base.allowed_tools, *(f"mcp__knowhow__{name}" for name in TOOLS)]
        max_turns = min(base.max_turns or 1000, self.conversation.max_turns)
        return replace(base, system_prompt=system or None, hooks=hooks, max_turns=max_turns, **more)

    async def _prompt(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        self._rounds, self._calls = 1, []
        turn = await self.conversation.turn(event["prompt"], event.get("prompt_id"), context_reset=self._was_compacted)
        self._was_compacted = False
        return _context_of("UserPromptSubmit", turn.text if turn else "")

    async def _before_tool(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        if event["tool_name"] in WEB or event["tool_name"] in self._untrusted:
            await self.conversation.taint(f"tool {event['tool_name']}")
        return {}

    async def _after_tool(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        error = event.get("error")
        call = ToolCallParam(name=event["tool_name"], ok=error is None, ms=event.get("duration_ms"), error=error and str(error)[:500])
        self._calls.append(call)
        return {}

    async def _after_round(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        if event.get("agent_id"):  # Rounds of a subagent are its own.
            return {}
        if self._rounds >= self.conversation.max_turns:
            await self.conversation.reply(OUT_OF_ROUNDS, rounds=self._rounds, calls=self._calls)
            return {}
        self._rounds += 1
        return _context_of("PostToolBatch", LAST_ROUND if self._rounds == self.conversation.max_turns else "")

    async def _compacts(self, _event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        self._was_compacted = True
        return {}

    async def _stop(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        await self.conversation.reply(event.get("last_assistant_message") or "", rounds=self._rounds, calls=self._calls)
        return {}

    def _skill_tools(self) -> list[Any]:
        def made(name: str) -> Any:
            function: Callable[..., Any] = getattr(self.conversation, name)

            async def call(arguments: dict[str, Any]) -> dict[str, Any]:
                return {"content": [{"type": "text", "text": await function(**arguments)}]}

            return tool(name, function.__doc__ or "", cast(Any, TOOLS[name]))(call)

        return [made(name) for name in TOOLS]


def _context_of(event: str, text: str) -> dict[str, Any]:
    """Returns the output of a hook that adds a text to what Claude reads."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else {}
