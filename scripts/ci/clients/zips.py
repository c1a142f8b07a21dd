"""Writes one zip for each client into a folder: a skill of that name with a resource."""

import sys
import zipfile
from pathlib import Path

folder = Path(sys.argv[1])
for name in sys.argv[2:]:
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        text = f"---\nname: {name}\ndescription: Tries the client {name}. Use when testing.\n---\n# {name}\n\n1. Try it.\n"
        archive.writestr(f"{name}/SKILL.md", text)
        archive.writestr(f"{name}/references/a.md", f"alpha of {name}\n")
