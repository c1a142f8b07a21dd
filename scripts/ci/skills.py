"""Unpacks skill archives (.tar.zst, .zip) and validates a tree of skills as `agentskills validate` does, in one process."""

import argparse
import sys
import tarfile
import zipfile
from pathlib import Path


def unpack(archive, folder):
    """Unpacks an archive into a folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
        return
    import zstandard

    with open(archive, "rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as file:
            file.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def validate(folder, at_least):
    """Validates every folder that holds a SKILL.md; 1 where one is invalid or too few are there."""
    import skills_ref

    skills = sorted(file.parent for file in folder.rglob("SKILL.md"))
    problems = {skill: errors for skill in skills if (errors := skills_ref.validate(skill))}
    for skill, errors in problems.items():
        print(f"{skill.relative_to(folder)}: {'; '.join(errors)}")
    print(f"{len(skills) - len(problems)} of {len(skills)} skills are valid; at least {at_least} were expected")
    return 1 if problems or len(skills) < at_least else 0


parser = argparse.ArgumentParser(description=__doc__)
commands = parser.add_subparsers(dest="command", required=True)
unpacking = commands.add_parser("unpack")
unpacking.add_argument("archive", type=Path)
unpacking.add_argument("folder", type=Path)
validating = commands.add_parser("validate")
validating.add_argument("folder", type=Path)
validating.add_argument("--at-least", type=int, default=1)
arguments = parser.parse_args()
if arguments.command == "unpack":
    unpack(arguments.archive, arguments.folder)
else:
    sys.exit(validate(arguments.folder, arguments.at_least))
