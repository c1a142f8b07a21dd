#!/usr/bin/env python3
"""Sets the version of the next release in every file that names it.

    set_version.py VERSION    e.g. 1.2.0; `make version VERSION=1.2.0`
    set_version.py --check    only checks that the files name a version where they should

The head of CHANGELOG.md gets the version and the date of today. Then Cargo.lock and the OpenAPI document are written again.
"""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = [
    ("Cargo.toml", r'^(version = ")[^"]+(")', 1),
    ("clients/python/knowhow_client/_version.py", r'^(__version__ = ")[^"]+(")', 1),
    ("helm/knowhow/Chart.yaml", r"^(version: )\S+()$", 1),
    ("helm/knowhow/Chart.yaml", r'^(appVersion: ")[^"]+(")', 1),
    ("helm/knowhow/ci/all-values.yaml", r'^(  tag: ")[^"]+(")', 1),
    ("helm/tests/test_pods.py", r"(images\.example/knowhow:)[0-9.]+()", 1),
    ("deploy/Dockerfile", r"^(ARG VERSION=)\S+()$", 1),
    ("clients/typescript/package.json", r'^(  "version": ")[^"]+(")', 1),
    ("clients/typescript/package-lock.json", r'^( +"name": "@knowhow/client",\n +"version": ")[^"]+(")', 2),
    *((f"examples/{name}/package.json", r'("@knowhow/client": ")[^"]+(")', 1) for name in ("ai-sdk", "mastra", "twilio")),
    ("docs/operators/deploy.md", r"(VERSION=|knowhow:)[0-9]+\.[0-9]+\.[0-9]+()", 3),
]


def texts_with(version):
    """Returns the texts of the files with this version; exits if one of them does not name a version where expected."""
    texts = {}
    for name, pattern, expected in [*PLACES, ("CHANGELOG.md", r"\A(# Changelog\n\n)## [^\n]+()", 1)]:
        head = f"## {version} ({date.today()})" if name == "CHANGELOG.md" else version
        text = texts.get(name) or (ROOT / name).read_text()
        texts[name], count = re.subn(pattern, rf"\g<1>{head}\g<2>", text, flags=re.M)
        if count != expected:
            sys.exit(f"error: {name} names the version {count} times, expected {expected}; correct PLACES in {Path(__file__).name}")
    return texts


def main():
    """Rewrites the files; changes nothing if one of them does not name a version."""
    if len(sys.argv) != 2 or not re.fullmatch(r"--check|[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?", sys.argv[1]):
        sys.exit(__doc__)
    version = sys.argv[1]
    texts = texts_with(version)
    if version == "--check":
        return
    for name, text in texts.items():
        (ROOT / name).write_text(text)
    subprocess.run(["cargo", "update", "--workspace", "--quiet"], cwd=ROOT, check=True)
    subprocess.run(["scripts/dev/openapi.sh"], cwd=ROOT, check=True)
    print(f"the version is {version}; check the head of CHANGELOG.md, then commit: release: publish version {version}")


if __name__ == "__main__":
    main()
