"""deepagents: `CompositeBackend(StateBackend(), {"/skills/": KnowhowBackend(kh)})`, and `skills=backend.sources()`."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, cast

from deepagents.backends import protocol as fs
from deepagents.backends.utils import compile_grep_include_glob, create_file_data, grep_matches_from_files, slice_read_response
from langgraph.runtime import get_runtime

from .. import Knowhow, applied
from .._sync.sessions import Session
from .._sync.skills import Skills
from ..errors import KnowhowError, NotFound
from .langchain import KnowhowMiddleware

MD = "SKILL.md"


class KnowhowBackend(fs.BackendProtocol):
    """Skills as files: `/mcp/email/SKILL.md`. Reading a SKILL.md counts a use, an edit is a patch, a new SKILL.md is a new skill.

    Listing, searching and downloading count no use. With the agent's `middleware`, uses and changes belong to the session
    of the run, so that a session that has read untrusted content changes no skill without a reviewer.
    """

    def __init__(self, kh: Knowhow, middleware: KnowhowMiddleware | None = None) -> None:
        self._kh, self._middleware = kh, middleware

    def sources(self, route: str = "/skills/") -> list[str]:
        """Returns the folders that have skills, below the route of this backend: one for each namespace."""
        folders = {str(PurePosixPath(name).parent) for name in self._names(self._kh.skills)} | {"."}
        return [f"{route}{'' if folder == '.' else folder + '/'}" for folder in sorted(folders)]

    def ls(self, path: str) -> fs.LsResult:
        """Lists a folder: namespaces, skills, or the files of a skill."""
        try:
            skills, here = self._skills(), path.strip("/")
            names = self._names(skills)
            files = {f"{name}/{MD}" for name in names}
            if skill := _owner(here, names):
                files |= {f"{skill}/{entry.path}" for entry in skills.get(skill).resources}
            return fs.LsResult(entries=cast(Any, [{"path": f"/{it}", "is_dir": it not in files} for it in _children(files, here)]))
        except KnowhowError as error:
            return fs.LsResult(error=str(error))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> fs.ReadResult:
        """Reads a file. The first page of a SKILL.md counts a use."""
        try:
            skills, session = self._skills(), self._session()
            name, file = self._split(skills, file_path)
            content = self._content(skills, name, file)
            if file == MD and offset <= 0:
                _ = skills.used(name, session_key=session.key) if session else skills.load(name)
            return slice_read_response(create_file_data(content.decode("utf-8")), offset, limit)
        except UnicodeDecodeError:
            return fs.ReadResult(file_data=create_file_data(base64.b64encode(content).decode(), encoding="base64"))
        except KnowhowError as error:
            return fs.ReadResult(error=str(error))

    def write(self, file_path: str, content: str) -> fs.WriteResult:
        return fs.WriteResult(error=self._put(file_path, content.encode()), path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> fs.EditResult:
        try:
            name, file = self._split(self._skills(), file_path)
            edit: Any = {"old_string": old_string, "new_string": new_string, "replace_all": replace_all, "path": file}
            return fs.EditResult(path=file_path, occurrences=applied(self._skills().patch(name, [edit])).replacements)
        except KnowhowError as error:
            return fs.EditResult(error=str(error))

    def delete(self, file_path: str) -> fs.DeleteResult:
        try:
            skills, path = self._skills(), file_path.strip("/")
            name, file = (path, MD) if path in self._names(skills) else self._split(skills, path)
            applied(skills.delete(name) if file == MD else skills.delete_resource(name, file))
            return fs.DeleteResult(path=file_path)
        except KnowhowError as error:
            return fs.DeleteResult(error=str(error))

    def glob(self, pattern: str, path: str | None = None) -> fs.GlobResult:
        start, fits = f"/{path.strip('/')}/" if path and path != "/" else "/", compile_grep_include_glob(pattern)
        matches: list[Any] = [{"path": name} for name in self._files() if name.startswith(start) and fits(name[len(start) :])]
        return fs.GlobResult(matches=matches)

    def grep(self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None) -> fs.GrepResult:
        return grep_matches_from_files(self._files(), pattern, path, glob, max_count=max_count)

    def download_files(self, paths: list[str]) -> list[fs.FileDownloadResponse]:
        def download(path: str) -> fs.FileDownloadResponse:
            try:
                return fs.FileDownloadResponse(path=path, content=self._content(self._kh.skills, *self._split(self._kh.skills, path)))
            except KnowhowError as error:
                return fs.FileDownloadResponse(path=path, error="file_not_found" if isinstance(error, NotFound) else str(error))
        return [download(path) for path in paths]

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[fs.FileUploadResponse]:
        return [fs.FileUploadResponse(path=path, error=self._put(path, content)) for path, content in files]

    def _session(self) -> Session | None:
        conversation = self._middleware.conversation(get_runtime()) if self._middleware else None
        return conversation.session if conversation and conversation.open() else None

    def _skills(self) -> Skills:
        session = self._session()
        return session.skills if session else self._kh.skills

    def _names(self, skills: Skills) -> list[str]:
        return [skill.name for skill in skills.list(page_size=200)]

    def _split(self, skills: Skills, path: str) -> tuple[str, str]:
        """Returns the skill of a path, and the path within it."""
        path = path.strip("/")
        if path.endswith(f"/{MD}"):
            return path.removesuffix(f"/{MD}"), MD
        name = _owner(path, self._names(skills))
        if name and name != path:
            return name, path[len(name) + 1 :]
        raise KnowhowError(f"{path} is not a file of a skill; a skill is a folder with a {MD}")

    def _put(self, path: str, content: bytes) -> str | None:
        try:
            skills = self._skills()
            name, file = self._split(skills, path)
            applied(skills.save(name, skill_md=content.decode()) if file == MD else skills.put_resource(name, file, content))
            return None
        except (KnowhowError, UnicodeDecodeError) as error:
            return str(error)

    def _content(self, skills: Skills, name: str, file: str) -> bytes:
        return skills.skill_md(name).encode() if file == MD else skills.resource(name, file)

    def _files(self) -> dict[str, Any]:
        with self._kh.skills.export() as parts, zipfile.ZipFile(io.BytesIO(b"".join(parts))) as packed:
            names = [name for name in packed.namelist() if "/" in name and not name.endswith("/")]
            return {f"/{name}": create_file_data(packed.read(name).decode("utf-8", "replace")) for name in names}


def _owner(path: str, names: Iterable[str]) -> str | None:
    return max((name for name in names if f"{path}/".startswith(f"{name}/")), key=len, default=None)


def _children(paths: Iterable[str], folder: str) -> list[str]:
    start = f"{folder}/" if folder else ""
    return sorted({start + path[len(start) :].partition("/")[0] for path in paths if path.startswith(start)})
