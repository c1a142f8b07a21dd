"""Finds or compiles the program of this checkout; prints its path.

    python3 -m tools.build    the program in dist/*.whl if that was made from exactly this commit, else a compiled one

RUN_FROM=source always compiles. PROGRAM names a compiled program to take instead. RUN_PROFILE names the profile of Cargo: dev (default), quick or release.
"""

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from .settings import DATA, ROOT, fail, make_data

PROGRESS = re.compile(r"Building \[[^\]]*\] (\d+)/(\d+)")
CHATTER = ("Compiling ", "Downloading ", "Downloaded ", "Updating ", "Locking ", "Fresh ", "Building ", "Finished ", "Blocking ")


def say(sentence):
    """Reports on standard error: standard output is for the path."""
    print(sentence, file=sys.stderr, flush=True)


def this_commit():
    """Returns the commit of the checkout, or None if files differ from it or this is no git checkout."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    changes = git("status", "--porcelain")
    head = git("rev-parse", "HEAD")
    return head.stdout.strip() if head.returncode == 0 and not changes.stdout.strip() else None


def find_in_wheel():
    """Unpacks the program from a wheel in dist/ that was made from this commit; returns its path, or None."""
    commit = this_commit()
    for wheel in sorted((ROOT / "dist").glob("knowhow_server-*.whl")) if commit else []:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            if "knowhow_server/COMMIT" not in names or archive.read("knowhow_server/COMMIT").decode().strip() != commit:
                continue
            name = next(name for name in names if name.endswith(".data/scripts/knowhow"))
            make_data()
            program = DATA / "wheel" / commit / "knowhow"
            if not program.exists():
                program.parent.mkdir(parents=True, exist_ok=True)
                draft = program.with_name(f"knowhow.{os.getpid()}")
                draft.write_bytes(archive.read(name))
                draft.chmod(0o755)
                draft.replace(program)
        try:
            if subprocess.run([program, "--version"], capture_output=True).returncode == 0:
                say(f"using the program of {wheel.relative_to(ROOT)} (RUN_FROM=source compiles)")
                return program
        except OSError:
            pass
        say(f"the program of {wheel.relative_to(ROOT)} does not run on this system")
    return None


def minutes(seconds):
    """Returns a duration for people."""
    return "less than a minute" if seconds < 60 else f"about {round(seconds / 60)} min"


class Progress:
    """Reports on a build: crates done, and the time that is left at the same rate."""

    def __init__(self):
        self.began = self.reported = time.monotonic()
        self.first = None
        self.is_terminal = sys.stderr.isatty()

    def note(self, done, total):
        """Reports if the last report is a while ago."""
        now = time.monotonic()
        self.first = self.first or (done, now)
        if now - self.reported < (1 if self.is_terminal else 15):
            return
        self.reported = now
        ready, spent = done - self.first[0], now - self.first[1]
        left = f", {minutes(spent / ready * (total - done))} left" if ready > 5 else ""
        line = f"compiling: {done} of {total} crates{left}"
        if self.is_terminal:
            print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)
        else:
            say(line)

    def end(self):
        """Ends the line that is written over and over."""
        if self.is_terminal and self.reported != self.began:
            print(file=sys.stderr)


def compile_program(profile, command=("cargo", "build")):
    """Compiles the program, and reports the progress instead of a line for each crate."""
    env = {**os.environ, "CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "100", "CARGO_TERM_COLOR": "never"}
    cargo = subprocess.Popen([*command, "--profile", profile, "--bin", "knowhow"], cwd=ROOT, env=env,
                             stderr=subprocess.PIPE)
    progress, rest, kept = Progress(), b"", []
    while chunk := os.read(cargo.stderr.fileno(), 65536):
        *lines, rest = re.split(rb"[\r\n]", rest + chunk)
        for line in (line.decode(errors="replace").strip() for line in lines):
            if found := PROGRESS.search(line):
                progress.note(int(found[1]), int(found[2]))
            elif line and not line.startswith(CHATTER):
                kept.append(line)
    progress.end()
    if cargo.wait():
        say("\n".join(kept))
        sys.exit(cargo.returncode)


def program_of(profile, triple=None):
    """Returns the path of the compiled program. `triple` names another system that it was compiled for."""
    metadata = subprocess.run(["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"], cwd=ROOT,
                              stdout=subprocess.PIPE, check=True)
    folder = Path(json.loads(metadata.stdout)["target_directory"])
    return folder / (triple or "") / ("debug" if profile == "dev" else profile) / "knowhow"


def find_program():
    """Returns the path of the program of this checkout."""
    if program := given_program():
        return program
    source = os.environ.get("RUN_FROM") or ("source" if os.environ.get("RUN_PROFILE") else "wheel")
    if source not in ("source", "wheel"):
        fail(f"RUN_FROM must be source or wheel, is '{source}'")
    if source == "wheel" and (program := find_in_wheel()):
        return program
    return build(os.environ.get("RUN_PROFILE") or "dev")


def build(profile, command=("cargo", "build"), triple=None):
    """Compiles the program; returns its path."""
    compile_program(profile, command)
    return program_of(profile, triple)


def given_program():
    """Returns the path of the program that $PROGRAM names, or None."""
    given = os.environ.get("PROGRAM")
    if given and not os.access(given, os.X_OK):
        fail(f"PROGRAM names no program: {given}")
    return Path(given).resolve() if given else None


def test_program(profile="dev"):
    """Returns the path of the program to test: $PROGRAM, else a compiled one."""
    return str(given_program() or build(profile))


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    print(find_program())
