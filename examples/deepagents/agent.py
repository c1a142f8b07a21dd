"""A deep agent that reads the skills of its user as files, and improves them with edits."""

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from knowhow_client import Knowhow
from knowhow_client.adapters.deepagents import KnowhowBackend
from knowhow_client.adapters.langchain import KnowhowMiddleware


class Scripted(FakeMessagesListChatModel):
    """In the place of your model, such as "anthropic:claude-sonnet-4-5"."""

    def bind_tools(self, tools, **options):
        """Accepts the tools."""
        return self


def call(tool, number, **arguments):
    """Returns an answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": str(number)}])


path = "/skills/water-plants/SKILL.md"
edit = call("edit_file", 2, file_path=path, old_string="2. Water.", new_string="2. Water, the ficus twice.")
model = Scripted(responses=[call("read_file", 1, file_path=path), edit, AIMessage("I watered the ficus, and noted that it needs more.")])

kh = Knowhow(user="alice")
kh.skills.save("water-plants", description="Water the plants. Use when they are dry.", content="1. Feel the soil.\n2. Water.\n")
middleware = KnowhowMiddleware(kh, tools="none", untrusted={"web_search"})
skills = KnowhowBackend(kh, middleware)
agent = create_deep_agent(
    model, middleware=[middleware], backend=CompositeBackend(StateBackend(), {"/skills/": skills}), skills=skills.sources(),
    checkpointer=InMemorySaver(),
)  # fmt: skip
answer = agent.invoke({"messages": [HumanMessage("The ficus hangs its leaves.")]}, {"configurable": {"thread_id": "deep-1"}})
for message in answer["messages"]:
    print(f"--- {message.type}\n{message.text}\n")
print(kh.skills.diff("water-plants"))
