"""Import and export of folders and archives."""

from __future__ import annotations

import io
import os
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from knowhow_client import AsyncKnowhow, KnowhowError, errors

pytestmark = pytest.mark.anyio


def md(name: str) -> str:
    """Returns a SKILL.md with marks that must survive."""
    return f"---\r\nname: {name}   # kept\r\ndescription: 'Do {name}. Use when {name} is needed.'\r\n---\r\n\r\nDo it.\r\n"


def write(folder: Path, count: int = 3) -> dict[str, bytes]:
    """Writes skills with files; returns their bytes by path."""
    for n in range(count):
        skill = folder / "work" / f"skill-{n}"
        (skill / "scripts").mkdir(parents=True)
        (skill / "SKILL.md").write_bytes(md(f"skill-{n}").encode())
        (skill / "scripts/run.sh").write_bytes(b"#!/bin/sh\necho \xc3\xa4\n")
        (skill / "scripts/run.sh").chmod(0o755)
        (skill / "empty.txt").write_bytes(b"")
    (folder / "README.md").write_text("no skill")
    return files(folder / "work", folder)


def files(folder: Path, base: Path) -> dict[str, bytes]:
    """Returns the bytes of the files below a folder."""
    return {path.relative_to(base).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def test_round_trip_of_a_folder(kh: AsyncKnowhow, tmp_path: Path) -> None:
    given = write(tmp_path / "in")
    report = await kh.skills.import_folder(tmp_path / "in")
    assert (report.created, report.failed) == (3, 0), report
    written = await kh.skills.export_folder(tmp_path / "out")
    taken = files(tmp_path / "out/work", tmp_path / "out")
    assert taken == given and len(written) >= len(given)
    assert os.access(tmp_path / "out/work/skill-0/scripts/run.sh", os.X_OK)
    assert not os.access(tmp_path / "out/work/skill-0/SKILL.md", os.X_OK)
    again = await kh.skills.import_folder(tmp_path / "out")
    assert again.created == again.updated == again.failed == 0


async def test_a_folder_that_is_a_skill(kh: AsyncKnowhow, tmp_path: Path) -> None:
    write(tmp_path)
    report = await kh.skills.import_folder(tmp_path / "work/skill-1")
    assert [(item.name, item.outcome) for item in report.items] == [("skill-1", "created")]
    with pytest.raises(KnowhowError, match=r"no SKILL\.md"):
        await kh.skills.import_folder(tmp_path / "work/skill-1/scripts")


async def test_files(kh: AsyncKnowhow, tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(md("alone"))
    broken = ("SKILL.md", io.BytesIO(b"---\nname: broken\n---\nno description\n"))
    report = await kh.skills.import_files(tmp_path / "SKILL.md", broken)
    assert (report.created, report.failed) == (1, 1)
    assert next(item for item in report.items if item.outcome == "failed").errors


async def test_export_to_a_file(kh: AsyncKnowhow, tmp_path: Path) -> None:
    write(tmp_path / "in")
    await kh.skills.import_folder(tmp_path / "in")
    await kh.skills.export_file(tmp_path / "all.tar.gz")
    await kh.skills.export_file(tmp_path / "all.zip", strict=True)
    with tarfile.open(tmp_path / "all.tar.gz") as archive, zipfile.ZipFile(tmp_path / "all.zip") as packed:
        assert "work/skill-0/SKILL.md" in archive.getnames() and "work/skill-0/SKILL.md" in packed.namelist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar.gz", "all.zip", "in"]
    with pytest.raises(KnowhowError, match="must end with"):
        await kh.skills.export_file(tmp_path / "all.rar")


async def test_a_large_archive_is_streamed_and_split(kh: AsyncKnowhow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowhow_client._folders.ARCHIVE_BYTES", 2_000_000)
    given = {}
    for n in range(4):
        skill = tmp_path / f"big-{n}"
        skill.mkdir()
        (skill / "SKILL.md").write_text(md(f"big-{n}"))
        given[n] = "\n".join("".join(random.choices("abcdefghij ", k=80)) for _ in range(15_000)).encode()
        (skill / "data.txt").write_bytes(given[n])
    report = await kh.skills.import_folder(tmp_path)
    assert (report.created, report.failed) == (4, 0), report
    largest = total = 0
    async with kh.skills.export() as parts:
        async for part in parts:
            largest, total = max(largest, len(part)), total + len(part)
    assert total > 4 * 80 * 15_000 / 3 and largest < total / 10
    await kh.skills.export_folder(tmp_path / "out")
    assert (tmp_path / "out/big-3/data.txt").read_bytes() == given[3]


async def test_export_reports_refusals(kh: AsyncKnowhow) -> None:
    stranger = AsyncKnowhow(api_key="kh_none_none", user="x", max_retries=0)
    with pytest.raises(errors.Unauthenticated):
        async with stranger.skills.export():
            pass
    await stranger.aclose()
