"""The system user that runs Postgres, and the folder of its files."""

import hashlib
import os
import pwd
import stat
import subprocess
from pathlib import Path

from .settings import DATA, ROOT, fail


def server_account(folder):
    """PostgreSQL refuses root: the existing account to run it as, or None where we are not root."""
    if os.geteuid() != 0:
        return None
    if folder.exists() and folder.stat().st_uid != 0:
        return pwd.getpwuid(folder.stat().st_uid)
    for name in ("postgres", "knowhow", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    subprocess.run(["useradd", "--system", "--no-create-home", "knowhow"], check=True)
    return pwd.getpwnam("knowhow")


def state_folder(memory, account):
    """./data/pg, or a folder outside a checkout that the server's user cannot reach."""
    folder = Path(memory.get("state") or DATA / "pg")
    if account and folder == DATA / "pg" and not reachable(DATA, account):
        digest = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
        folder = Path("/var/tmp") / f"knowhow-{digest}"
        print(f"{ROOT} is closed to the user {account.pw_name}, so the database files are kept in {folder}", flush=True)
    owner = account.pw_uid if account else os.geteuid()
    try:
        folder.mkdir(mode=0o700)
        if account:
            os.chown(folder, account.pw_uid, account.pw_gid)
    except FileExistsError:
        info = folder.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != owner:
            fail(f"{folder} belongs to another user; remove it as that user with: make clean")
    memory["state"] = str(folder)
    return folder


def reachable(folder, account):
    """Whether the account can pass through every folder down to this one."""
    return subprocess.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", folder], cwd="/", stderr=subprocess.DEVNULL,
                          user=account.pw_uid, group=account.pw_gid, extra_groups=[]).returncode == 0
