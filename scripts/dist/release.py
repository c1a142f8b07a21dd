"""What all artefacts of one release share."""

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
TOOLS = ROOT / "data/tools/dist"


@dataclass(frozen=True)
class Target:
    """The system that the program runs on: the processor, as the kernel names it, and gnu or musl. `name` is a target of Rust
    with the oldest glibc to support, such as aarch64-unknown-linux-gnu.2.28; None for this machine."""

    machine: str
    libc: str
    name: str | None

    @classmethod
    def of_environment(cls):
        """Returns the target that DIST_TARGET names, else this machine."""
        name = os.environ.get("DIST_TARGET") or None
        if name is None:
            return cls(platform.machine(), "gnu", None)
        found = re.fullmatch(r"(x86_64|aarch64)-unknown-linux-(gnu(?=\.\d+\.\d+$)|musl)(\.\d+\.\d+)?", name)
        if not found or (found[2] == "musl" and found[3]):
            sys.exit(f"error: DIST_TARGET must be like aarch64-unknown-linux-gnu.2.28 or x86_64-unknown-linux-musl, is '{name}'")
        return cls(found[1], found[2], name)

    @property
    def glibc(self):
        """Returns the oldest glibc to support as two numbers, or None."""
        numbers = (self.name or "").partition("-gnu.")[2]
        return tuple(map(int, numbers.split("."))) if numbers else None

    @property
    def triple(self):
        """Returns the target as Cargo names its folder, or None for this machine."""
        return self.name and f"{self.machine}-unknown-linux-{self.libc}"


@dataclass(frozen=True)
class Release:
    """A program, called knowhow, and a model with their version. `epoch` is the time inside the artefacts, in seconds since 1970."""

    program: Path
    model: Path
    version: str
    epoch: int
    target: Target

    @property
    def machine(self):
        """Returns the processor, as the kernel names it."""
        return self.target.machine


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
