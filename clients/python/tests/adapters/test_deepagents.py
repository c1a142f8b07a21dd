"""The backend in deep agents, with a model that plays its part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from knowhow_client import Knowhow, applied
from knowhow_client.adapters.deepagents import KnowhowBackend
from knowhow_client.adapters.langchain import KnowhowMiddleware

from .test_langchain import Model, call, fetch_page, save

MD = "---\nname: greet\ndescription: Greet people. Use when somebody comes.\n---\n\nSay hello.\n"


def run(kh: Knowhow, thread: str, *script: AIMessage) -> tuple[list[ToolMessage], Model]:
    """Plays an agent; returns the results of its tools, and its model."""
    model = Model(responses=[*script, AIMessage("Done.")])
    middleware = KnowhowMiddleware(kh, tools="none", untrusted={"fetch_page"})
    skills = KnowhowBackend(kh, middleware)
    backend = CompositeBackend(StateBackend(), {"/skills/": skills})
    it = create_deep_agent(
        model, [fetch_page], middleware=[middleware], backend=backend, skills=skills.sources(), checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": thread}}
    state = it.invoke({"messages": [HumanMessage("go")]}, config)
    return [message for message in state["messages"] if isinstance(message, ToolMessage)], model


def test_reading_counts_and_editing_patches(kh: Knowhow) -> None:
    save(kh, "bake")
    save(kh, "mcp/email")
    assert KnowhowBackend(kh).sources() == ["/skills/", "/skills/mcp/"]
    results, model = run(
        kh, "t1",
        call("read_file", file_path="/skills/mcp/email/SKILL.md"),
        call("edit_file", id="c2", file_path="/skills/bake/SKILL.md", old_string="Steps of", new_string="All steps of"),
        call("edit_file", id="c3", file_path="/skills/bake/SKILL.md", old_string="no such text", new_string="x"),
    )  # fmt: skip
    assert "Steps of mcp/email." in results[0].text
    assert "Do bake." in model.read[0][0].text and "Do mcp/email." in model.read[0][0].text, "the framework lists the skills"
    assert (kh.skills.get("mcp/email").times_used, kh.skills.get("bake").times_used) == (1, 0)
    baked = kh.skills.get("bake")
    assert baked.version == 2 and "All steps of bake." in baked.content
    assert "not found" in results[2].text
    assert next(iter(kh.skills.versions("bake"))).session == kh.session(key="t1").open().id


def test_files(kh: Knowhow, tmp_path: Path) -> None:
    save(kh, "mcp/email")
    applied(kh.skills.put_resource("mcp/email", "references/a.md", b"alpha\nbeta\n"))
    results, _ = run(
        kh, "t2",
        call("ls", path="/skills/mcp"),
        call("ls", id="c2", path="/skills/mcp/email"),
        call("read_file", id="c3", file_path="/skills/mcp/email/references/a.md", offset=1, limit=1),
        call("grep", id="c4", pattern="beta", path="/skills/"),
        call("glob", id="c5", pattern="*.md", path="/skills/mcp"),
        call("write_file", id="c6", file_path="/skills/greet/SKILL.md", content=MD),
        call("write_file", id="c7", file_path="/skills/greet/references/b.md", content="Hello.\n"),
        call("read_file", id="c8", file_path="/skills/nothing/SKILL.md"),
    )  # fmt: skip
    texts = [result.text for result in results]
    assert "/skills/mcp/email" in texts[0] and "SKILL.md" in texts[1] and "references" in texts[1]
    assert "beta" in texts[2] and "alpha" not in texts[2]
    assert "/skills/mcp/email/references/a.md" in texts[3] and "SKILL.md" not in texts[3]
    assert "/skills/mcp/email/references/a.md" in texts[4] and "/skills/mcp/email/SKILL.md" in texts[4]
    assert kh.skills.skill_md("greet") == MD and kh.skills.resource("greet", "references/b.md") == b"Hello.\n"
    assert "no such skill" in texts[7]
    backend = KnowhowBackend(kh)
    assert backend.upload_files([("/greet/assets/x.bin", b"\xff\x00")])[0].error is None
    assert backend.download_files(["/greet/assets/x.bin", "/mcp/SKILL.md"])[0].content == b"\xff\x00"
    assert backend.download_files(["/mcp/SKILL.md"])[0].error == "file_not_found"
    binary = backend.read("/greet/assets/x.bin").file_data
    assert binary and binary["encoding"] == "base64"
    assert backend.delete("/greet/assets/x.bin").error is None and backend.delete("/greet").error is None
    assert [skill.name for skill in kh.skills.list(prefix="greet")] == []


def test_a_tainted_session_changes_nothing(kh: Knowhow) -> None:
    save(kh, "bake")
    results, _ = run(
        kh, "t3",
        call("fetch_page", url="https://example.com"),
        call("edit_file", id="c2", file_path="/skills/bake/SKILL.md", old_string="Steps of", new_string="Evil steps of"),
    )  # fmt: skip
    assert "waits for a reviewer" in results[1].text
    assert kh.skills.get("bake").version == 1
