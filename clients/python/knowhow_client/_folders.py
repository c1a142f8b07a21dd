"""Folders of skills on the disk: packed for an import, unpacked from an export."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

import msgspec

from .errors import KnowhowError
from .models import ImportReport

SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}
ARCHIVE_BYTES, ARCHIVE_FILES = 24 * 1024 * 1024, 1500
"""Limits of one archive, below those of the service. A larger skill is sent alone."""


def temporary() -> IO[bytes]:
    """Returns a temporary file, which is gone when it is closed."""
    return tempfile.TemporaryFile()


@contextmanager
def opened(files: Sequence[str | Path | tuple[str, IO[bytes]]]) -> Iterator[Sequence[tuple[str, IO[bytes]]]]:
    """Opens the files that are given as paths, and closes them afterwards."""
    with ExitStack() as stack:
        parts: list[tuple[str, IO[bytes]]] = []
        for file in files:
            if isinstance(file, tuple):
                parts.append(file)
            else:
                parts.append((Path(file).name, stack.enter_context(open(file, "rb"))))
        yield parts


def archives(folder: Path) -> Iterator[IO[bytes]]:
    """Packs the skills below a folder into zips; the files of one skill are never split."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder")
    batch: list[Path] = []
    size = 0
    for files in _skills(folder):
        added = sum(file.stat().st_size for file in files)
        if batch and (size + added > ARCHIVE_BYTES or len(batch) + len(files) > ARCHIVE_FILES):
            yield _zip(folder, batch)
            batch, size = [], 0
        batch, size = batch + files, size + added
    if not batch:
        raise KnowhowError(f"there is no SKILL.md below {folder}")
    yield _zip(folder, batch)


def _skills(folder: Path) -> Iterator[list[Path]]:
    """Returns the files of each skill. Links are not followed."""
    skill: list[Path] = []
    root: Path | None = None
    for name, folders, files in os.walk(folder):
        here = Path(name)
        folders[:] = sorted(entry for entry in folders if entry not in SKIPPED)
        if root is None or root not in (here, *here.parents):
            if skill:
                yield skill
            skill, root = [], here if "SKILL.md" in files else None
        if root is not None:
            skill += [here / file for file in sorted(files) if not (here / file).is_symlink()]
    if skill:
        yield skill


def _zip(folder: Path, files: Sequence[Path]) -> IO[bytes]:
    archive = temporary()
    base = folder.resolve().name if any(file.parent == folder for file in files) else ""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed:
        for file in files:
            packed.write(file, str(PurePosixPath(base, file.relative_to(folder).as_posix())))
    return archive


def joined(reports: Sequence[ImportReport]) -> ImportReport:
    """Returns the reports of several archives as one."""
    counts = ("created", "updated", "unchanged", "duplicates", "waiting", "failed")
    lists = ("items", "strays", "left_out")
    sums: dict[str, Any] = {name: sum(getattr(report, name) or 0 for report in reports) for name in counts}
    sums |= {name: [item for report in reports for item in getattr(report, name)] for name in lists}
    return msgspec.structs.replace(reports[0], **sums)


def format_of(path: Path) -> Literal["zip", "tar.gz"]:
    """Returns the format of an archive by its name."""
    if path.name.endswith(".zip"):
        return "zip"
    if path.name.endswith((".tar.gz", ".tgz")):
        return "tar.gz"
    raise KnowhowError(f"{path}: the name must end with .zip, .tar.gz or .tgz")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yields a file beside `path` that takes its place when it is complete."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb") as file:
            yield file
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def unpack(archive: IO[bytes], folder: Path) -> list[Path]:
    """Writes the files of a zip below a folder and returns their paths. Refuses paths that lead out of it, also by links."""
    written: list[Path] = []
    folder.mkdir(parents=True, exist_ok=True)
    top = folder.resolve()
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            parts = PurePosixPath(entry.filename).parts
            path = top.joinpath(*parts)
            if entry.is_dir():
                continue
            if not parts or ".." in parts or "\\" in entry.filename or top not in path.parent.resolve().parents and path.parent.resolve() != top:
                raise KnowhowError(f"the archive has an unsafe path: {entry.filename!r}")
            path.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(entry) as source, replacing(path) as target:
                shutil.copyfileobj(source, target)
            is_executable = bool(entry.external_attr >> 16 & 0o100)
            path.chmod(0o755 if is_executable else 0o644)
            written.append(path)
    return written
