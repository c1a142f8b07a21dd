"""Runs the MCP inspector's command line against the service, with its own checks of skills and of tool schemas."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.caller import Caller

TOOLS = Path(__file__).parents[3] / "data/tools/node"
CLI = [TOOLS / "bin/node", TOOLS / "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"]
URL, TOKEN = os.environ["KNOWHOW_URL"], os.environ["KNOWHOW_TOKEN"]
FIRST = "skill://0-first"
# It keeps settings and caches of its own there.
ENVIRONMENT = {**os.environ, "HOME": os.environ["KNOWHOW_WORK"]}


def listed():
    """How many skills the user has, by the other interface."""
    page = json.loads(Caller(TOKEN).ask(URL, "GET", "/v1/skills?limit=200"))
    assert page.get("next_cursor") is None, "more skills than one page has"
    return len(page["items"])


def verified(lines):
    """Every skill was read, and everything about it held."""
    reports = [json.loads(line) for line in lines.splitlines()]
    wrong = [report for report in reports if report["outcome"] != "verified" or report["conformance"]]
    assert not wrong, json.dumps(wrong, indent=1)
    assert len(reports) == listed(), f"{len(reports)} skills were verified, {listed()} are there"
    assert any(report["uri"] == "skill://mcp/email/SKILL.md" for report in reports)


def uris(answer):
    """The URIs of what a directory or a list holds."""
    return [resource["uri"] for resource in answer["resources"]]


# Method and options, and what its result must be like.
CASES = [
    (["skills/list", "--verify", "--require-digests"], verified),
    (["tools/list", "--strict"], lambda of: len(of["tools"]) == 13),
    (["tools/call", "--tool-name", "skill_list"], lambda of: not of.get("isError") and of["structuredContent"]),
    (["prompts/get", "--prompt-name", "skills-index"], lambda of: "mcp/email" in json.dumps(of)),
    (["skills/get", "--uri", f"{FIRST}/SKILL.md"], lambda of: len(of["skill"]["resources"]) == 5),
    (["resources/list"], lambda of: f"{FIRST}/SKILL.md" in uris(of)),
    (["resources/read", "--uri", f"{FIRST}/references/api.md"], lambda of: of["contents"][0]["text"] == "# API\n"),
    (["resources/read", "--uri", f"{FIRST}/assets/logo.png"], lambda of: of["contents"][0]["mimeType"] == "image/png"),
    (["resources/directory/read", "--uri", FIRST], lambda of: f"{FIRST}/references" in uris(of)),
    (["prompts/list"], lambda of: len(of["prompts"]) == 4),
]
# All as the newer revision has it, the first few as the older one has it.
CALLS = [("modern", *case) for case in CASES] + [("legacy", *case) for case in CASES[:4]]


def run(era, options, check):
    """One call of the inspector, and what is wrong with it."""
    where = ["--server-url", URL + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + TOKEN]
    how = ["--protocol-era", era, "--stored-auth-only", "--quiet", "--format", "json"]
    command = [*CLI, *where, *how, "--method", *options]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    name = f"inspector, {era}: {' '.join(options)}"
    if done.returncode:
        return f"{name}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    try:
        if check is verified:
            verified(done.stdout)
        else:
            answer = json.loads(done.stdout)
            assert check(answer.get("result", answer)), done.stdout[:4000]
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        return f"{name}: {type(error).__name__}: {error}"
    return None


def main():
    """Makes all calls."""
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(run, *one) for one in CALLS]
        problems = [problem for future in running if (problem := future.result())]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"inspector: {len(CALLS) - len(problems)} of {len(CALLS)} calls were as they must be")
    return 1 if problems else 0


sys.exit(main())
