"""A disk that is full, for which Postgres has a small one of its own."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from tools.settings import Failed
from tools.waiting import wait

from .faults import Fault
from .stage import Stage

DISK_MIB = 400
# After a crash Postgres starts again by itself, where it could go on at all.
RECOVERS_S = 3


class DiskFull(Fault):
    """On a small disk of its own, which needs a right that root alone has."""

    title = f"the disk of Postgres ({DISK_MIB} MiB) is full for {{seconds}} s"
    quick = False

    def hurt(self, stage, end):
        ballast = stage.server.home.parent / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass
        time.sleep(self.seconds)
        ballast.unlink()
        # As an operator would, where it did not come back by itself.
        if wait(lambda: answers(stage), RECOVERS_S) is None and stage.server.pid() is None:
            stage.server.start()
        end()

    @staticmethod
    def stage(program, work):
        """A stage on a disk of its own, and what unmounts it; or why not."""
        folder = Path("/var/tmp") / f"knowhow-disk-{os.getpid()}"
        if os.geteuid() != 0:
            return None, "skipped: only root can mount a small disk"
        folder.mkdir(mode=0o755)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=755", "tmpfs", folder],
                                 capture_output=True, text=True)
        if mounted.returncode:
            folder.rmdir()
            return None, f"skipped: a small disk cannot be mounted here ({mounted.stderr.strip()})"
        try:
            return Stage(program, work, folder / "state", max_wal_size="64MB", min_wal_size="32MB"), folder
        except BaseException:
            DiskFull.leave(folder)
            raise

    @staticmethod
    def leave(folder):
        """Unmounts it."""
        for _ in range(50):
            if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
                break
            time.sleep(0.2)
        shutil.rmtree(folder, ignore_errors=True)


def answers(stage):
    """Whether Postgres takes a write."""
    try:
        return stage.psql("select not pg_is_in_recovery()") == "t"
    except Failed:
        return False
