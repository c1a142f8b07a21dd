"""OpenAI Agents SDK: `Runner.run(agent, message, hooks=run, run_config=run.config)`, with `run = KnowhowRun(kh, key=thread)`."""

from __future__ import annotations

import json
import time
from collections.abc import Container
from typing import Any

from agents import Agent, AgentHookContext, FunctionTool, ModelResponse, RunConfig, RunContextWrapper, RunHooks, Tool, function_tool
from agents.exceptions import MaxTurnsExceeded
from agents.run_config import CallModelData, ModelInputData

from .. import AsyncKnowhow
from .._async.conversation import LAST_ROUND, OUT_OF_ROUNDS, AsyncConversation, below
from ..models import Channel, ToolCallParam, Tools

HOSTED = {"web_search_call": "web_search", "file_search_call": "file_search", "mcp_call": "mcp", "computer_call": "computer"}
"""Tools of OpenAI that read untrusted content, by the type of their items."""


class KnowhowRun(RunHooks[Any]):
    """Gives the runs of one conversation the skills of its user; `key` names the conversation, such as a thread.

    Pass it as `hooks`, its `config` as `run_config`, and give the agent its `tools`. The snapshot follows the agent's instructions,
    each turn's block its message; both stay the same, byte for byte, over the conversation. `untrusted` are the names of tools that
    read content of strangers; tools of OpenAI that do are known. A run that needs more than the channel's rounds for a message
    ends with `MaxTurnsExceeded`.
    """

    def __init__(
        self, kh: AsyncKnowhow, *, key: str, channel: Channel = "chat", tools: Tools = "read", untrusted: Container[str] = (),
        deadline_ms: int | None = None, config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        self.conversation = AsyncConversation(kh, key, channel=channel, tools=tools, deadline_ms=deadline_ms)
        self.config = config or RunConfig()
        self.config.call_model_input_filter = self._fill
        self.tools: list[Tool] = [] if tools == "none" else self._skill_tools()
        self._untrusted = untrusted
        self._usage: object = None  # The same during one run, also after a handoff.
        self._has_turn = False
        self._rounds = 0
        self._calls: list[ToolCallParam] = []
        self._began: dict[str, float] = {}

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Any) -> None:
        """Notes that a run begins."""
        if context.usage is not self._usage:
            self._usage, self._has_turn, self._rounds, self._calls = context.usage, False, 0, []

    async def _fill(self, data: CallModelData[Any]) -> ModelInputData:
        items: list[Any] = list(data.model_data.input)
        places = [n for n, item in enumerate(items) if item.get("role") == "user"]
        said = [_text(items[n]) for n in places]
        if said and not self._has_turn:
            self._has_turn, blocks = True, await self.conversation.prompt(said)
        else:
            blocks = self.conversation.blocks(said)
        for n, block in zip(places, blocks, strict=True):
            items[n] = _with(items[n], block)
        self._rounds += 1
        budget = self.conversation.max_turns
        if self._rounds > budget:
            await self.conversation.reply(OUT_OF_ROUNDS, rounds=budget, calls=self._calls)
            raise MaxTurnsExceeded(f"the message has a budget of {budget} rounds")
        if self._rounds == budget:
            items.append({"role": "developer", "content": LAST_ROUND})
        instructions = below(data.model_data.instructions, await self.conversation.open())
        return ModelInputData(input=items, instructions=instructions or None)

    async def on_llm_end(self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse) -> None:
        """Marks the session if OpenAI has run a tool that reads untrusted content."""
        for item in response.output:
            if kind := HOSTED.get(getattr(item, "type", "")):
                self._calls.append({"name": kind, "ok": getattr(item, "status", "completed") != "failed"})
                await self.conversation.taint(f"tool {kind}")

    async def on_tool_start(self, context: RunContextWrapper[Any], agent: Any, tool: Tool) -> None:
        """Marks the session before a tool reads untrusted content."""
        self._began[getattr(context, "tool_call_id", tool.name)] = time.monotonic()
        if tool.name in self._untrusted:
            await self.conversation.taint(f"tool {tool.name}")

    async def on_tool_end(self, context: RunContextWrapper[Any], agent: Any, tool: Tool, result: object) -> None:
        """Notes a tool call and its outcome."""
        began = self._began.pop(getattr(context, "tool_call_id", tool.name), time.monotonic())
        failed = isinstance(result, str) and result.startswith("An error occurred while running the tool")
        ms = int(1000 * (time.monotonic() - began))
        self._calls.append({"name": tool.name, "ok": not failed, "ms": ms, "error": str(result)[:500] if failed else None})

    async def on_agent_end(self, context: AgentHookContext[Any], agent: Any, output: Any) -> None:
        """Logs the reply, with its rounds and tool calls."""
        text = output if isinstance(output, str) else json.dumps(output, default=_members, ensure_ascii=False)
        await self.conversation.reply(text, rounds=self._rounds, calls=self._calls)

    def _skill_tools(self) -> list[Tool]:
        async def skill_view(name: str, path: str | None = None) -> str:
            return await self.conversation.skill_view(name, path)

        async def skill_list(prefix: str | None = None) -> str:
            return await self.conversation.skill_list(prefix)

        async def skill_suggest(context: str) -> str:
            return await self.conversation.skill_suggest(context)

        def made(function: Any) -> FunctionTool:
            return function_tool(function, description_override=getattr(AsyncConversation, function.__name__).__doc__)

        return [made(function) for function in (skill_view, skill_list, skill_suggest)]


def _text(item: Any) -> str:
    """Returns the text of a message of the user."""
    content = item.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content if part.get("text"))


def _with(item: Any, block: str) -> Any:
    """Returns a copy of a message with a block after its text."""
    if not block:
        return item
    content = item.get("content") or ""
    with_block = below(content, block) if isinstance(content, str) else [*content, {"type": "input_text", "text": block}]
    return {**item, "content": with_block}


def _members(output: Any) -> Any:
    """Returns a structured output as JSON can have it."""
    return output.model_dump(mode="json") if hasattr(output, "model_dump") else str(output)
