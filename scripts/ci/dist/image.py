"""Runs the OCI image of dist/ with bubblewrap: as uid 10001, with a read-only root and no capabilities."""

import json
import os
from pathlib import Path

from tools.settings import fail
from trial import artefact, need_commands, run, serve, temporary_folder

MOST_MIB = 200


def main():
    """Unpacks the image, runs it as an orchestrator does, and stops it as process 1."""
    need_commands(umoci="umoci", bwrap="bubblewrap")
    image = artefact("knowhow-*-image.tar")
    mib = image.stat().st_size // 2**20
    if mib > MOST_MIB:
        fail(f"{image.name} has {mib} MiB, more than {MOST_MIB}")
    with temporary_folder() as folder:
        layout, bundle = Path(folder) / "layout", Path(folder) / "bundle"
        layout.mkdir()
        run("tar", "-C", layout, "-xf", image)
        rootless = [] if os.geteuid() == 0 else ["--rootless"]
        run("umoci", "unpack", *rootless, "--image", f"{layout}:{run('umoci', 'list', '--layout', layout).strip()}", bundle)
        process = json.loads((bundle / "config.json").read_text())["process"]
        user, (program, verb) = process["user"]["uid"], process["args"]
        if (user, verb) != (10001, "serve"):
            fail(f"the image runs '{verb}' as uid {user}")
        settings = dict(setting.split("=", 1) for setting in process["env"])
        box = ["bwrap", "--unshare-user", "--uid", user, "--gid", user, "--unshare-pid", "--as-pid-1", "--unshare-ipc",
               "--unshare-uts", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", bundle / "rootfs", "/",
               "--proc", "/proc", "--dev", "/dev", program]
        serve([str(word) for word in box], {**settings, "KNOWHOW_BIND": "127.0.0.1"}, folder)
    print(f"the image of {mib} MiB serves as uid {user} with a read-only root and no capabilities")


main()
