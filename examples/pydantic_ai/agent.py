"""An agent of Pydantic AI that follows the skills of its user."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from knowhow_client import AsyncKnowhow
from knowhow_client.adapters.pydantic_ai import KnowhowCapability


def scripted(messages, info):
    """Stands in the place of your model, such as "anthropic:claude-sonnet-4-5"."""
    print(f"--- the model reads {len(messages)} messages; the last one is\n{messages[-1].parts[-1].content}\n")
    is_first = len(messages) == 1
    return ModelResponse([ToolCallPart("skill_view", {"name": "water-plants"}) if is_first else TextPart("I watered the ficus.")])


async def main():
    """Answers one message."""
    async with AsyncKnowhow(user="alice") as kh:
        content = "1. Feel the soil.\n2. Water.\n"
        await kh.skills.save("water-plants", description="Water the plants. Use when they are dry.", content=content)
        capability = KnowhowCapability(kh, untrusted={"web_search"})
        agent = Agent(FunctionModel(scripted), instructions="You run an office.", capabilities=[capability])
        answer = await agent.run("The ficus hangs its leaves.", conversation_id="pydantic-ai-1")
        print(answer.output)


asyncio.run(main())
