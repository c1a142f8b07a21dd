"""Packs the program and the model as Debian packages, with debhelper."""

import os
import shutil
from email.utils import formatdate

from release import DIST, ROOT, run, stage

SOURCE = ROOT / "packaging/deb"


def make_debs(release):
    """Builds knowhow and knowhow-model."""
    work = stage("deb") / "knowhow"
    shutil.copytree(SOURCE, work)
    shutil.copy(release.program, work / "knowhow")
    shutil.copytree(release.model, work / "model")
    for name in ("README.md", "NOTICE"):
        shutil.copy(ROOT / name, work)
    (work / "debian/changelog").write_text(
        f"knowhow ({release.version}) unstable; urgency=medium\n\n"
        f"  * Release {release.version}. CHANGELOG.md of the source lists the changes.\n\n"
        f" -- The Knowhow authors <knowhow@localhost.localdomain>  {formatdate(release.epoch)}\n")
    run("dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps", cwd=work,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)})
    for package in sorted(work.parent.glob("*.deb")):
        shutil.copy(package, DIST)
