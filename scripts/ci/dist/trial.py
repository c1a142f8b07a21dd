"""What the trials of artefacts share: a service whose program runs behind another command, and missing Debian packages."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tools.cluster import fresh_database
from tools.service import STOPS_S, Service
from tools.settings import ROOT, fail

DIST = ROOT / "dist"


def artefact(pattern):
    """Returns the only file of dist/ with such a name."""
    found = list(DIST.glob(pattern))
    if len(found) != 1:
        fail(f"dist/ has {len(found)} files '{pattern}', expected 1; run: make dist")
    return found[0]


def need_commands(**packages):
    """Installs the Debian packages of missing commands; only root can."""
    missing = [package for command, package in packages.items() if not shutil.which(command.replace("_", "-"))]
    if missing and os.geteuid() != 0:
        fail(f"commands are missing; install them with: apt-get install -y {' '.join(missing)}")
    if missing:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def run(*command, **options):
    """Runs a command; ends the program if it fails, and returns its output."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        fail(f"'{' '.join(map(str, command))}' failed with exit code {done.returncode}:\n{done.stdout}")
    return done.stdout


class WrappedService(Service):
    """A service that another command starts as its child, such as bubblewrap."""

    def __init__(self, wrapper, env, log):
        super().__init__(wrapper[0], env, log)
        self.wrapper = wrapper[1:]

    def command(self, *arguments, **variables):
        """Runs a command of the program; returns its output."""
        return super().command(*self.wrapper, *arguments, **variables)

    def spawn(self, *arguments, env):
        """Starts the service."""
        return super().spawn(*self.wrapper, *arguments, env=env)

    def stop(self):
        """Stops the service itself; its wrapper ends with its exit code."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(children[0]) if children else self.process.pid, signal.SIGTERM)
        return self.process.wait(STOPS_S)


def serve(wrapper, settings, folder):
    """Migrates a new database, serves until ready and stops, all with the wrapped program; returns the log."""
    with fresh_database("dist") as database:
        service = WrappedService(wrapper, {**settings, **database, "PATH": os.environ["PATH"]}, Path(folder) / "log")
        service.command("migrate")
        service.start()
        if code := service.stop():
            fail(f"the service stopped with exit code {code}:\n{service.tail()}")
        return service.log.read_text()


def temporary_folder():
    """Returns a folder that other users can enter, as a context."""
    folder = tempfile.TemporaryDirectory(prefix="knowhow-trial-")
    os.chmod(folder.name, 0o755)
    return folder
