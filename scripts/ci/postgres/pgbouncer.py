"""PgBouncer, fetched through apt if it is not installed; no root is needed."""

import glob
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from tools.ports import free_port, is_free
from tools.settings import fail
from tools.waiting import until


class Pooler:
    """A process of PgBouncer on a free port, its files in a folder."""

    def __init__(self, work):
        self.port, self.process = free_port(), None
        self.folder = Path(work)
        self.program, self.libraries = find(self.folder)
        # Postgres shares its own libraries with this environment, which may be of another release.
        self.env = {**os.environ, "LD_LIBRARY_PATH": self.libraries}
        said = subprocess.run([self.program, "--version"], env=self.env, text=True, capture_output=True, check=True).stdout
        self.version = re.search(r"PgBouncer ([\d.]+)", said)[1]
        # Whether it can carry prepared statements in transaction mode.
        self.carries = tuple(map(int, self.version.split(".")[:2])) >= (1, 21)

    def start(self, config, **values):
        """Starts it, as another user if this is root: it refuses to run as root."""
        (self.folder / "pooler.ini").write_text(config.format(folder=self.folder, port=self.port, **values))
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        for file in (self.folder, *self.folder.iterdir()):
            if user and (file.is_file() or file == self.folder):
                shutil.chown(file, "nobody")
        self.process = subprocess.Popen([self.program, "-q", *user, self.folder / "pooler.ini"], env=self.env)
        until("the pooler to listen", lambda: self.process.poll() is not None or not is_free(self.port), 10)
        if self.process.poll() is not None:
            fail("the pooler did not start")

    def stop(self):
        """Stops it, without waiting for its clients."""
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(10)
        self.process = None


def find(folder):
    """Returns the program and the folder of its libraries; fetches both if it is not installed."""
    if installed := shutil.which("pgbouncer"):
        return installed, ""
    files = folder / "packages"
    files.mkdir()
    said = subprocess.run(["apt-cache", "depends", "pgbouncer"], text=True, capture_output=True).stdout
    # The names of these libraries change with the release of Debian.
    libraries = re.findall(r"Depends: (lib(?:event|c-?ares)\S*)", said)
    fetched = subprocess.run(["apt-get", "download", "-q", "pgbouncer", *libraries], cwd=files, capture_output=True)
    if fetched.returncode:
        fail("pgbouncer could not be fetched; install it with: apt-get install -y pgbouncer")
    for package in files.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, files / "root"], check=True)
    return files / "root/usr/sbin/pgbouncer", ":".join(glob.glob(f"{files}/root/usr/lib/*-linux-gnu"))
