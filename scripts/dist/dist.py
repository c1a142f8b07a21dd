#!/usr/bin/env python3
"""Builds the artefacts of a release from this checkout into dist/.

    dist.py    a Python wheel and npm packages with the program and a launcher, Debian packages, an OCI image, a tarball of the
               program, a list of its crates (SBOM), and SHA256SUMS

DIST_PROFILE names the profile of Cargo (release), MINISIGN_KEY the key that signs the sums. Times inside the artefacts are those of
the commit, or of SOURCE_DATE_EPOCH. DIST_TARGET names another system to compile for with zig, such as
aarch64-unknown-linux-gnu.2.28: its wheel, npm package and tarball are added to dist/, for musl only the tarball.
"""

import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from deb import make_debs
from image import make_image
from npm import make_npm_packages
from release import DIST, TOOLS, Release, Target, run, stage
from tools import build
from tools.settings import ROOT, fail, make_data

# Version, commit and profile of the artefacts in dist/.
MADE_OF = TOOLS / "made-of"
DOCUMENTS = ["README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "deploy/env.example"]


def read_version():
    """Returns the version of the workspace."""
    return re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def commit_time():
    """Returns the time that artefacts carry, in seconds since 1970."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def profile():
    """Returns the profile of Cargo."""
    return os.environ.get("DIST_PROFILE") or "release"


def need_cargo_tool(name, version):
    """Compiles a command of Cargo into the folder of tools, unless it is there."""
    if not (TOOLS / f"bin/{name}").exists():
        run("cargo", "install", f"{name}@{version}", "--quiet", "--locked", "--root", TOOLS)


def python_tool(name, version):
    """Installs a Python package into the folder of tools; returns the folder of its commands."""
    commands = TOOLS / "venv/bin"
    if not (commands / "python").exists():
        run(sys.executable, "-m", "venv", "--clear", TOOLS / "venv")
    run(commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{name}=={version}")
    return commands


def prepare_zig(target):
    """Installs zig, which compiles C and links for other systems, and Rust's library of the target; returns the command of Cargo."""
    for tool in (("cargo-zigbuild", "0.24.1"), ("ziglang", "0.17.1")):
        os.environ["PATH"] = f"{python_tool(*tool)}{os.pathsep}{os.environ['PATH']}"
    run("rustup", "target", "add", target.triple, cwd=ROOT)
    return ["zigbuild", "--target", target.name]


def compile_program(target):
    """Compiles the program; returns its path. That of a release holds no paths of this machine and a list of its crates."""
    if target.name and build.given_program():
        fail("PROGRAM names a program of this machine; unset it to build for DIST_TARGET")
    build_command = prepare_zig(target) if target.name else ["build"]
    command = ["cargo", *build_command]
    if profile() == "release":
        home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        os.environ["RUSTFLAGS"] = f"--remap-path-prefix={ROOT}=knowhow --remap-path-prefix={home}=cargo"
        need_cargo_tool("cargo-auditable", "0.7.7")
        command = [str(TOOLS / "bin/cargo-auditable"), "auditable", *build_command]
    program = stage("program") / "knowhow"
    compiled = build.given_program() or build.build(profile(), command, target.triple)
    if target.name:
        # The objcopy of this machine cannot read programs of others. Profiles but dev leave debug information out anyway.
        shutil.copy(compiled, program)
    else:
        run("objcopy", "--strip-debug", compiled, program)
    return program


def platform_tag(program, target):
    """Returns the platform tag of a wheel: the oldest glibc that has every symbol of the program, or that zig linked it for."""
    if target.glibc:
        return "manylinux_{}_{}_{}".format(*target.glibc, target.machine)
    symbols = subprocess.run(["objdump", "-T", program], capture_output=True, text=True, check=True).stdout
    versions = [tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)]
    if not versions:
        fail(f"{program} names no version of glibc")
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def make_wheel(release):
    """Builds the wheel with hatchling; returns its path."""
    python = python_tool("hatchling", "1.27.0") / "python"
    project = stage("wheel") / "project"
    shutil.copytree(ROOT / "packaging/python", project)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, project)
    (project / "COMMIT").write_text(f"{build.this_commit() or 'not a commit'}\n")
    env = {**os.environ, "KNOWHOW_VERSION": release.version, "KNOWHOW_PLATFORM": platform_tag(release.program, release.target),
           "KNOWHOW_PROGRAM": str(release.program), "KNOWHOW_COMMIT": str(project / "COMMIT"), "KNOWHOW_TOOLS": str(ROOT / "tools"),
           "SOURCE_DATE_EPOCH": str(release.epoch)}
    for earlier in DIST.glob(f"*_{release.machine}.whl"):
        earlier.unlink()
    run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", DIST, cwd=project, env=env)
    return next(DIST.glob(f"*_{release.machine}.whl"))


def make_tarball(release):
    """Packs the program with its documents, in a fixed order and with fixed times and owners."""
    name = f"knowhow-{release.version}-{release.machine}-linux-{release.target.libc}"
    files = {"knowhow": release.program, **{Path(path).name: ROOT / path for path in DOCUMENTS}}

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = release.epoch
        entry.mode = 0o755 if entry.name.endswith("/knowhow") else 0o644
        return entry

    with open(DIST / f"{name}.tar.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, release.epoch) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for inside, path in sorted(files.items()):
                archive.add(path, f"{name}/{inside}", filter=plain)


def list_crates(release):
    """Writes the list of the crates in the program in the format of CycloneDX, with cargo-cyclonedx."""
    need_cargo_tool("cargo-cyclonedx", "0.5.9")
    run(TOOLS / "bin/cargo-cyclonedx", "cyclonedx", "--format", "json", "--describe", "binaries",
        "--manifest-path", ROOT / "services/server/Cargo.toml", env={**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)})
    shutil.copy(ROOT / "services/server/knowhow_bin.cdx.json", DIST / f"knowhow-{release.version}.cdx.json")
    # The command writes such a file for each crate with a program.
    for made in ROOT.glob("*/*/*.cdx.json"):
        made.unlink()


def write_notes(release):
    """Writes the notes of the release: the head of CHANGELOG.md."""
    head = re.search(r"^## .*?(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text(), re.M | re.S)[0]
    if not head.startswith(f"## {release.version} ("):
        fail(f"the head of CHANGELOG.md is not about {release.version}; run: make version VERSION={release.version}")
    (DIST / "RELEASE_NOTES.md").write_text(head)


def write_sums(release):
    """Writes the SHA-256 sums of the artefacts, and signs them if MINISIGN_KEY names a secret key of minisign."""
    artefacts = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in artefacts]
    (DIST / "SHA256SUMS").write_text("".join(lines))
    if key := os.environ.get("MINISIGN_KEY"):
        # Asks for the password of the key at the terminal.
        subprocess.run(["minisign", "-S", "-s", key, "-m", DIST / "SHA256SUMS", "-t", f"knowhow {release.version}"], check=True)


def main():
    """Replaces dist/ with new artefacts, or adds those of another system."""
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    make_data()
    # Before the program, because a missing package is then reported before the long compilation.
    model = Path(run(sys.executable, "-m", "tools.model").strip())
    target = Target.of_environment()
    made_of = f"{read_version()} {build.this_commit()} {profile()}\n"
    if target.name and not (DIST.exists() and MADE_OF.exists() and MADE_OF.read_text() == made_of):
        fail("dist/ has no artefacts of this commit and profile; run make dist without DIST_TARGET first")
    release = Release(compile_program(target), model, read_version(), commit_time(), target)
    if target.name is None:
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        MADE_OF.write_text(made_of)
    if target.libc == "gnu":
        make_npm_packages(release, make_wheel(release))
    make_tarball(release)
    if target.name is None:
        make_debs(release)
        make_image(release)
        if profile() == "release":
            list_crates(release)
    write_notes(release)
    write_sums(release)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / 2**20:8.1f} MiB  dist/{path.name}")


if __name__ == "__main__":
    main()
