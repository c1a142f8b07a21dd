"""Skills."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import IO, Literal

from typing_extensions import Unpack

from .. import _folders as folders
from .._core import Call, Page, at, given, read_bytes, read_deleted, read_nothing, read_text, reader
from ..models import (
    Counted, EditParam, ImportReport, IndexItem, LoadedSkill, Matches, Outcome, Patched, PutFieldsParam, SavedSkill, SaveSkillParam,
    Submission, Suggestions, Version, VersionDetail,
)  # fmt: skip
from .base import AsyncGroup, AsyncPages


class AsyncSkills(AsyncGroup):
    """Skills of the user. `name` is a skill's name or id.

    Changes return a `Submission` instead of the skill if they wait for review; see `applied`.
    """

    async def save(
        self, name: str | None = None, *, create_only: bool = False, **fields: Unpack[SaveSkillParam]
    ) -> SavedSkill | Submission:
        """Creates a skill or a new version of it, from a whole `skill_md` or from fields. Absent fields stay as they are.

        With `expected_version`, a change based on another version raises `VersionConflict`; 0 means that the skill must not exist.
        """
        body = given(name=name, **fields)
        return await self._change(SavedSkill, "POST", at("skills"), body, params=given(create_only=create_only or None))

    async def patch(
        self, name: str, edits: Sequence[EditParam], *, expected_version: int | None = None
    ) -> Patched | Submission:
        """Replaces texts, all or none: `patch("greet", [{"old_string": "Hi", "new_string": "Hello"}])`.

        Each `old_string` must occur once (`PatchNoMatch`, `PatchAmbiguous`), unless `replace_all` is set.
        """
        return await self._change(Patched, "PATCH", at("skills", name), given(edits=edits, expected_version=expected_version))

    async def update(self, name: str, **fields: Unpack[PutFieldsParam]) -> SavedSkill | Submission:
        """Changes fields and leaves the body as it is. `pinned` protects the skill from deletion and background changes."""
        return await self._change(SavedSkill, "PUT", at("skills", name, "fields"), given(**fields))

    def list(
        self, *, prefix: str | None = None, category: str | None = None, tag: str | None = None, ranked: bool | None = None,
        findings: Literal["review", "quarantine"] | None = None, page_size: int | None = None,
    ) -> AsyncPages[IndexItem]:  # fmt: skip
        """Iterates over the skills by name, or with `ranked` by importance."""
        filters = given(prefix=prefix, category=category, tag=tag, ranked=ranked, findings=findings)
        return self._pages(Page[IndexItem], at("skills"), page_size, **filters)

    async def search(self, query: str, *, limit: int | None = None) -> Sequence[IndexItem]:
        """Returns the skills that fit a text, best first, with `score` and `reason`."""
        return (await self._get(Page[IndexItem], at("skills"), q=query, limit=limit)).items

    async def suggest(self, context: str, *, limit: int | None = None, explain: bool | None = None) -> Suggestions:
        """Suggests skills for a situation, by similarity, importance and recency."""
        return await self._get(Suggestions, at("skills", "suggest"), context=context, limit=limit, explain=explain)

    async def match(self, message: str, *, explain: bool | None = None) -> Matches:
        """Finds names of skills in a message; `explain` shows what a turn would find, and why."""
        body = given(message=message, explain=explain)
        return await self._transport.send(Call("POST", at("skills", "match"), reader(Matches), json=body))

    async def load(self, name: str) -> LoadedSkill:
        """Loads a skill in order to follow it. Counts as a use; in a session, recall learns from it."""
        return await self._get(LoadedSkill, at("skills", name))

    async def get(self, name: str) -> LoadedSkill:
        """Reads a skill without counting a use."""
        return await self._get(LoadedSkill, at("skills", name), peek=True)

    async def skill_md(self, name: str) -> str:
        """Reads the SKILL.md, byte for byte."""
        return await self._transport.send(Call("GET", at("skills", name, "SKILL.md"), read_text))

    async def delete(
        self, name: str, *, absorbed_into: str | None = None, expected_version: int | None = None
    ) -> Submission | None:
        """Deletes a skill. None: it is gone; a submission: the deletion waits for review."""
        body = given(absorbed_into=absorbed_into, expected_version=expected_version)
        return await self._do(read_deleted, "DELETE", at("skills", name), body or None)

    async def used(
        self, name: str, *, outcome: Outcome | None = None, session_key: str | None = None, memory_id: str | None = None,
        project: str | None = None, runtime_path: str | None = None,
    ) -> Counted:  # fmt: skip
        """Reports a use and its outcome. Counts once per skill, session, memory and day."""
        body = given(
            skill=name, outcome=outcome, session_key=session_key, memory_id=memory_id, project=project, runtime_path=runtime_path
        )
        return await self._write(Counted, "POST", at("skills", "used"), body)

    def versions(self, name: str, *, page_size: int | None = None) -> AsyncPages[Version]:
        """Iterates over the versions, newest first."""
        return self._pages(Page[Version], at("skills", name, "versions"), page_size)

    async def version(self, name: str, version: int) -> VersionDetail:
        """Reads an earlier version."""
        return await self._get(VersionDetail, at("skills", name, "versions", version))

    async def diff(self, name: str, *, from_: int | None = None, to: int | None = None, path: str | None = None) -> str:
        """Compares two versions, by default the last two, as a unified diff."""
        params = given(**{"from": from_}, to=to, path=path)
        return await self._transport.send(Call("GET", at("skills", name, "diff"), read_text, params=params))

    async def rollback(self, name: str, version: int, *, expected_version: int | None = None) -> SavedSkill | Submission:
        """Restores an earlier version, as a new version."""
        body = given(version=version, expected_version=expected_version)
        return await self._change(SavedSkill, "POST", at("skills", name, "rollback"), body)

    async def resource(self, name: str, path: str) -> bytes:
        """Reads a file of a skill, such as `references/api.md`."""
        return await self._transport.send(Call("GET", at("skills", name, "resources", path), read_bytes))

    async def put_resource(
        self, name: str, path: str, content: bytes, *, executable: bool | None = None
    ) -> SavedSkill | Submission:
        """Writes a file of a skill, which makes a version."""
        return await self._change(
            SavedSkill, "PUT", at("skills", name, "resources", path), content=content, params=given(executable=executable),
            headers={"Content-Type": "application/octet-stream"},
        )  # fmt: skip

    async def delete_resource(self, name: str, path: str) -> SavedSkill | Submission:
        """Deletes a file of a skill, which makes a version."""
        return await self._change(SavedSkill, "DELETE", at("skills", name, "resources", path))

    async def import_files(self, *files: str | Path | tuple[str, IO[bytes]], fix: bool = False) -> ImportReport:
        """Imports SKILL.md files and archives (zip, tar, tar.gz), at most 40 MiB together. A refused skill stops no other.

        A file is a path, or a name with an open file. `fix` repairs frontmatter that other hosts accept.
        """
        with folders.opened(files) as parts:
            return await self._import(parts, fix)

    async def import_folder(self, folder: str | Path, *, fix: bool = False) -> ImportReport:
        """Imports all skills below a folder: each folder with a SKILL.md is one. Large folders are sent in several archives."""
        reports = []
        for archive in folders.archives(Path(folder)):
            with archive:
                reports.append(await self._import([("skills.zip", archive)], fix))
        return folders.joined(reports)

    async def _import(self, parts: Sequence[tuple[str, IO[bytes]]], fix: bool) -> ImportReport:
        files = [("files", (name, file, "application/octet-stream")) for name, file in parts]
        report = await self._change(ImportReport, "POST", at("skills", "import"), files=files, params=given(fix=fix or None))
        assert isinstance(report, ImportReport)  # An import reports waiting changes per skill, with status 200.
        return report

    def export(
        self, *, format: Literal["zip", "tar.gz"] = "zip", strict: bool = False, examples: bool = False
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Streams all skills as an archive: `async with kh.skills.export() as parts: async for part in parts: ...`"""
        params = given(format=format, strict=strict or None, examples=examples or None)
        return self._transport.stream(Call("GET", at("skills", "export"), read_nothing, params=params))

    async def export_file(self, path: str | Path, *, strict: bool = False, examples: bool = False) -> None:
        """Exports all skills to a file, in the format of its ending; an earlier file is replaced when the new one is complete."""
        with folders.replacing(Path(path)) as file:
            async with self.export(format=folders.format_of(Path(path)), strict=strict, examples=examples) as parts:
                async for part in parts:
                    file.write(part)

    async def export_folder(self, folder: str | Path, *, strict: bool = False) -> Sequence[Path]:
        """Exports all skills to a folder and returns the written files. Other files in it stay."""
        with folders.temporary() as file:
            async with self.export(strict=strict) as parts:
                async for part in parts:
                    file.write(part)
            return folders.unpack(file, Path(folder))

    async def share(self, name: str, *, reason: str | None = None) -> Submission:
        """Proposes a skill for the tenant's library."""
        return await self._write(Submission, "POST", at("skills", name, "share"), given(reason=reason))
