"""Skills."""

from __future__ import annotations

import pytest

from knowhow_client import AsyncKnowhow, Submission, applied, errors
from knowhow_client.models import SavedSkill

pytestmark = pytest.mark.anyio
MD = "---\nname: greet\ndescription: Greet people. Use when somebody comes.\n# a comment\n---\n\nSay hello.\n"


async def save(kh: AsyncKnowhow, name: str, content: str = "Do it.\n") -> SavedSkill:
    """Saves a skill."""
    return applied(await kh.skills.save(name, description=f"Do {name}. Use when {name} is needed.", content=content))


async def test_save_load_and_count(kh: AsyncKnowhow) -> None:
    saved = applied(await kh.skills.save(skill_md=MD))
    assert (saved.name, saved.version, saved.unchanged) == ("greet", 1, False)
    assert applied(await kh.skills.save(skill_md=MD)).unchanged
    assert await kh.skills.skill_md("greet") == MD
    assert (await kh.skills.get("greet")).times_used == 0
    assert (await kh.skills.load("greet")).content.strip() == "Say hello."
    assert (await kh.skills.get(saved.id)).times_used == 1
    with pytest.raises(errors.SkillExists):
        await kh.skills.save(skill_md=MD, create_only=True)


async def test_fields(kh: AsyncKnowhow) -> None:
    await save(kh, "mcp/email")
    changed = applied(await kh.skills.update("mcp/email", tags=["mail"], triggers=["send a mail"], category="office", pinned=True))
    assert (changed.tags, changed.category, changed.pinned) == (["mail"], "office", True)
    with pytest.raises(errors.Pinned):
        await kh.skills.delete("mcp/email")
    applied(await kh.skills.update("email", pinned=False))
    assert await kh.skills.delete("mcp/email") is None
    with pytest.raises(errors.NotFound):
        await kh.skills.get("mcp/email")


async def test_patch(kh: AsyncKnowhow) -> None:
    await save(kh, "cook", "Boil water.\nAdd salt.\nAdd rice.\n")
    patched = applied(await kh.skills.patch("cook", [{"old_string": "Boil water.", "new_string": "Boil milk."}]))
    assert (patched.version, patched.replacements, patched.matched) == (2, 1, "exact")
    with pytest.raises(errors.PatchNoMatch) as missing:
        await kh.skills.patch("cook", [{"old_string": "Boil wine.", "new_string": ""}])
    assert missing.value.closest[0].line == 1 and "Boil milk." in missing.value.closest[0].text
    with pytest.raises(errors.PatchAmbiguous) as many:
        await kh.skills.patch("cook", [{"old_string": "Add ", "new_string": "Put "}])
    assert [match.line for match in many.value.matches] == [2, 3]
    again = applied(await kh.skills.patch("cook", [{"old_string": "Add ", "new_string": "Put ", "replace_all": True}]))
    assert again.replacements == 2


async def test_versions(kh: AsyncKnowhow) -> None:
    await save(kh, "sew", "One.\n")
    await save(kh, "sew", "Two.\n")
    with pytest.raises(errors.VersionConflict) as conflict:
        await kh.skills.save("sew", content="Three.\n", expected_version=1)
    assert conflict.value.current_version == 2
    assert [version.version async for version in kh.skills.versions("sew", page_size=1)] == [2, 1]
    assert "One." in (await kh.skills.version("sew", 1)).skill_md
    assert "+Two." in await kh.skills.diff("sew", from_=1, to=2)
    assert applied(await kh.skills.rollback("sew", 1, expected_version=2)).version == 3
    assert (await kh.skills.get("sew")).content.strip() == "One."


async def test_lists_and_search(kh: AsyncKnowhow) -> None:
    for n in range(7):
        await save(kh, f"task/number-{n}")
    names = [f"task/number-{n}" for n in range(7)]
    assert [skill.name async for skill in kh.skills.list(prefix="task/", page_size=3)] == names
    pages = [page async for page in kh.skills.list(prefix="task/", page_size=3).pages()]
    assert [len(page.items) for page in pages] == [3, 3, 1] and pages[-1].next_cursor is None
    cursor = pages[0].next_cursor
    rest = [page async for page in kh.skills.list(prefix="task/", page_size=3).pages(cursor)]
    assert [skill.name for page in rest for skill in page.items] == names[3:]
    ranked = [skill async for skill in kh.skills.list(prefix="task/", ranked=True)]
    assert len(ranked) == 7 and all(skill.reason for skill in ranked)
    assert (await kh.skills.search("number 4 is needed"))[0].name in names
    assert (await kh.skills.suggest("number 4 is needed", limit=3)).items
    assert [match.name for match in (await kh.skills.match("use task/number-4 now")).items] == ["task/number-4"]


async def test_resources(kh: AsyncKnowhow) -> None:
    await save(kh, "draw")
    content = bytes(range(256))
    written = applied(await kh.skills.put_resource("draw", "assets/a b.bin", content))
    assert written.version == 2 and written.resources[0].size == 256
    assert await kh.skills.resource("draw", "assets/a b.bin") == content
    run = applied(await kh.skills.put_resource("draw", "scripts/run.sh", b"#!/bin/sh\n", executable=True))
    assert [entry.executable for entry in run.resources] == [False, True]
    left = applied(await kh.skills.delete_resource("draw", "assets/a b.bin"))
    assert [entry.path for entry in left.resources] == ["scripts/run.sh"]
    assert (await kh.skills.version("draw", 2)).resources[0].path == "assets/a b.bin"


async def test_used(kh: AsyncKnowhow) -> None:
    await save(kh, "swim")
    assert (await kh.skills.used("swim", session_key="a", outcome="success")).counted
    second = await kh.skills.used("swim", session_key="a", outcome="failure")
    assert not second.counted and second.times_used == 1


async def test_names(kh: AsyncKnowhow) -> None:
    await save(kh, "mcp/mail")
    await save(kh, "work/mail")
    with pytest.raises(errors.AmbiguousName) as several:
        await kh.skills.get("mail")
    assert several.value.candidates == ["mcp/mail", "work/mail"]
    assert await kh.skills.delete("work/mail", absorbed_into="mcp/mail") is None
    assert (await kh.skills.load("work/mail")).moved_from == "work/mail"
    with pytest.raises(errors.Invalid) as invalid:
        await kh.skills.save("a/b/c/d/e", content="x")
    assert invalid.value.errors[0].pointer == "/name"


async def test_share(kh: AsyncKnowhow) -> None:
    await save(kh, "fly")
    shared = await kh.skills.share("fly", reason="useful for all")
    assert isinstance(shared, Submission) and shared.kind == "share"
