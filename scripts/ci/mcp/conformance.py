"""Runs the conformance suite of MCP against the service, for both revisions, and holds every check to its outcome.

A check must succeed unless expected-failures.yaml (the suite's own format) names it; what it names must fail, so that
the list cannot grow old; and a check may only be left out where `skipped` there names it.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from proxy import Proxy

HERE = Path(__file__).parent
TOOLS = HERE.parents[2] / "data/tools/node"
SUITE = [TOOLS / "bin/node", TOOLS / "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server"]

# What is run at once, and what of it must have been seen to succeed; everything else is judged as it comes.
RUNS = {
    "2026-07-28": (
        ["--requirements", "2026-07-28"],
        {
            "caching",
            "dns-rebinding-protection",
            "http-header-validation",
            "prompts-list",
            "resources-list",
            "sep-2164-resource-not-found",
            "server-sse-multiple-streams",
            "server-stateless",
            "tools-list",
        },
    ),
    "2025-11-25": (
        ["--requirements", "2025-11-25"],
        {"dns-rebinding-protection", "ping", "prompts-list", "resources-list", "server-initialize", "tools-list"},
    ),
    **{
        scenario: (["--scenario", scenario, "--spec-version", "2026-07-28", "--force"], {scenario})
        for scenario in ("sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest")
    },
}
# Scenarios of extensions that the service does not offer come along with a revision's.
NOT_OFFERED = "tasks-"


def run(url, name, options):
    """Runs some scenarios: what the suite printed, and each scenario's checks."""
    folder = Path(os.environ["KNOWHOW_WORK"]) / "conformance" / name
    command = [*SUITE, "--url", url, "--output-dir", folder, *options]
    # The exit code says only that something failed; the judgement is ours.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    checks = {}
    for file in sorted(folder.glob("*/checks.json")):
        scenario = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name).group(1)
        checks[scenario] = json.loads(file.read_text())
    return name, done.stdout, checks


def judge(name, checks, required, may_fail, may_skip):
    """What is wrong with a run, and what failed in it."""
    problems, failed = [], set()
    for scenario in required:
        if all(check["status"] != "SUCCESS" for check in checks.get(scenario, [])):
            problems.append(f"{name}: {scenario} has no check that succeeded")
    for scenario in sorted(set(checks)):
        if scenario.startswith(NOT_OFFERED):
            continue
        for check in checks[scenario]:
            known, status = f"{scenario}:{check['id']}", check["status"]
            if status in ("FAILURE", "WARNING"):
                failed.add(known)
            allowed = {"SUCCESS": True, "INFO": True, "SKIPPED": known in may_skip}.get(status, known in may_fail)
            if not allowed:
                problems.append(f"{name}: {known}: {status}: {check.get('errorMessage') or check['description']}")
    return problems, failed


def main():
    """Runs all and judges them together."""
    lists = yaml.safe_load((HERE / "expected-failures.yaml").read_text())
    may_fail, may_skip = set(lists["server"]), set(lists["skipped"])
    with Proxy(os.environ["KNOWHOW_URL"], os.environ["KNOWHOW_TOKEN"]) as proxy, ThreadPoolExecutor(3) as pool:
        running = [pool.submit(run, proxy.url + "/mcp", name, options) for name, (options, _) in RUNS.items()]
        results = [future.result() for future in running]
    problems, failed, passed = [], set(), 0
    for name, printed, checks in results:
        wrong, bad = judge(name, checks, RUNS[name][1], may_fail, may_skip)
        if not checks:
            print(printed)
        problems += wrong
        failed |= bad
        passed += sum(check["status"] == "SUCCESS" for of in checks.values() for check in of)
    problems += [f"expected-failures.yaml: {known} does not fail any more" for known in sorted(may_fail - failed)]
    print(*problems, sep="\n", end="\n" if problems else "")
    expected = len(failed & may_fail)
    print(f"conformance: {passed} checks succeeded, {expected} failed as expected, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
