"""Pydantic AI: `Agent(model, capabilities=[KnowhowCapability(kh)])`."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

import msgspec
from pydantic_ai import ModelRequestContext, RunContext
from pydantic_ai.capabilities import AbstractCapability, WrapToolExecuteHandler
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import InstructionPart, ModelMessage, ModelRequest, TextContent, ToolCallPart, UserPromptPart
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from .. import AsyncKnowhow
from .._async.conversation import LAST_ROUND, OUT_OF_ROUNDS, AsyncConversation, AsyncConversations, below
from ..models import Channel, ToolCallParam, Tools


class KnowhowCapability(AbstractCapability[Any]):
    """Gives an agent the skills of its user. The session's key is the run's `conversation_id`, which `message_history` passes on.

    The snapshot follows the agent's instructions, each turn's block its message; both stay the same, byte for byte, over the
    conversation. `untrusted` are the names of tools that read content of strangers, such as the web. `user` returns the user that a
    run acts for, if `kh` has none. A run that needs more than the channel's rounds for a message ends with `UsageLimitExceeded`.
    """

    conversation: AsyncConversation
    """The conversation of the run, in the instance of a run."""

    def __init__(
        self, kh: AsyncKnowhow, *, channel: Channel = "chat", tools: Tools = "read", untrusted: Container[str] = (),
        user: Callable[[RunContext[Any]], str] | None = None, deadline_ms: int | None = None,
    ) -> None:  # fmt: skip
        def make(user: str | None, key: str) -> AsyncConversation:
            return AsyncConversation(kh.with_options(user=user), key, channel=channel, tools=tools, deadline_ms=deadline_ms)

        self.conversations = AsyncConversations(make)
        self._user, self._untrusted, self._has_tools = user, untrusted, tools != "none"
        self._has_turn, self._rounds = False, 0
        self._calls: list[ToolCallParam] = []

    async def for_run(self, ctx: RunContext[Any]) -> KnowhowCapability:
        """Returns an instance for one run."""
        run = copy.copy(self)
        run.conversation = self.conversations.get(self._user(ctx) if self._user else None, ctx.conversation_id or ctx.run_id or "")
        run._calls = []
        return run

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Returns the tools of Knowhow."""
        if not self._has_tools or "conversation" not in vars(self):
            return None
        conversation = self.conversation
        return FunctionToolset([conversation.skill_view, conversation.skill_list, conversation.skill_suggest])

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Adds the snapshot and the blocks to the request; the history stays as it is."""
        messages = list(request_context.messages)
        prompts = [part for message in messages for part in message.parts if isinstance(part, UserPromptPart)]
        said = [_text(prompt) for prompt in prompts]
        if said and not self._has_turn and any(part is prompts[-1] for part in messages[-1].parts):
            self._has_turn, blocks = True, await self.conversation.prompt(said, ctx.run_id)
        else:
            blocks = self.conversation.blocks(said)
        by_prompt = {id(prompt): block for prompt, block in zip(prompts, blocks, strict=True)}
        messages = [_with_blocks(message, by_prompt) for message in messages]
        self._rounds += 1
        budget = self.conversation.max_turns
        if self._rounds > budget:
            await self.conversation.reply(OUT_OF_ROUNDS, rounds=budget, calls=self._calls)
            raise UsageLimitExceeded(f"the message has a budget of {budget} rounds")
        if self._rounds == budget and isinstance(messages[-1], ModelRequest):
            messages[-1] = replace(messages[-1], parts=[*messages[-1].parts, UserPromptPart(LAST_ROUND)])
        parameters = request_context.model_request_parameters
        if snapshot := await self.conversation.open():
            parameters = replace(parameters, instruction_parts=[*(parameters.instruction_parts or []), InstructionPart(snapshot)])
        return replace(request_context, messages=messages, model_request_parameters=parameters)

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], handler: WrapToolExecuteHandler
    ) -> Any:
        """Marks the session before a tool reads untrusted content, and notes the call and its outcome."""
        if call.tool_name in self._untrusted:
            await self.conversation.taint(f"tool {call.tool_name}")
        began, noted = time.monotonic(), ToolCallParam(name=call.tool_name, ok=True)
        self._calls.append(noted)
        try:
            return await handler(args)
        except Exception as error:
            noted["ok"], noted["error"] = False, str(error)[:500]
            raise
        finally:
            noted["ms"] = int(1000 * (time.monotonic() - began))

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Logs the reply, with its rounds and tool calls."""
        output = result.output
        text = output if isinstance(output, str) else msgspec.json.encode(output, enc_hook=_members).decode()
        await self.conversation.reply(text, rounds=self._rounds, calls=self._calls)
        return result


def _text(prompt: UserPromptPart) -> str:
    """Returns the text of a message of the user."""
    if isinstance(prompt.content, str):
        return prompt.content
    return "\n".join(part if isinstance(part, str) else part.content for part in prompt.content if isinstance(part, (str, TextContent)))


def _with_blocks(message: ModelMessage, blocks: dict[int, str]) -> ModelMessage:
    """Returns a copy of a message with the blocks after its prompts."""
    if not isinstance(message, ModelRequest) or not any(blocks.get(id(part)) for part in message.parts):
        return message
    return replace(message, parts=[_with(part, blocks[id(part)]) if blocks.get(id(part)) else part for part in message.parts])


def _with(part: Any, block: str) -> Any:
    """Returns a copy of a prompt with a block after its text."""
    return replace(part, content=below(part.content, block) if isinstance(part.content, str) else [*part.content, block])


def _members(output: Any) -> Any:
    """Returns a structured output as JSON can have it."""
    return output.model_dump(mode="json") if hasattr(output, "model_dump") else str(output)
