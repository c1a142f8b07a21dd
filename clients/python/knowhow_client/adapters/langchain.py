"""LangChain and LangGraph: `create_agent(model, tools, middleware=[KnowhowMiddleware(kh)])`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container
from typing import Annotated, Any, TypeAlias, TypeVar

from langchain.agents.middleware.types import AgentMiddleware, AgentState, ModelRequest, ModelResponse, PrivateStateAttr, hook_config
from langchain.tools import ToolRuntime
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import NotRequired

from .. import Knowhow
from .._sync.conversation import LAST_ROUND, OUT_OF_ROUNDS, Conversation, Conversations, below
from ..models import Channel, ToolCallParam, Tools

M = TypeVar("M", bound=BaseMessage)
Request: TypeAlias = ModelRequest[Any]
Result: TypeAlias = ToolMessage | Command[Any]


class KnowhowState(AgentState[Any]):
    """The middleware's part of a thread's checkpoints: blocks by the id of their message; rounds of the last message."""

    knowhow_blocks: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]
    knowhow_rounds: NotRequired[Annotated[int, PrivateStateAttr]]
    knowhow_budget: NotRequired[Annotated[int, PrivateStateAttr]]


class KnowhowMiddleware(AgentMiddleware[KnowhowState, Any]):
    """Gives an agent the skills of its user. The session's key is the thread's id, so the agent needs a checkpointer.

    The snapshot follows the system prompt, each turn's block its message; both stay the same, byte for byte, over the
    conversation. `untrusted` are the names of tools that read content of strangers, such as the web. `user` returns the user that a
    run acts for, if `kh` has none. The agent stops after the rounds that the channel allows for a message.
    """

    state_schema = KnowhowState

    def __init__(
        self, kh: Knowhow, *, channel: Channel = "chat", tools: Tools = "read", untrusted: Container[str] = (),
        user: Callable[[Any], str] | None = None, deadline_ms: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()

        def make(user: str | None, key: str) -> Conversation:
            return Conversation(kh.with_options(user=user), key, channel=channel, tools=tools, deadline_ms=deadline_ms)

        self._conversations, self._user, self._untrusted = Conversations(make), user, untrusted
        self.tools: list[BaseTool] = [] if tools == "none" else self._skill_tools()

    def conversation(self, runtime: Any) -> Conversation:
        """Returns the conversation of a run, for example to report feedback."""
        info = runtime.execution_info
        if info is None or info.thread_id is None:
            raise ValueError('KnowhowMiddleware needs a checkpointer and config={"configurable": {"thread_id": ...}}')
        return self._conversations.get(self._user(runtime) if self._user else None, info.thread_id)

    def before_agent(self, state: KnowhowState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Takes the turn of the new message."""
        messages, blocks = state["messages"], state.get("knowhow_blocks", {})
        last = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
        if last is None or last.id is None or last.id in blocks:
            return None
        ids = {message.id for message in messages}
        kept = {id: block for id, block in blocks.items() if id in ids}
        conversation = self.conversation(runtime)
        turn = conversation.turn(last.text, last.id, context_reset=len(kept) < len(blocks))
        kept[last.id] = turn.text if turn else ""
        return {"knowhow_blocks": kept, "knowhow_rounds": 0, "knowhow_budget": conversation.max_turns}

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: KnowhowState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Ends the run if the budget of rounds is spent."""
        if state.get("knowhow_rounds", 0) < state.get("knowhow_budget", 10):
            return {"knowhow_rounds": state.get("knowhow_rounds", 0) + 1}
        return {"jump_to": "end", "messages": [AIMessage(OUT_OF_ROUNDS)]}

    def after_agent(self, state: KnowhowState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Logs the reply, with its rounds and tool calls."""
        messages = state["messages"]
        last = max((n for n, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
        calls: list[ToolCallParam] = [
            {"name": it.name or "tool", "ok": it.status != "error", "error": it.text[:500] if it.status == "error" else None}
            for it in messages[last:] if isinstance(it, ToolMessage)
        ]  # fmt: skip
        self.conversation(runtime).reply(messages[-1].text, rounds=state.get("knowhow_rounds", 0), calls=calls)
        return None

    def wrap_model_call(self, request: Request, handler: Callable[[Request], ModelResponse[Any]]) -> ModelResponse[Any]:
        """Adds the snapshot and the blocks to what the model reads."""
        return handler(self._filled(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Marks the session before a tool reads untrusted content."""
        if request.tool_call["name"] in self._untrusted:
            self.conversation(request.runtime).taint(f"tool {request.tool_call['name']}")
        return handler(request)

    def _filled(self, request: Request) -> Request:
        state: Any = request.state
        blocks: dict[str, str] = state.get("knowhow_blocks", {})
        messages: list[AnyMessage] = [_with(message, blocks.get(message.id or "")) for message in request.messages]
        if blocks and not any(message.id == [*blocks][-1] for message in messages):  # A summary took the place of the message.
            place = max((n for n, message in enumerate(messages) if isinstance(message, HumanMessage)), default=len(messages) - 1)
            messages[place] = _with(messages[place], [*blocks.values()][-1])
        if state.get("knowhow_rounds") == state.get("knowhow_budget") and messages:
            messages[-1] = _with(messages[-1], LAST_ROUND)
        snapshot, base = self.conversation(request.runtime).open(), request.system_message
        return request.override(messages=messages, system_message=_with(base or SystemMessage(""), snapshot) if snapshot else base)

    def _skill_tools(self) -> list[BaseTool]:
        def skill_view(name: str, runtime: ToolRuntime, path: str | None = None) -> str:
            return self.conversation(runtime).skill_view(name, path)
        def skill_list(runtime: ToolRuntime, prefix: str | None = None) -> str:
            return self.conversation(runtime).skill_list(prefix)
        def skill_suggest(context: str, runtime: ToolRuntime) -> str:
            return self.conversation(runtime).skill_suggest(context)

        functions: list[Callable[..., str]] = [skill_view, skill_list, skill_suggest]
        return [StructuredTool.from_function(it, description=getattr(Conversation, it.__name__).__doc__) for it in functions]

    # Asynchronous runs: requests to the service leave the event loop.
    async def abefore_agent(self, state: KnowhowState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await asyncio.to_thread(self.before_agent, state, runtime)

    async def aafter_agent(self, state: KnowhowState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await asyncio.to_thread(self.after_agent, state, runtime)

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[ModelResponse[Any]]]) -> ModelResponse[Any]:
        return await handler(await asyncio.to_thread(self._filled, request))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]) -> Result:
        if request.tool_call["name"] in self._untrusted:
            await asyncio.to_thread(self.conversation(request.runtime).taint, f"tool {request.tool_call['name']}")
        return await handler(request)


def _with(message: M, block: str | None) -> M:
    """Returns a copy of a message with a block after its text."""
    if not block:
        return message
    content: Any = message.content
    content = below(content, block) if isinstance(content, str) else [*content, {"type": "text", "text": block}]
    return message.model_copy(update={"content": content})
