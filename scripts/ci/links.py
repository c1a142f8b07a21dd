#!/usr/bin/env python3
"""Checks that each relative link of a page leads to a file of the repository, and to a heading in it."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> set[str]:
    """Returns the anchors that a page's headings have on a forge."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """Returns the links of a page that lead nowhere."""
    found = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for target in LINK.findall(line):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = page.parent / path if path else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                found.append(f"{page}:{number}: {target}")
    return found


def main() -> None:
    pages = [Path(name) for name in subprocess.check_output(["git", "ls-files", "*.md"], text=True).splitlines()]
    pages = [page for page in pages if page.exists() and not page.match("services/*/tests/**/*.md") and not page.match("services/ops/starters/**/*.md")]
    found = [line for page in pages for line in broken(page)]
    print("\n".join(found) or f"{len(pages)} pages: every link leads to a file and a heading")
    sys.exit(bool(found))


main()
