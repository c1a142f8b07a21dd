"""An agent of LangChain that follows the skills of its user."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from knowhow_client import Knowhow
from knowhow_client.adapters.langchain import KnowhowMiddleware


class Scripted(FakeMessagesListChatModel):
    """In the place of your model, such as "anthropic:claude-sonnet-4-5"."""

    def bind_tools(self, tools, **options):
        """Accepts the tools."""
        return self

    def _generate(self, messages, *arguments, **options):
        print(f"--- the model reads {len(messages)} messages; the last one is\n{messages[-1].text}\n")
        return super()._generate(messages, *arguments, **options)


view = {"name": "skill_view", "args": {"name": "water-plants"}, "id": "1"}
model = Scripted(responses=[AIMessage("", tool_calls=[view]), AIMessage("I felt the soil and watered the ficus.")])

kh = Knowhow(user="alice")
kh.skills.save("water-plants", description="Water the plants. Use when they are dry.", content="1. Feel the soil.\n2. Water.\n")
agent = create_agent(
    model, system_prompt="You run an office.", middleware=[KnowhowMiddleware(kh, untrusted={"web_search"})], checkpointer=InMemorySaver()
)
answer = agent.invoke({"messages": [HumanMessage("The ficus hangs its leaves.")]}, {"configurable": {"thread_id": "langchain-1"}})
print(answer["messages"][-1].text)
