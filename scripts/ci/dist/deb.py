"""Installs the Debian packages of dist/ in a system of their own, starts the service, upgrades, removes and purges them."""

import contextlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tools.settings import check
from trial import artefact, need_commands, run, serve, temporary_folder

SETTINGS = Path("etc/knowhow/knowhow.env")


class System:
    """A minimal Debian in a folder."""

    def __init__(self, root):
        self.root = root
        run("mmdebstrap", "--quiet", "--variant=minbase", "--include=adduser,ca-certificates",
            platform.freedesktop_os_release()["VERSION_CODENAME"], root)

    @contextlib.contextmanager
    def mounted(self):
        """Mounts what programs need; unmounts it at the end."""
        mounts = [("-t", "proc", "proc", self.root / "proc"), ("--bind", "/dev", self.root / "dev")]
        with contextlib.ExitStack() as stack:
            for mount in mounts:
                run("mount", *mount)
                stack.callback(run, "umount", mount[-1])
            yield

    def run(self, *command):
        """Runs a command inside as root."""
        return run("chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *command)

    def has(self, path):
        """Returns whether a file exists inside."""
        return (self.root / path).exists()


def check_packages(packages, folder):
    """Has lintian find no fault."""
    for package in packages:
        shutil.copy(package, folder)
    run("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", 0, *folder.glob("*.deb"))


def check_unit(system, folder):
    """Has systemd find no fault in the unit, beside the units of this machine: the other system has none."""
    unit = (system.root / "lib/systemd/system/knowhow.service").read_text()
    copy = folder / "knowhow.service"
    copy.write_text(unit.replace("=/usr/bin/knowhow", f"={system.root}/usr/bin/knowhow"))
    run("systemd-analyze", "verify", "--man=no", copy)
    check("the service is enabled", os.path.lexists(system.root / "etc/systemd/system/multi-user.target.wants/knowhow.service"))


def read_settings(system):
    """Returns the settings that systemd reads: those of drop-ins of the unit, then those of the file."""
    lines = [line.removeprefix("Environment=") for file in (system.root / "lib/systemd/system/knowhow.service.d").glob("*.conf")
             for line in file.read_text().splitlines() if line.startswith("Environment=")]
    lines += [line for line in (system.root / SETTINGS).read_text().splitlines() if "=" in line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def upgrade(system, package, folder):
    """Installs the same files under a higher version."""
    run("dpkg-deb", "-R", package, folder / "next")
    control = folder / "next/DEBIAN/control"
    control.write_text(control.read_text().replace("\nVersion: ", "\nVersion: 1000+"))
    run("dpkg-deb", "-Zxz", "-z0", "-b", folder / "next", system.root / "next.deb")
    system.run("dpkg", "-i", "/next.deb")


def try_packages(system, packages, folder):
    """Installs, serves, upgrades, removes and purges."""
    for package in packages:
        shutil.copy(package, system.root)
    system.run("apt-get", "install", "-y", "-qq", *(f"/{package.name}" for package in packages))
    access = system.run("stat", "-c", "%U:%G:%a", f"/{SETTINGS}").strip()
    check(f"only root and the group knowhow may read /{SETTINGS}, and not {access}", access == "root:knowhow:640")
    check_unit(system, folder)
    own = "# a setting of the administrator\n"
    with open(system.root / SETTINGS, "a") as file:
        file.write(own)
    log = serve(["chroot", "--userspec=knowhow:knowhow", str(system.root), "/usr/bin/knowhow"], read_settings(system), folder)
    check("the service uses the model of knowhow-model", '"model":"minilm-muse-384"' in log)
    upgrade(system, packages[0], folder)
    check("the upgrade installs the higher version", system.run("dpkg-query", "-W", "-f", "${Version}", "knowhow").startswith("1000+"))
    check("the upgrade keeps the settings", own in (system.root / SETTINGS).read_text())
    access = system.run("stat", "-c", "%a", f"/{SETTINGS}").strip()
    check(f"the settings stay closed after the upgrade, and not {access}", access == "640")
    system.run("dpkg", "-r", "knowhow-model", "knowhow")
    check("the removal removes the program", not system.has("usr/bin/knowhow"))
    check("the removal keeps the settings", system.has(SETTINGS))
    system.run("dpkg", "-P", "knowhow")
    check("the purge removes the settings", not system.has("etc/knowhow"))


def main():
    """Tries the packages; skips if this is not root."""
    if os.geteuid() != 0:
        print("skipped: a system of its own needs root")
        sys.exit(0)
    need_commands(mmdebstrap="mmdebstrap", lintian="lintian", systemd_analyze="systemd")
    packages = [artefact("knowhow_*.deb"), artefact("knowhow-model_*.deb")]
    with temporary_folder() as folder:
        folder = Path(folder)
        check_packages(packages, folder)
        system = System(folder / "system")
        with system.mounted():
            try_packages(system, packages, folder)
    print("the Debian packages install, serve, upgrade and go")


main()
