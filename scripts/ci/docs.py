#!/usr/bin/env python3
"""Every public function says what it does, and the table of errors has the type of every conflict. Members say more than their name
only where there is more to say, which is why the compiler's own lint, which asks for a comment on everything, is off."""

import re
import sys
from pathlib import Path

FUNCTION = re.compile(r"^ *pub (const )?(async )?(unsafe )?fn (\w+)")


def list_undocumented(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    found = []
    for number, line in enumerate(lines):
        function = FUNCTION.match(line)
        if not function:
            continue
        # Attributes stand between a comment and its function; some take several lines.
        above = number - 1
        while above >= 0 and lines[above].strip() and not re.match(r" *(///|\}|pub |fn )", lines[above]):
            above -= 1
        if above < 0 or not lines[above].lstrip().startswith("///"):
            found.append(f"{path}:{number + 1}: {function[4]} lacks a comment")
    return found


def list_unlisted_conflicts(paths: list[Path]) -> list[str]:
    table = Path("docs/users/skills.md").read_text()
    # Conflicts of commands alone are in no answer of the API.
    own = ("migrat", "place-not-fit", "cannot-move-tenant")
    conflict = re.compile(r'Conflict \{\s*code: "([a-z-]+)"')
    types = {(found, path) for path in paths for found in conflict.findall(path.read_text())}
    return [f"{path}: the conflict {name} is missing in the table of docs/users/skills.md"
            for name, path in sorted(types) if not any(word in name for word in own) and f"`{name}`" not in table]


def main() -> None:
    paths = sorted(Path("services").glob("*/src/**/*.rs"))
    found = [line for path in paths for line in list_undocumented(path)] + list_unlisted_conflicts(paths)
    print("\n".join(found) or f"{len(paths)} files: every public function says what it does")
    sys.exit(bool(found))


main()
