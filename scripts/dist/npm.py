"""Packs the program and the launcher of the wheel for npm: a package for all platforms and one for this platform."""

import json
import shutil
import zipfile

from release import DIST, ROOT, run, stage

SOURCE = ROOT / "packaging/npm/knowhow-server"
PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}


def make_npm_packages(release, wheel):
    """Builds knowhow-server, with the launcher of the wheel, and knowhow-server-linux-PROCESSOR, with the program."""
    processor = PROCESSORS[release.machine]
    name = f"knowhow-server-linux-{processor}"
    work = stage("npm")
    launcher = work / "knowhow-server"
    shutil.copytree(SOURCE, launcher)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(launcher / "setup", [entry for entry in archive.namelist() if entry.startswith("knowhow_server/")])
    manifest = json.loads((launcher / "package.json").read_text())
    built = [f"knowhow-server-linux-{each}" for each in PROCESSORS.values()]
    built = [each for each in built if each == name or (DIST / f"{each}-{release.version}.tgz").exists()]
    manifest |= {"version": release.version, "optionalDependencies": {each: release.version for each in built}}
    program = work / name
    (program / "bin").mkdir(parents=True)
    shutil.copy(release.program, program / "bin/knowhow")
    (program / "README.md").write_text("# Knowhow\n\nThe program of the package `knowhow-server` for one platform.\n")
    described = {"name": name, "version": release.version, "license": manifest["license"], "files": ["bin"],
                 "description": f"{manifest['description']} (program for Linux, {processor})",
                 "os": ["linux"], "cpu": [processor], "libc": ["glibc"]}
    for folder, content in ((launcher, manifest), (program, described)):
        (folder / "package.json").write_text(json.dumps(content, indent=2) + "\n")
        for document in ("LICENSE", "NOTICE"):
            shutil.copy(ROOT / document, folder)
        run("npm", "pack", "--silent", "--pack-destination", DIST, cwd=folder)
