"""Puts the program, the tools that start it and the commit into the wheel."""

import os
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = Path(os.environ["KNOWHOW_TOOLS"])
# The modules that `run` imports, and the packages that they fetch.
FILES = ["__init__.py", "run.py", "pg.py", "server.py", "account.py", "ports.py", "settings.py", "caller.py", "packages.py",
         "model.py", "muse.py", "e5.py", "pg0.txt", "model.txt", "muse.txt", "e5.txt"]


class CustomBuildHook(BuildHookInterface):
    """The hook that hatchling calls."""

    def initialize(self, version, build_data):
        """Adds the files, and the platform that the program needs."""
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['KNOWHOW_PLATFORM']}"
        build_data["shared_scripts"] = {os.environ["KNOWHOW_PROGRAM"]: "knowhow"}
        build_data["force_include"] |= {str(TOOLS / name): f"knowhow_server/tools/{name}" for name in FILES}
        build_data["force_include"][os.environ["KNOWHOW_COMMIT"]] = "knowhow_server/COMMIT"
