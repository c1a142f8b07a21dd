"""An agent of the OpenAI Agents SDK that follows the skills of its user."""

import asyncio

from agents import Agent, Runner, SQLiteSession, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from knowhow_client import AsyncKnowhow
from knowhow_client.adapters.openai_agents import KnowhowRun

set_tracing_disabled(True)
view = function_call("skill_view", {"name": "water-plants", "path": None}, call_id="1")
model = ScriptedModel([[view], [assistant_message("I felt the soil and watered the ficus.")]])  # put your model in its place


async def main():
    """Answers one message."""
    async with AsyncKnowhow(user="alice") as kh:
        content = "1. Feel the soil.\n2. Water.\n"
        await kh.skills.save("water-plants", description="Water the plants. Use when they are dry.", content=content)
        run = KnowhowRun(kh, key="openai-agents-1", untrusted={"fetch_page"})
        agent = Agent(name="office", instructions="You run an office.", model=model, tools=run.tools)
        memory = SQLiteSession("openai-agents-1")
        answer = await Runner.run(agent, "The ficus hangs its leaves.", hooks=run, run_config=run.config, session=memory)
        for call in model.calls:
            print(f"--- the model reads {len(call.input)} items; the last one is\n{call.input[-1]}\n")
        print(answer.final_output)


asyncio.run(main())
