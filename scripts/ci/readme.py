#!/usr/bin/env python3
"""Pastes the commands of README.md, docs/users/tour.md and docs/users/quickstart.md into a shell, one by one, against a served
instance (run it through with_service.sh). A block of Python is one command.

Every command must succeed, no request may be refused, and some answers are looked into. Each page is pasted twice: whoever begins
again must not meet an error.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The pages' sections with commands, and what the answer to a command must hold, one of the two times (a busy machine may cut a
# turn short, and the next one has its skill); each key is part of exactly one command of its page.
README = {
    '"name": "water-plants"': '"version":1',
    "-X PATCH": "the ficus twice",
    "/turns": "Active Skill Instructions",
    "/versions": '"patch"',
}
TOUR = {
    '"name": "plan-meeting"': '"version":1',
    "-X PATCH": '"version":2',
    "/v1/skills/plan-meeting/SKILL.md": "Find three free slots.",
    "/v1/skills?limit=10": '"name": "plan-meeting"',
    "/v1/skills/plan-meeting/versions": '"patch"',
    "/v1/skills/plan-meeting/diff": "+1. Find three free slots.",
    "/rollback": '"version":3',
    "knowhow import": "1 created",
    "Knowhow-User: alice": '"items"',
    "/turns": "Find free slots.",
    "/v1/skills?q=": "plan-meeting",
    "/v1/recall?q=": "Prefers trains to planes",
}
QUICKSTART = {"kh.skills.save(": "Water what is dry."}
PAGES = [
    ("README.md", ["Five commands"], README),
    ("docs/users/tour.md", ["Skills", "The right skill at the right moment"], TOUR),
    ("docs/users/quickstart.md", ["Python"], QUICKSTART),
]


def section(page, text, title):
    """The blocks of a section, as one text for a shell."""
    body = re.split(r"^## ", text.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    body = re.sub(r"^```python\n(.*?)^```$", r"```sh\npython3 - <<'PYTHON'\n\1PYTHON\n```", body, flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```sh\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    if not blocks:
        sys.exit(f"error: {page} has no shell block in the section '{title}'")
    return "".join(blocks)


def commands(text):
    """The commands of a block, each as long as the shell needs it to be."""
    pending = ""
    for line in text.splitlines(keepends=True):
        if not pending and (not line.strip() or line.startswith("#")):
            continue
        pending += line
        done = subprocess.run(["bash", "-n"], input=pending, text=True, capture_output=True)
        complete = done.returncode == 0 and not done.stderr  # A warning means that the end of a text is missing.
        if complete and not line.endswith("\\\n"):
            yield pending
            pending = ""
    if pending:
        sys.exit(f"error: a command has no end: {pending}")


def paste(pasted, folder):
    """Runs the commands in one shell; of each what it said and its exit code."""
    # --fail-with-body: a refusal is a failure; pipefail: also before a pipe.
    script = 'exec 2>&1\nset -o pipefail\ncurl() { command curl --fail-with-body --max-time 60 "$@"; }\n'
    script += "".join(f"{command}printf '\\0%s\\0' $?\n" for command in pasted)
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "NO_PROXY", "no_proxy") if name in os.environ}
    done = subprocess.run(["bash"], input=script, cwd=folder, env=kept, stdout=subprocess.PIPE, text=True, timeout=300)
    parts = done.stdout.split("\0")
    return [(said, int(code)) for said, code in zip(parts[0::2], parts[1::2])]


def prepare(folder):
    """A folder as a checkout looks after make run: data/dev.env, as run.sh writes it, and the Python client."""
    names = ("KNOWHOW_URL", "KNOWHOW_TOKEN", "KNOWHOW_API_KEY", "KNOWHOW_ADMIN_TOKEN")
    lines = [f"export {name}={shlex.quote(os.environ[name])}\n" for name in names]
    lines.append(f'export PATH={shlex.quote(str(Path(os.environ["KNOWHOW_PROGRAM"]).parent))}:"$PATH"\n')
    (folder / "data").mkdir(parents=True)
    (folder / "data/dev.env").write_text("".join(lines))
    shutil.copytree(ROOT / "clients/python", folder / "clients/python")


def check(page, titles, expected, folder):
    """Pastes a page twice and looks into the answers; how many commands it has, and what went wrong."""
    text = (ROOT / page).read_text()
    pasted = [command for title in titles for command in commands(section(page, text, title))]
    problems, said = [], [""] * len(pasted)
    for time in (1, 2):
        answers = paste(pasted, folder)
        if len(answers) != len(pasted):
            problems.append(f"time {time}: only {len(answers)} of {len(pasted)} commands came to an end")
        problems += [f"time {time}, exit code {code}: {command}{answer}"
                     for command, (answer, code) in zip(pasted, answers) if code]
        said = [before + answer for before, (answer, _) in zip(said, answers)]
    for part, wanted in expected.items():
        problems += [f"not in the answers: {wanted}\n{command}{answer}"
                     for command, answer in zip(pasted, said) if part in command and wanted not in answer]
        if sum(part in command for command in pasted) != 1:
            problems.append(f"not exactly one command of {page} has: {part}")
    return len(pasted), problems


def main():
    """Checks every page."""
    folder = Path(os.environ["KNOWHOW_WORK"]) / "readme"
    prepare(folder)
    failed = False
    for page, titles, expected in PAGES:
        count, problems = check(page, titles, expected, folder)
        failed = failed or bool(problems)
        print("\n\n".join(problems) or f"the {count} commands of {page} do what it says, twice")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
