"""An agent of the Claude Agent SDK that follows the skills of its user. It needs ANTHROPIC_API_KEY."""

import asyncio

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from knowhow_client import AsyncKnowhow
from knowhow_client.adapters.claude_agent_sdk import KnowhowClaude


async def main():
    """Answers one message."""
    async with AsyncKnowhow(user="alice") as kh:
        content = "1. Feel the soil.\n2. Water.\n"
        await kh.skills.save("water-plants", description="Water the plants. Use when they are dry.", content=content)
        run = KnowhowClaude(kh, key="claude-1", untrusted={"mcp__mail__read"})
        base = ClaudeAgentOptions(system_prompt="You run an office.", tools=[], setting_sources=[])
        async with ClaudeSDKClient(await run.options(base)) as client:
            await client.query("The ficus hangs its leaves.")
            async for message in client.receive_response():
                if isinstance(message, AssistantMessage):
                    print(f"--- Claude answers\n{message.content}\n")
                if isinstance(message, ResultMessage):
                    print(message.result)


asyncio.run(main())
