"""Finds the skills and messages of tests and benchmarks.

    python3 -m tools.corpus    prints the folder

RECALL_CORPUS names it. Otherwise it is a corpus beside the checkout, if there is one, else the sample in `corpus`.
"""

import os
from pathlib import Path

from .settings import ROOT

SAMPLE = ROOT / "corpus"


def find_corpus():
    """Returns the folder."""
    if given := os.environ.get("RECALL_CORPUS"):
        return Path(given).resolve()
    beside = ROOT.parent / "shared/corpus"
    return beside if (beside / "skills.jsonl.zst").exists() else SAMPLE


if __name__ == "__main__":
    print(find_corpus())
