"""Lays out folders of skills to import: what hosts find hard, made by hand, and some of the sample skills."""

import argparse
import shutil
import struct
import zlib
from pathlib import Path


def chunk(kind, data):
    """A part of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PIXEL = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
LOGO = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", PIXEL) + chunk(b"IDAT", zlib.compress(b"\0\xff")) + chunk(b"IEND", b"")


def document(name, description, more="", body="## Procedure\n\n1. Do it.\n"):
    """A SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}"


YAML = """license: Apache-2.0 # a comment
metadata:
  version: 1.10
  on: yes
  released: 2026-01-01
  mode: 0755
  large: 1e3
  empty:
  "quoted: key": >-
    folded
    text
tags: [mail, 'a: b', "\\u00fc"]
"""

# The suite looks at the first skill alone, by name: it has files of every kind, below folders.
MADE = {
    "0-first/SKILL.md": document("0-first", "Comes first. Use when a suite looks at one skill only."),
    "0-first/references/api.md": "# API\n",
    "0-first/references/deeper/still/notes.md": "# Notes\n",
    "0-first/scripts/run.py": 'print("run")\n',
    "0-first/assets/logo.png": LOGO,
    "mcp/email/SKILL.md": document(
        "email",
        "Send email via an MCP-connected mail server.",
        YAML,
    ),
    "mcp/email/references/api.md": "# API\n\nPOST /mail\n",
    "ops/SKILL.md": document("ops", "Run operations."),
    "ops/references/runbook.md": "# Runbook\n",
    "ops/deploy/SKILL.md": document("deploy", "Deploy a release."),
    "ops/deploy/scripts/run.py": 'print("deploy")\n',
    # Called by its folder, whatever its frontmatter says.
    "called-by-its-folder/SKILL.md": document("Another Name", "Is named unlike its folder."),
    "spelling/SKILL.md": document("spelling", "Has file names with blanks and umlauts."),
    "spelling/references/größere Änderung.md": "# Größe\n",
    "spelling/references/100% of it (a+b) #1.md": "# All\n",
    "spelling/assets/two words/logo.png": LOGO,
    "byte-order-mark/SKILL.md": "\ufeff" + document("byte-order-mark", "Begins with a mark."),
    "carriage-returns/SKILL.md": document("carriage-returns", "Ends its lines as Windows does.").replace("\n", "\r\n"),
    "empty-file/SKILL.md": document("empty-file", "Has an empty file."),
    "empty-file/assets/nothing.txt": "",
}


def make(folder):
    """Writes the skills made by hand."""
    for path, content in MADE.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def choose(samples, folder, count):
    """Copies that many of the sample skills: those with the most files, then in order, no two of one name."""
    chosen = {}
    found = [file.parent for file in samples.rglob("SKILL.md")]
    for skill in sorted(found, key=lambda skill: (-sum(1 for _ in skill.rglob("*")), str(skill))):
        chosen.setdefault(skill.name, skill)
    for name, skill in list(chosen.items())[:count]:
        shutil.copytree(skill, folder / name)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path)
parser.add_argument("--samples", type=Path, help="choose from this tree of skills instead")
parser.add_argument("--count", type=int, default=40)
arguments = parser.parse_args()
if arguments.samples:
    choose(arguments.samples, arguments.folder, arguments.count)
else:
    make(arguments.folder)
