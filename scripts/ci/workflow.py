#!/usr/bin/env python3
"""Checks that the workflows of GitHub run each section of .ci/run exactly once."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The command to the end of its line, or to the next command in the line.
CALL = re.compile(r"^\s*(?:-\s+)?(?:run:\s*)?(?:\S+=\S+ +)*(?:bash +)?(?:\./)?\.ci/run\b([^\n#&|;]*)", re.M)


def called_sections(text, every):
    """Returns the sections that a workflow runs; a call without names runs all of them."""
    return [section for arguments in CALL.findall(text) for section in arguments.split() or every]


def problems_of(called, every):
    """Returns a sentence for each section that is not run exactly once."""
    counts = Counter(called)
    problems = [f"no workflow runs the section {section}" for section in every if not counts[section]]
    problems += [f"the section {section} is run {count} times" for section, count in counts.items() if count > 1]
    return problems + [f".ci/run has no section {section}" for section in counts if section not in every]


def main():
    """Prints the problems."""
    every = subprocess.run([ROOT / ".ci/run", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    workflows = sorted((ROOT / ".github/workflows").glob("*.y*ml"))
    problems = problems_of([section for path in workflows for section in called_sections(path.read_text(), every)], every)
    print("\n".join(problems) or f"the workflows run all {len(every)} sections of .ci/run")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
