"""Packs the program, the model and the certificates as an OCI image without a base image, with umoci.

The C library and the certificates come from the packages of this Debian. The image has the layout of deploy/Dockerfile.
"""

import os
import shutil
import tarfile
from datetime import datetime, timezone

from release import DIST, ROOT, run, stage

PACKAGES = ["base-files", "ca-certificates", "libc6", "libgcc-s1"]
NOT_AT_RUN_TIME = ["usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/share/doc-base", "usr/sbin"]
PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
# By number: Kubernetes cannot tell whether a name is root.
USER = "10001:10001"
SETTINGS = ["KNOWHOW_BIND=0.0.0.0", "KNOWHOW_PORT=8080", "KNOWHOW_LOG_FORMAT=json",
            "KNOWHOW_MODEL_DIR=/usr/share/knowhow/minilm-muse-384"]


def install_packages(rootfs):
    """Unpacks the packages without running their scripts; lists them where scanners of images look."""
    downloads = stage("image-packages")
    run("apt-get", "download", "-q", *PACKAGES, cwd=downloads)
    listed = rootfs / "var/lib/dpkg/status.d"
    for package in sorted(downloads.glob("*.deb")):
        run("dpkg-deb", "--extract", package, rootfs)
        listed.mkdir(parents=True, exist_ok=True)
        (listed / package.name.split("_")[0]).write_text(run("dpkg-deb", "--field", package))
    certificates = sorted((rootfs / "usr/share/ca-certificates").rglob("*.crt"))
    bundle = rootfs / "etc/ssl/certs/ca-certificates.crt"
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_text("".join(certificate.read_text() for certificate in certificates))
    for path in NOT_AT_RUN_TIME:
        shutil.rmtree(rootfs / path, ignore_errors=True)


def install_program(rootfs, release):
    """Copies the program, the model and the licences, and names the user."""
    shared = rootfs / "usr/share/knowhow"
    shutil.copytree(release.model, shared / "minilm-muse-384")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, shared)
    program = rootfs / "usr/local/bin/knowhow"
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(release.program, program)
    program.chmod(0o755)
    user, group = USER.split(":")
    (rootfs / "etc/passwd").write_text(f"root:x:0:0:root:/root:/sbin/nologin\nknowhow:x:{user}:{group}:Knowhow:/:/sbin/nologin\n")
    (rootfs / "etc/group").write_text(f"root:x:0:\nknowhow:x:{group}:\n")


def make_image(release):
    """Builds the image; writes it as an archive in the OCI layout."""
    work = stage("image")
    rootfs, layout = work / "rootfs", work / "layout"
    rootfs.mkdir(mode=0o755)
    install_packages(rootfs)
    install_program(rootfs, release)
    for path in [rootfs, *rootfs.rglob("*")]:
        os.utime(path, (release.epoch, release.epoch), follow_symlinks=False)
    image, created = f"{layout}:{release.version}", datetime.fromtimestamp(release.epoch, timezone.utc).isoformat()
    rootless = [] if os.geteuid() == 0 else ["--rootless"]
    run("umoci", "init", "--layout", layout)
    run("umoci", "new", "--image", image)
    run("umoci", "insert", *rootless, "--image", image, "--history.created", created, rootfs, "/")
    run("umoci", "config", "--image", image, "--no-history", "--created", created, "--architecture", PROCESSORS[release.machine],
        "--config.user", USER, "--config.exposedports", "8080", "--config.exposedports", "9464",
        *(word for setting in SETTINGS for word in ("--config.env", setting)),
        "--config.entrypoint", "/usr/local/bin/knowhow", "--config.cmd", "serve",
        "--config.label", "org.opencontainers.image.title=knowhow", "--config.label", "org.opencontainers.image.licenses=Apache-2.0",
        "--config.label", f"org.opencontainers.image.version={release.version}")
    run("umoci", "gc", "--layout", layout)
    archive_name = DIST / f"knowhow-{release.version}-{PROCESSORS[release.machine]}-image.tar"
    with tarfile.open(archive_name, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(layout.rglob("*")):
            entry = archive.gettarinfo(path, str(path.relative_to(layout)))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            with path.open("rb") if path.is_file() else open(os.devnull, "rb") as content:
                archive.addfile(entry, content if path.is_file() else None)
