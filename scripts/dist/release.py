"""What all artefacts of one release share."""

import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
TOOLS = ROOT / "data/tools/dist"


@dataclass(frozen=True)
class Release:
    """A program, called knowhow, and a model with their version. `epoch` is the time inside the artefacts, in seconds since 1970."""

    program: Path
    model: Path
    version: str
    epoch: int

    @property
    def machine(self):
        """Returns the processor, as the kernel names it."""
        return platform.machine()


def stage(name):
    """Returns an empty folder for the files of an artefact."""
    folder = TOOLS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def run(*command, **options):
    """Runs a command; prints its output and exits if it fails."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}error: '{' '.join(map(str, command))}' failed with exit code {done.returncode}")
    return done.stdout
